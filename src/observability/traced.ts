import { readConfig } from '../config';

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

/** Sends the spans that are left. */
export const stopTracing = traced() ?? (() => Promise.resolve());
