import { constants } from 'node:os';

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

/** The exit status of a process that a signal ended, as a shell gives it. */
export const statusOf = (signal: (typeof SIGNALS)[number]): number => 128 + constants.signals[signal];

/** Milliseconds for which further signals are the first one once more: npm passes on what the terminal sent already. */
const ONE_SIGNAL = 1_000;

/** A person (Ctrl-C, a closed terminal) or a supervisor ended the program. */
export class Interrupted extends Error {
  constructor(readonly signal: (typeof SIGNALS)[number]) {
    super('interrupted');
  }
}

/**
 * Aborted, by an `Interrupted`, at the first of the signals; another one, later, ends the process at once.
 * @param clock milliseconds that never go back
 */
export function stopSignal(
  clock = () => performance.now(),
  exit: (status: number) => void = process.exit,
): AbortSignal {
  const controller = new AbortController();
  let first = Infinity;
  for (const signal of SIGNALS) {
    process.on(signal, () => {
      if (clock() - first > ONE_SIGNAL) exit(statusOf(signal));
      first = Math.min(first, clock());
      controller.abort(new Interrupted(signal));
    });
  }
  return controller.signal;
}
