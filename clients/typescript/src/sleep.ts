/** A timer of more milliseconds ends at once. */
const LONGEST = 2 ** 31 - 1;

/** Resolves after so many milliseconds; rejects with the signal's reason as soon as that is aborted. */
export const sleepFor = (milliseconds: number, signal?: AbortSignal): Promise<void> =>
  new Promise((resolve, reject) => {
    const stop = (): void => {
      clearTimeout(timer);
      reject(signal?.reason as Error);
    };
    const timer = setTimeout(
      () => {
        signal?.removeEventListener('abort', stop);
        resolve();
      },
      Math.min(milliseconds, LONGEST),
    );
    if (signal?.aborted) stop();
    else signal?.addEventListener('abort', stop, { once: true });
  });
