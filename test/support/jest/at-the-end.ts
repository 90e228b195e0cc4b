const left = new Set<() => Promise<unknown>>();

/** @returns runs the work, once; what is not run by then runs at the end of the suite */
export function runAtEnd(work: () => Promise<unknown>): () => Promise<void> {
  const undo = async (): Promise<void> => {
    if (left.delete(undo)) await work();
  };
  left.add(undo);
  return undo;
}

/** What was made last goes first: servers before their databases. */
export async function endAll(): Promise<void> {
  for (const undo of [...left].reverse()) await undo();
}
