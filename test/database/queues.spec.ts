import { setImmediate as nextTurn } from 'node:timers/promises';
import { Batcher } from '../../src/database/batcher';
import { Overloaded } from '../../src/database/errors';
import { FairQueue } from '../../src/database/fair-queue';
import { MAX_WAITING_REQUESTS, QUEUE_TIMEOUT_MS } from '../../src/database/limits';

/** Requests whose work ends when the test says so. The first letter of a name is its organization. */
function requests(queue: FairQueue) {
  const started: string[] = [];
  const outcomes: Record<string, unknown> = {};
  const work = new Map<string, { resolve: () => void; reject: (error: Error) => void }>();
  const send = (...names: string[]): void => {
    for (const name of names) {
      const run = () =>
        new Promise<void>((resolve, reject) => {
          started.push(name);
          work.set(name, { resolve, reject });
        });
      queue.run(name.charCodeAt(0), run).then(
        () => (outcomes[name] = 'done'),
        (error: unknown) => (outcomes[name] = error),
      );
    }
  };
  const end = async (name: string, error?: Error): Promise<void> => {
    if (error) work.get(name)?.reject(error);
    else work.get(name)?.resolve();
    await jest.advanceTimersByTimeAsync(0);
  };
  return { started, outcomes, send, end };
}

describe('the queue for connections', () => {
  beforeEach(() => jest.useFakeTimers());
  afterEach(() => jest.useRealTimers());

  it('leaves a connection to others, and counts the share right after connections were released', async () => {
    const { send, end, started } = requests(new FairQueue(5));
    send('a1', 'a2', 'a3', 'a4', 'a5', 'b1', 'b2');
    expect(started).toEqual(['a1', 'a2', 'a3', 'a4', 'b1']);
    await end('b1');
    expect(started.slice(5)).toEqual(['b2']);
    await end('b2');
    expect(started.slice(6)).toEqual([]);
    await end('a1');
    expect(started.slice(6)).toEqual(['a5']);
  });

  it('serves organizations round-robin, and the requests of each in order', async () => {
    const { send, end, started } = requests(new FairQueue(1));
    send('a1', 'a2', 'a3', 'a4', 'b1', 'c1', 'c2');
    for (const name of ['a1', 'a2', 'b1', 'c1', 'a3', 'c2']) await end(name);
    expect(started).toEqual(['a1', 'a2', 'b1', 'c1', 'a3', 'c2', 'a4']);
  });

  it('refuses a request that waits longer than the timeout, and goes on with the next', async () => {
    const queue = new FairQueue(1);
    const { send, end, started, outcomes } = requests(queue);
    send('a1', 'a2');
    await jest.advanceTimersByTimeAsync(QUEUE_TIMEOUT_MS - 1);
    send('a3');
    expect([outcomes, queue.waitingRequests]).toEqual([{}, 2]);
    await jest.advanceTimersByTimeAsync(1);
    expect([outcomes.a2, queue.waitingRequests]).toEqual([expect.any(Overloaded), 1]);
    await end('a1');
    expect([started, queue.waitingRequests, jest.getTimerCount()]).toEqual([['a1', 'a3'], 0, 0]);
  });

  it('refuses a request of an organization of which too many wait, and none of another', async () => {
    const { send, outcomes } = requests(new FairQueue(1));
    for (let n = 0; n <= MAX_WAITING_REQUESTS; n++) send(`a${n}`);
    send('a one too many', 'b1');
    await jest.advanceTimersByTimeAsync(0);
    expect(outcomes).toEqual({ 'a one too many': expect.any(Overloaded) as Overloaded });
  });
});

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
});
