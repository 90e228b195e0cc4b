import { Together } from '../../src/database/together';
import { MOST_WAITING, Overloaded } from '../../src/database/turns';

/** Work whose runs the test ends by hand, as is the clock. */
function work(mostWaiting?: number) {
  const clock = { now: 5000 };
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
    mostWaiting,
    () => clock.now,
  );
  const end = async (index: number, error?: Error) => {
    runs[index]?.end(error);
    await new Promise(setImmediate);
  };
  return { clock, runs, together, end, itemsOf: () => runs.map(({ items }) => items) };
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

  it('fails soon: what waited behind work that ran out of time is not made to wait once more', async () => {
    const { clock, together, end, itemsOf } = work();
    const results = ['a', 'b', 'c', 'd', 'e'].map((item) =>
      together.add(1, item).catch((error: Error) => error.message),
    );
    clock.now += 500;
    await end(0, new Error('out of time'));
    expect(await Promise.all(results)).toEqual(results.map(() => 'out of time'));
    const later = together.add(1, 'f');
    await end(1);
    expect(await later).toBe('F');
    expect(itemsOf()).toEqual([['a'], ['f']]);
  });

  it('is not taken from those behind by an item at fault, however long that took', async () => {
    const { clock, together, end, itemsOf } = work();
    const results = ['a', 'b'].map((item) => together.add(1, item).catch((error: Error) => error.message));
    clock.now += 5000;
    await end(0, new Error('bad item'));
    await end(1);
    expect(await Promise.all(results)).toEqual(['bad item', 'B']);
    expect(itemsOf()).toEqual([['a'], ['b']]);
  });

  it('is refused to those of a key that come when too many wait, and to nobody else', async () => {
    const { together } = work();
    const refused: unknown[] = [];
    const add = (key: number): Promise<unknown> =>
      together.add(key, 'x').catch((error: Error) => refused.push(error.constructor));
    for (let n = 0; n <= MOST_WAITING; n++) void add(1);
    await new Promise(setImmediate);
    expect(refused).toEqual([]);
    await add(1);
    void add(2);
    await new Promise(setImmediate);
    expect(refused).toEqual([Overloaded]);
  });

  it('is refused to nobody where any number may wait', async () => {
    const { together, end, itemsOf } = work(Infinity);
    const results = Array.from({ length: MOST_WAITING + 2 }, () => together.add(1, 'x'));
    for (let next = 0; next < itemsOf().length; next++) await end(next);
    expect(await Promise.all(results)).toEqual(results.map(() => 'X'));
  });

  it('tries again for those that waited when it failed quickly', async () => {
    const { clock, together, end, itemsOf } = work();
    const results = ['a', 'b'].map((item) => together.add(1, item).catch((error: Error) => error.message));
    clock.now += 499;
    await end(0, new Error('away'));
    await end(1);
    expect(await Promise.all(results)).toEqual(['away', 'B']);
    expect(itemsOf()).toEqual([['a'], ['b']]);
  });

  it('goes by a clock of its own when it is given none', async () => {
    let runs = 0;
    const fails = (): Promise<string[]> => (runs++ === 0 ? Promise.reject(new Error('away')) : Promise.resolve(['B']));
    const together = new Together<string, string>(fails, 3, () => false);
    const results = ['a', 'b'].map((item) => together.add(1, item).catch((error: Error) => error.message));
    expect(await Promise.all(results)).toEqual(['away', 'B']);
  });
});
