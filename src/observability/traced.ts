import { setTimeout as pause } from 'node:timers/promises';
import { readConfig } from '../config';

/** Milliseconds for which a server that ends waits for the collector, which may be away. */
const LAST_EXPORT = 1000;

/** Imported first by the program: what is traced must not be loaded before. Nothing is loaded for it when it is off. */
function traced(): (() => Promise<void>) | undefined {
  try {
    if (!readConfig().tracesUrl) return undefined;
  } catch {
    return undefined; // the program itself says what is wrong with its settings
  }
  // eslint-disable-next-line @typescript-eslint/no-require-imports -- only when it is asked for, and now
  return (require('./tracing') as typeof import('./tracing')).startTracing();
}

const stop = traced();

/** Sends the spans that are left, if somebody takes them. */
export const stopTracing = async (): Promise<void> => {
  if (stop) await Promise.race([stop().catch(() => undefined), pause(LAST_EXPORT)]);
};
