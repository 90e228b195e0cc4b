import { getHeapSpaceStatistics, setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { disablePretenuring } from '../../src/http/server/heap-limit';
import { LinkedList, type LinkedEntry } from '../../src/data/database/linked-list';

setFlagsFromString('--expose-gc');
disablePretenuring();
const collectGarbage = runInNewContext('gc') as (options?: { type: 'minor' }) => void;

const REQUESTS = 20_000;
const IN_PROGRESS = 10;
const REQUESTS_PER_SCAVENGE = 500;

const oldBytes = (): number =>
  getHeapSpaceStatistics().find(({ space_name }) => space_name === 'old_space')?.space_used_size ?? NaN;

/** Bytes that reach the old generation while values come and go, ten of them at a time. */
function promotedBytes<Handle>(add: (value: object) => Handle, remove: (handle: Handle) => void): number {
  const handles = Array.from({ length: IN_PROGRESS }, () => add({}));
  // The collection itself is in the old generation, as that of a server is.
  collectGarbage();
  collectGarbage();
  const before = oldBytes();
  for (let n = 0; n < REQUESTS; n++) {
    remove(handles[n % IN_PROGRESS] as Handle);
    handles[n % IN_PROGRESS] = add({ request: Array.from({ length: 64 }, () => n) });
    if (n % REQUESTS_PER_SCAVENGE === 0) collectGarbage({ type: 'minor' });
  }
  return oldBytes() - before;
}

describe('a linked list', () => {
  it('keeps the order of its values, and lets each be removed once, also while it is read', () => {
    const list = new LinkedList<number>();
    const entries = [1, 2, 3, 4].map((value) => list.add(value));
    const [first, second] = entries as [LinkedEntry<number>, LinkedEntry<number>];
    expect([list.remove(second), list.remove(second), list.size]).toEqual([true, false, 3]);
    expect([...list]).toEqual([1, 3, 4]);
    for (const value of list) if (value === 1) list.remove(first);
    list.add(5);
    expect([...list, list.first?.value]).toEqual([3, 4, 5, 3]);
    for (const entry of entries) list.remove(entry);
    expect([...list]).toEqual([5]);
    expect([first.next, first.previous]).toEqual([undefined, undefined]);
  });

  it('promotes next to nothing of what comes and goes, where a Set promotes most of it', () => {
    const set = new Set<object>();
    const ofSet = promotedBytes(
      (value) => (set.add(value), value),
      (value) => set.delete(value),
    );
    const list = new LinkedList<object>();
    const ofList = promotedBytes(
      (value) => list.add(value),
      (entry) => list.remove(entry),
    );
    expect(ofSet).toBeGreaterThan(REQUESTS * 200);
    expect(ofList).toBeLessThan(ofSet / 5);
  });
});
