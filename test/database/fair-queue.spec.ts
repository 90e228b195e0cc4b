import { Overloaded } from '../../src/errors/exceptions';
import { FairQueue } from '../../src/data/database/fair-queue';
import { MAX_WAITING_REQUESTS, QUEUE_TIMEOUT_MS } from '../../src/data/database/limits';

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
