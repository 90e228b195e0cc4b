import { hash } from 'node:crypto';
import {
  after,
  type Anchor,
  type Cursor,
  MalformedCursor,
  MAX_CURSOR,
  openOf,
  OutdatedCursor,
  seal,
  storedPositions,
  unsealed,
  untold,
} from '../../src/changes/cursor';
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

  /** As the statement of the feed does: what the parts of the cursor have, in order, and one row more than asked. */
  untold(cursor: Cursor, limit: number): Row[] {
    const parts = untold(cursor);
    const isUntold = ([xid, seq]: Row): boolean =>
      parts.some((part) => (xid > part.xid || (xid === part.xid && seq > part.seq)) && xid < part.before);
    return this.committed
      .filter(isUntold)
      .sort(([xid, seq], [other, otherSeq]) => xid - other || seq - otherSeq)
      .slice(0, limit + 1);
  }

  get openNow(): number[] {
    return [...this.open.keys()].sort((a, b) => a - b);
  }
}

/** A cursor, and what was told on the way to it. */
interface Place {
  text: string;
  told: Set<string>;
}

const opened = (text: string): Cursor => unsealed(text, ORGANIZATION, SECRET) as Cursor;

/** One page, as the service reads it. */
function follow(log: Log, place: Place, limit: number): { next: Place; hasMore: boolean; again: number } {
  const cursor = opened(place.text);
  const rows = log.untold(cursor, limit);
  const page = rows.slice(0, limit);
  const last = page.at(-1);
  const anchor: Anchor | undefined = last && [4, last[0], last[1], '2026-05-04T09:00:00.000Z'];
  const next = after(cursor, anchor, log.openNow, rows.length > limit);
  const text = seal(next, ORGANIZATION, SECRET);
  const told = new Set(place.told);
  const again = page.filter((row) => told.has(nameOf(row))).length;
  for (const row of page) told.add(nameOf(row));
  return { next: { text, told }, hasMore: rows.length > limit, again };
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
  open: [],
  from: [0, 0],
  anchor: null,
  reading: null,
};

/** Reads pages of random sizes, from the newest cursor or from one that is older, while transactions come and go. */
function run(seed: number, maxOpen: number, maxGap: number, steps: number): Outcome {
  const random = new Random(seed);
  const log = new Log(random, maxOpen, maxGap);
  let places: Place[] = [{ text: seal(FIRST, ORGANIZATION, SECRET), told: new Set() }];
  const outcome: Outcome = { rows: 0, lost: 0, again: 0 };
  const read = (place: Place, limit: number): { next: Place; hasMore: boolean } => {
    const page = follow(log, place, limit);
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
          void places.push(
            read(random.chance(0.9) ? (places.at(-1) as Place) : random.pick(places), random.between(1, 7)).next,
          ),
      ],
    ])();
    places = places.slice(-8);
  }
  log.endAll();
  for (const place of places) {
    let page = read(place, 5);
    while (page.hasMore) page = read(page.next, random.between(1, 50));
    outcome.lost += log.committed.filter((row) => !page.next.told.has(nameOf(row))).length;
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
  it('loses nothing and tells nothing twice, whatever ends in whatever order', () => {
    const { rows, ...outcome } = sum(12, 5, 500);
    expect(outcome).toEqual({ lost: 0, again: 0 });
    expect(rows).toBeGreaterThan(RUNS * 500);
  });

  it('loses nothing and emits nothing twice with hundreds of open transactions', () => {
    const { rows, ...outcome } = sum(700, 100_000, 900);
    expect(outcome).toEqual({ lost: 0, again: 0 });
    expect(rows).toBeGreaterThan(RUNS * 100);
  });

  it('names stored positions where it would be too long for a URL', () => {
    const random = new Random(2);
    let xid = 0;
    const open = Array.from({ length: 2000 }, (): Row => [(xid += random.between(1, 100_000)), 0]);
    expect(seal({ ...FIRST, open }, ORGANIZATION, SECRET).length).toBeGreaterThan(MAX_CURSOR);
    const { hash: stored, positions } = storedPositions(open);
    const text = seal({ ...FIRST, stored }, ORGANIZATION, SECRET);
    expect(text.length).toBeLessThan(400);
    expect(unsealed(text, ORGANIZATION, SECRET)).toEqual({ ...FIRST, stored });
    expect(openOf(positions)).toEqual(open);
    expect(storedPositions(open).hash).toBe(stored);
    expect(storedPositions(open.slice(1)).hash).not.toBe(stored);
  });

  it('cannot be made for another organization, whatever is done to its text', () => {
    const bytes = Buffer.from(seal(FIRST, ORGANIZATION, SECRET), 'base64url');
    for (let n = 4; n < bytes.length; n++) {
      const changed = Buffer.from(bytes);
      changed.writeUInt8(changed.readUInt8(n) ^ 1, n);
      expect(() => unsealed(changed.toString('base64url'), ORGANIZATION, SECRET)).toThrow(MalformedCursor);
      // Anybody can compute the checksum; it opens nothing.
      hash('sha256', Buffer.concat([changed.subarray(4), Buffer.from('cursor 2')]), 'buffer').copy(changed, 0, 0, 4);
      for (const organization of [ORGANIZATION, ORGANIZATION + 1]) {
        expect(unsealed(changed.toString('base64url'), organization, SECRET)).toBeUndefined();
      }
    }
  });

  it('of the format before is outdated for its organization, and malformed for others', () => {
    const sealed = Buffer.from(seal(FIRST, ORGANIZATION, SECRET), 'base64url').subarray(4);
    const check = hash('sha256', Buffer.concat([sealed, Buffer.from(String(ORGANIZATION))]), 'buffer').subarray(0, 4);
    const text = Buffer.concat([check, sealed]).toString('base64url');
    expect(() => unsealed(text, ORGANIZATION, SECRET)).toThrow(OutdatedCursor);
    expect(() => unsealed(text, ORGANIZATION + 1, SECRET)).toThrow(MalformedCursor);
  });

  it('has what it was given, and opens for its organization alone', () => {
    const random = new Random(1);
    for (let n = 0; n < 200; n++) {
      let xid = 0;
      const open = Array.from({ length: random.below(60) }, (): Row => [(xid += random.between(1, 5000)), 0]);
      if (open[0] && random.chance(0.5)) open[0][1] = random.between(1, 99);
      const reading = random.chance(0.5)
        ? { nth: 3, eventId: random.below(9), position: random.below(1e6), at: '2026-05-04T09:00:00.000Z' }
        : null;
      const anchor = random.chance(0.5) ? ([4, xid, 5, '2026-05-04T09:00:00.000Z'] as Anchor) : null;
      const cursor: Cursor = { ...FIRST, open, from: [xid + 1, n], anchor, reading };
      const text = seal(cursor, ORGANIZATION, SECRET);
      expect(unsealed(text, ORGANIZATION, SECRET)).toEqual(cursor);
      expect(() => unsealed(text, ORGANIZATION + 1, SECRET)).toThrow(MalformedCursor);
      expect(unsealed(text, ORGANIZATION, Buffer.alloc(32, 8))).toBeUndefined();
    }
  });
});
