import { constants } from 'node:os';

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

/** The exit status of a process that a signal ended, as a shell gives it. */
export const signalExitStatus = (signal: (typeof SIGNALS)[number]): number => 128 + constants.signals[signal];

/** Milliseconds for which further signals are the first one once more: npm passes on what the terminal sent already. */
const REPEATED_SIGNAL_MS = 1_000;

/**
 * Ends the process by the signal itself, so that who started it sees it. process.exit alone would wait for an open(2) that
 * waits for another program: that of a named pipe.
 */
export function exitBySignal(signal: (typeof SIGNALS)[number]): never {
  process.emit('exit', signalExitStatus(signal));
  process.removeAllListeners(signal);
  process.kill(process.pid, signal);
  process.exit(signalExitStatus(signal)); // the first process of a container gets no such signal
}

/** A person (Ctrl-C, a closed terminal) or a supervisor ended the program. */
export class Interrupted extends Error {
  constructor(readonly signal: (typeof SIGNALS)[number]) {
    super('Interrupted');
  }
}

/** Aborted, by an `Interrupted`, at the first of the signals; another one, later, ends the process at once. */
export function createStopSignal(): AbortSignal {
  const controller = new AbortController();
  let first = Infinity;
  for (const signal of SIGNALS) {
    process.on(signal, () => {
      if (performance.now() - first > REPEATED_SIGNAL_MS) exitBySignal(signal);
      first = Math.min(first, performance.now());
      controller.abort(new Interrupted(signal));
    });
  }
  return controller.signal;
}
