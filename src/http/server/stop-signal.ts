import { constants } from 'node:os';

/** The signals by which a person or a supervisor stops a program. */
export const STOP_SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

/** The exit status that a shell reports for a process that a signal ended. */
export const signalExitStatus = (signal: NodeJS.Signals): number => 128 + constants.signals[signal];

/** How long further signals count as repetitions of the first: npm forwards a signal that the terminal has already sent. */
const REPEATED_SIGNAL_MS = 1_000;

/**
 * Ends the process by the signal itself, so that its parent sees how it ended. process.exit alone would wait for an open(2)
 * that blocks on another program, such as that of a named pipe.
 */
export function exitBySignal(signal: (typeof STOP_SIGNALS)[number]): never {
  process.emit('exit', signalExitStatus(signal));
  process.removeAllListeners(signal);
  process.kill(process.pid, signal);
  process.exit(signalExitStatus(signal)); // the kernel does not end the first process of a container by a signal
}

/** A person (Ctrl-C, a closed terminal) or a supervisor has stopped the program. */
export class Interrupted extends Error {
  constructor(readonly signal: (typeof STOP_SIGNALS)[number]) {
    super('Interrupted');
  }
}

/** Returns a signal that the first stop signal aborts with an `Interrupted`. A later one ends the process at once. */
export function createStopSignal(): AbortSignal {
  const controller = new AbortController();
  let first = Infinity;
  for (const signal of STOP_SIGNALS) {
    process.on(signal, () => {
      if (performance.now() - first > REPEATED_SIGNAL_MS) exitBySignal(signal);
      first = Math.min(first, performance.now());
      controller.abort(new Interrupted(signal));
    });
  }
  return controller.signal;
}
