import { hash } from 'node:crypto';
import {
  advanceCursor,
  type Cursor,
  decodeCursor,
  decodePositions,
  encodeCursor,
  encodePositions,
  type LastEmitted,
  MalformedCursor,
  MAX_CURSOR_LENGTH,
  pendingRanges,
} from '../../src/feed/changes/cursor';
import { Random } from '../prove/support/random';

/** Runs of each kind; raise it for a long run. */
const RUNS = Number(process.env.CURSOR_RANDOM_RUNS ?? 40);

const SECRET = Buffer.alloc(32, 7);
const ORGANIZATION = 7;

type Row = [xid: number, seq: number];
const nameOf = ([xid, seq]: Row): string => `${xid}/${seq}`;

/** A log as PostgreSQL has it: rows are seen when their transaction has ended, in whatever order these end. */
class Log {
  readonly committed: Row[] = [];
  readonly open = new Map<number, Row[]>();
  private xid = 1000;
  private seq = 0;

  constructor(
    private readonly random: Random,
    /** transactions that may be open at once */
    private readonly maxOpen: number,
    /** between the numbers of two transactions, which other organizations have */
    private readonly maxGap: number,
  ) {}

  begin(): void {
    if (this.open.size >= this.maxOpen) return this.end();
    this.xid += this.random.between(1, this.maxGap);
    this.open.set(this.xid, []);
  }

  write(): void {
    if (this.open.size === 0) this.begin();
    const xid = this.random.pick([...this.open.keys()]);
    this.open.get(xid)?.push([xid, ++this.seq]);
  }

  end(xid = this.random.pick([...this.open.keys()])): void {
    const rows = this.open.get(xid);
    if (!rows) return;
    this.open.delete(xid);
    if (this.random.chance(0.8)) this.committed.push(...rows);
  }

  endAll(): void {
    for (const xid of [...this.open.keys()]) this.end(xid);
  }

  /** Like the statement of the feed: the rows in the ranges of the cursor, in order, and one more than the limit. */
  pendingRows(cursor: Cursor, limit: number): Row[] {
    const ranges = pendingRanges(cursor);
    const isPending = ([xid, seq]: Row): boolean =>
      ranges.some((range) => (xid > range.xid || (xid === range.xid && seq > range.seq)) && xid < range.before);
    return this.committed
      .filter(isPending)
      .sort(([xid, seq], [other, otherSeq]) => xid - other || seq - otherSeq)
      .slice(0, limit + 1);
  }

  get openNow(): number[] {
    return [...this.open.keys()].sort((a, b) => a - b);
  }
}

/** A cursor, and the rows that were emitted on the way to it. */
interface Progress {
  text: string;
  emitted: Set<string>;
}

const encode = (cursor: Parameters<typeof encodeCursor>[0]): string => encodeCursor(cursor, ORGANIZATION, SECRET);
const decode = (text: string): Cursor => decodeCursor(text, ORGANIZATION, SECRET) as Cursor;

/** Reads one page as the service does. */
function readPage(log: Log, progress: Progress, limit: number): { next: Progress; hasMore: boolean; again: number } {
  const cursor = decode(progress.text);
  const rows = log.pendingRows(cursor, limit);
  const page = rows.slice(0, limit);
  const last = page.at(-1);
  const lastEmitted: LastEmitted | undefined = last && [4, last[0], last[1], '2026-05-04T09:00:00.000Z'];
  const next = advanceCursor(cursor, lastEmitted, log.openNow, rows.length > limit);
  const emitted = new Set(progress.emitted);
  const again = page.filter((row) => emitted.has(nameOf(row))).length;
  for (const row of page) emitted.add(nameOf(row));
  return { next: { text: encode(next), emitted }, hasMore: rows.length > limit, again };
}

interface Outcome {
  rows: number;
  lost: number;
  /** emitted twice */
  again: number;
}

const FIRST: Cursor = {
  database: '7312345678901234567/16384',
  generation: 'a'.repeat(32),
  resources: [1, 2, 3, 4, 5, 6],
  openTransactions: [],
  position: [0, 0],
  lastEmitted: null,
  snapshotProgress: null,
};

