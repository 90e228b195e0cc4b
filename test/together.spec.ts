import { Together } from '../src/database/together';

/** Work whose runs the test ends by hand. */
function work() {
  const runs: { key: number; items: string[]; end: (error?: Error) => void }[] = [];
  const together = new Together<string, string>(
    (key, items) =>
      new Promise((resolve, reject) =>
        runs.push({
          key,
          items,
          end: (error) => (error ? reject(error) : resolve(items.map((item) => item.toUpperCase()))),
        }),
      ),
    3,
    (error) => (error as Error).message === 'bad item',
  );
  const end = async (index: number, error?: Error) => {
    runs[index]?.end(error);
    await new Promise(setImmediate);
  };
  return { runs, together, end, itemsOf: () => runs.map(({ items }) => items) };
}

describe('work done together', () => {
  it('begins at once, and takes what gathered meanwhile in one go, in order, up to the limit', async () => {
    const { together, end, itemsOf } = work();
    const results = ['a', 'b', 'c', 'd', 'e'].map((item) => together.add(1, item));
    expect(itemsOf()).toEqual([['a']]);
    await end(0);
    expect(itemsOf()).toEqual([['a'], ['b', 'c', 'd']]);
    await end(1);
    await end(2);
    expect(itemsOf()).toEqual([['a'], ['b', 'c', 'd'], ['e']]);
    expect(await Promise.all(results)).toEqual(['A', 'B', 'C', 'D', 'E']);
  });

  it('of one key does not wait for that of another, and is never mixed with it', async () => {
    const { runs, together, end } = work();
    const first = together.add(1, 'a');
    const other = together.add(2, 'b');
    expect(runs.map(({ key, items }) => [key, items])).toEqual([
      [1, ['a']],
      [2, ['b']],
    ]);
    await end(1);
    expect(await other).toBe('B');
    await end(0);
    expect(await first).toBe('A');
  });

  it('is done one by one when an item is at fault, so that the others come through', async () => {
    const { together, end, itemsOf } = work();
    const results = ['a', 'b', 'c'].map((item) => together.add(1, item).catch((error: Error) => error.message));
    await end(0);
    await end(1, new Error('bad item'));
    await end(2, new Error('bad item'));
    await end(3);
    expect(itemsOf()).toEqual([['a'], ['b', 'c'], ['b'], ['c']]);
    expect(await Promise.all(results)).toEqual(['A', 'bad item', 'C']);
  });

  it('fails for all when the fault is nobody`s, and goes on with what comes later', async () => {
    const { together, end } = work();
    const results = ['a', 'b', 'c'].map((item) => together.add(1, item).catch((error: Error) => error.message));
    await end(0);
    await end(1, new Error('away'));
    expect(await Promise.all(results)).toEqual(['A', 'away', 'away']);
    const later = together.add(1, 'd');
    await end(2);
    expect(await later).toBe('D');
  });
});
