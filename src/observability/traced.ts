import { setTimeout as pause } from 'node:timers/promises';
import { peerDependencies } from '../../package.json';
import { ConfigError, readConfig } from '../config';

/** Milliseconds for which a server that ends waits for the collector, which may be away. */
const LAST_EXPORT = 1000;

/** With --save-prod, because npm would leave them out as packages for developers; with --no-save, package.json stays. */
const INSTALL = ['npm install --no-save --save-prod --omit=dev']
  .concat(Object.entries(peerDependencies).map(([name, version]) => `${name}@${version}`))
  .join(' ');

function isWanted(): boolean {
  try {
    return readConfig().tracesUrl !== undefined;
  } catch {
    return false; // the program itself says what is wrong with its settings
  }
}

/**
 * Starts at once, because what is traced must not be loaded before: the program imports this first. Nothing is loaded for it
 * when it is off.
 * @returns sends the spans that are left, if somebody takes them
 * @throws ConfigError when the packages are missing: as a promise, for the program to report it
 */
async function traced(): Promise<() => Promise<unknown>> {
  if (!isWanted()) return () => Promise.resolve();
  try {
    // eslint-disable-next-line @typescript-eslint/no-require-imports -- only when it is asked for, and now
    const stop = (require('./tracing') as typeof import('./tracing')).startTracing();
    return () => Promise.race([stop().catch(() => undefined), pause(LAST_EXPORT)]);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'MODULE_NOT_FOUND') throw error;
    throw new ConfigError(`OTEL_EXPORTER_OTLP_ENDPOINT needs more packages; in Lanyard's folder, run: ${INSTALL}`);
  }
}

export const tracing = traced();