/** Reads pages of random sizes, from the newest cursor or from one that is older, while transactions come and go. */
function run(seed: number, maxOpen: number, maxGap: number, steps: number): Outcome {
  const random = new Random(seed);
  const log = new Log(random, maxOpen, maxGap);
  let cursors: Progress[] = [{ text: encode(FIRST), emitted: new Set() }];
  const outcome: Outcome = { rows: 0, lost: 0, again: 0 };
  const read = (progress: Progress, limit: number): { next: Progress; hasMore: boolean } => {
    const page = readPage(log, progress, limit);
    outcome.again += page.again;
    return page;
  };
  for (let step = 0; step < steps; step++) {
    random.weighted([
      [maxOpen > 100 ? 40 : 3, () => log.begin()],
      [6, () => log.write()],
      [2, () => log.end()],
      [
        2,
        () =>
          void cursors.push(
            read(random.chance(0.9) ? (cursors.at(-1) as Progress) : random.pick(cursors), random.between(1, 7)).next,
          ),
      ],
    ])();
    cursors = cursors.slice(-8);
  }
  log.endAll();
  for (const progress of cursors) {
    let page = read(progress, 5);
    while (page.hasMore) page = read(page.next, random.between(1, 50));
    outcome.lost += log.committed.filter((row) => !page.next.emitted.has(nameOf(row))).length;
    outcome.rows += log.committed.length;
  }
  return outcome;
}

/** The outcomes of all seeds, summed up. */
function sum(maxOpen: number, maxGap: number, steps: number): Outcome {
  const outcomes = Array.from({ length: RUNS }, (_, seed) => run(seed, maxOpen, maxGap, steps));
  const total = (of: keyof Outcome): number => outcomes.reduce((all, outcome) => all + outcome[of], 0);
  return { rows: total('rows'), lost: total('lost'), again: total('again') };
}

describe('the cursor of the feed', () => {
  it('loses nothing and emits nothing twice, whatever ends in whatever order', () => {
    const { rows, ...outcome } = sum(12, 5, 500);
    expect(outcome).toEqual({ lost: 0, again: 0 });
    expect(rows).toBeGreaterThan(RUNS * 500);
  });

  it('loses nothing and emits nothing twice with hundreds of open transactions', () => {
    const { rows, ...outcome } = sum(700, 100_000, 900);
    expect(outcome).toEqual({ lost: 0, again: 0 });
    expect(rows).toBeGreaterThan(RUNS * 100);
  });

  it('refers to stored positions when it would be too long for a URL', () => {
    const random = new Random(2);
    let xid = 0;
    const openTransactions = Array.from({ length: 2000 }, (): Row => [(xid += random.between(1, 100_000)), 0]);
    expect(encode({ ...FIRST, openTransactions }).length).toBeGreaterThan(MAX_CURSOR_LENGTH);
    const { hash: stored, positions } = encodePositions(openTransactions);
    const text = encode({ ...FIRST, stored });
    expect(text.length).toBeLessThan(400);
    expect(decode(text)).toEqual({ ...FIRST, stored });
    expect(decodePositions(positions)).toEqual(openTransactions);
    expect(encodePositions(openTransactions).hash).toBe(stored);
    expect(encodePositions(openTransactions.slice(1)).hash).not.toBe(stored);
  });

  it('cannot be forged for another organization, however its text is changed', () => {
    const bytes = Buffer.from(encode(FIRST), 'base64url');
    for (let n = 4; n < bytes.length; n++) {
      const changed = Buffer.from(bytes);
      changed.writeUInt8(changed.readUInt8(n) ^ 1, n);
      expect(() => decodeCursor(changed.toString('base64url'), ORGANIZATION, SECRET)).toThrow(MalformedCursor);
      // Anybody can compute the checksum; it opens nothing.
      hash('sha256', Buffer.concat([changed.subarray(4), Buffer.from('cursor 2')]), 'buffer').copy(changed, 0, 0, 4);
      for (const organization of [ORGANIZATION, ORGANIZATION + 1]) {
        expect(decodeCursor(changed.toString('base64url'), organization, SECRET)).toBeUndefined();
      }
    }
  });

  it('decodes to what was encoded, for its own organization only', () => {
    const random = new Random(1);
    for (let n = 0; n < 200; n++) {
      let xid = 0;
      const openTransactions = Array.from({ length: random.below(60) }, (): Row => [
        (xid += random.between(1, 5000)),
        0,
      ]);
      if (openTransactions[0] && random.chance(0.5)) openTransactions[0][1] = random.between(1, 99);
      const snapshotProgress = random.chance(0.5)
        ? { nth: 3, eventId: random.below(9), position: random.below(1e6), at: '2026-05-04T09:00:00.000Z' }
        : null;
      const lastEmitted: LastEmitted | null = random.chance(0.5) ? [4, xid, 5, '2026-05-04T09:00:00.000Z'] : null;
      const cursor: Cursor = { ...FIRST, openTransactions, position: [xid + 1, n], lastEmitted, snapshotProgress };
      const text = encode(cursor);
      expect(decode(text)).toEqual(cursor);
      expect(() => decodeCursor(text, ORGANIZATION + 1, SECRET)).toThrow(MalformedCursor);
      expect(decodeCursor(text, ORGANIZATION, Buffer.alloc(32, 8))).toBeUndefined();
    }
  });
});
