import { setImmediate as nextTurn } from 'node:timers/promises';
import { Batcher } from '../../src/database/batcher';
import { Overloaded } from '../../src/database/errors';
import { MAX_WAITING_REQUESTS } from '../../src/database/limits';

const REFUSED = Object.assign(new Error('refused'), { code: '23505' });

/** A batcher of three items at most, whose batches end when the test says so. */
function batches(maxWaiting?: number) {
  const started: string[] = [];
  const work: ((error?: Error) => void)[] = [];
  const run = (key: number, items: string[]): Promise<string[]> =>
    new Promise((resolve, reject) => {
      started.push(`${key}: ${items.join(' ')}`);
      work.push((error) => (error ? reject(error) : resolve(items.map((item) => item.toUpperCase()))));
    });
  const batcher = new Batcher<string, string>(run, 3, maxWaiting);
  /** @returns the result, or the message of the error */
  const add = (...items: string[]) =>
    Promise.all(items.map((item) => batcher.add(1, item).catch((error: Error) => error.message)));
  /** Ends the batch that runs. */
  const end = async (error?: Error): Promise<void> => {
    work.at(-1)?.(error);
    await nextTurn();
  };
  return { batcher, started, add, end };
}

describe('a batcher', () => {
  it('starts at once, and then batches what has arrived meanwhile, in order, up to its size', async () => {
    const { started, add, end } = batches();
    const results = add('a', 'b', 'c', 'd', 'e');
    expect(started).toEqual(['1: a']);
    for (let n = 0; n < 3; n++) await end();
    expect(started).toEqual(['1: a', '1: b c d', '1: e']);
    expect(await results).toEqual(['A', 'B', 'C', 'D', 'E']);
  });

  it('mixes no keys, and lets none wait for another', async () => {
    const { batcher, started, add, end } = batches();
    void add('a');
    const other = batcher.add(2, 'b');
    expect(started).toEqual(['1: a', '2: b']);
    await end();
    expect(await other).toBe('B');
  });

  it('does the items of a batch one by one when one is refused, so that the others succeed', async () => {
    const { started, add, end } = batches();
    const results = add('a', 'b', 'c', 'd');
    for (const error of [undefined, REFUSED, undefined, REFUSED, undefined]) await end(error);
    expect(started).toEqual(['1: a', '1: b c d', '1: b', '1: c', '1: d']);
    expect(await results).toEqual(['A', 'B', 'refused', 'D']);
  });

  it.each([
    ['the connection fails', new Error('Connection terminated')],
    ['a statement times out', Object.assign(new Error('canceled'), { code: '57014' })],
    ['the queue is full', new Overloaded('full')],
  ])('refuses what waits when %s, and goes on with what arrives later', async (_, error) => {
    const { started, add, end } = batches();
    const results = add('a', 'b', 'c', 'd', 'e');
    // Nothing was done for those that wait, so that they get 503 also when the first gets 500.
    await end(error);
    expect(await results).toEqual([error.message, ...Array<string>(4).fill('The database does not answer')]);
    const later = add('f');
    await end();
    expect([await later, started]).toEqual([['F'], ['1: a', '1: f']]);
  });

  it('refuses the rest of a batch, too, whose items are done one by one when the connection fails', async () => {
    const { started, add, end } = batches();
    const results = add('a', 'b', 'c', 'd', 'e');
    for (const error of [undefined, REFUSED, undefined, new Error('Connection terminated')]) await end(error);
    expect(started).toEqual(['1: a', '1: b c d', '1: b', '1: c']);
    const refused = 'The database does not answer';
    expect(await results).toEqual(['A', 'B', 'Connection terminated', refused, refused]);
  });

  it('fails one batch alone when its error is of another kind', async () => {
    const { add, end } = batches();
    const results = add('a', 'b');
    await end(new TypeError('a bug'));
    await end();
    expect(await results).toEqual(['a bug', 'B']);
  });

  it('refuses an item of a key of which too many wait, and none of another', async () => {
    const { batcher, started, add } = batches();
    for (let n = 0; n <= MAX_WAITING_REQUESTS; n++) void add('x');
    await expect(batcher.add(1, 'y')).rejects.toBeInstanceOf(Overloaded);
    void batcher.add(2, 'z');
    expect(started).toEqual(['1: x', '2: z']);
  });

  it('refuses none where any number may wait', async () => {
    const { add, end } = batches(Infinity);
    const items = Array<string>(MAX_WAITING_REQUESTS + 2).fill('x');
    const results = add(...items);
    for (let n = 0; n < items.length / 3 + 1; n++) await end();
    expect(await results).toEqual(items.map(() => 'X'));
  });
});
