import { GoneException, Injectable, Logger } from '@nestjs/common';
import { type JsonText, Statements } from '../database/statements';
import type { Caller } from '../api/caller';
import { InvalidRequest, Overloaded } from '../errors/exceptions';
import { type ChangesQuery, DEFAULT_CHANGES } from './change.dto';
import type { ChangesPhase } from './change.response';
import * as SQL from './changes.sql';
import {
  after,
  type Anchor,
  type Cursor,
  MalformedCursor,
  MAX_CURSOR,
  openOf,
  OutdatedCursor,
  seal,
  type SealedCursor,
  storedPositions,
  unsealed,
  untold,
} from './cursor';
import { FOLLOWED, FOLLOWED_NAMES, type Followed } from './followed';

/** A page of the feed; a change is JSON text. */
export interface ChangesPage {
  phase: ChangesPhase;
  changes: JsonText[];
  cursor: string;
  hasMore: boolean;
}

/** The state of a log; `open` transactions have changes that nobody sees yet. */
interface Log {
  /** null on a standby, and where a restore is not done */
  generation: string | null;
  /** The identity of this database. */
  database: string;
  /** Whether the log says that another database wrote it. */
  isForeign: boolean;
  /** What cursors are sealed with, as hexadecimal digits. */
  secret: string;
  /** The transaction number that is assigned next, or one that was assigned a moment ago. */
  nextXid: number;
  open: number[];
  anchor: Anchor | null;
}

/** A row of the log. */
type Logged = [anchor: Anchor, operation: string, eventId: number | null, id: string | null, remoteIds: object | null];
type News = Log & { isKept: boolean; isSwept: boolean; changes: Logged[] };
type Own<T extends Log> = T & { generation: string };
type Found = [record: JsonText | null, remoteIds: JsonText | null];
type Read = [...Found, eventId: string | null, id: string | null, position: string];

/** A record that changed, with all that the log has of it for a page. */
interface Told {
  resource: Followed;
  eventId: number | string | null;
  id: string | null;
  operations: string;
  at: string;
  remoteIds: object | null;
  /** the place of its first change on the page */
  first: number;
}

/** What the log says when this database takes over the change log of another one. */
export const LOG_CLAIMED =
  'The change log was written in another database, from which this one was restored or copied: ' +
  'older cursors are gone, and webhooks are paused until you run webhooks resume';

/** Bytes of the changes of a page, which ends before one that would be too much; one that is larger goes alone. */
const MAX_BYTES = 1 << 20;

/** A cursor that another database made. */
export class ForeignCursor extends GoneException {}

/** The feed of changes (docs/decisions/0020). */
@Injectable()
export class ChangesService {
  private readonly logger = new Logger('Changes');
  private secret?: Buffer;
  constructor(private readonly statements: Statements) {}

  /** A cursor that begins now, with a first reading unless `since` skips it. */
  async start(caller: Caller, query: Pick<ChangesQuery, 'resources' | 'since'>): Promise<string> {
    return this.sealed(caller, await this.begin(caller, query));
  }

  /** Invalidates all cursors, of every organization. @returns the number of the log */
  async reset(): Promise<number> {
    return Number(await this.statements.one({ organizationId: 0, keyId: '' }, SQL.RESET, []));
  }

  private async sealed(caller: Caller, cursor: Cursor): Promise<string> {
    const secret = await this.secretOf(caller);
    const text = seal(cursor, caller.organizationId, secret);
    if (text.length <= MAX_CURSOR) return text;
    const { hash, positions } = storedPositions(cursor.open);
    await this.statements.all(caller, SQL.STORE_POSITIONS, [hash, positions]);
    return seal({ ...cursor, open: [], stored: hash }, caller.organizationId, secret);
  }

  /** A page as the API answers it. @throws as `page` does */
  async text(caller: Caller, query: ChangesQuery): Promise<string[]> {
    const { phase, changes, cursor, hasMore } = await this.page(caller, query);
    const parts = changes.map((change, n) => (n === 0 ? change : `,${change}`));
    return [`{"phase":"${phase}","changes":[`, ...parts, `],"cursor":"${cursor}","hasMore":${hasMore}}`];
  }

  /** @throws InvalidRequest, GoneException when the cursor's place is no longer kept, or of another database */
  async page(caller: Caller, query: Partial<ChangesQuery>, maxBytes = MAX_BYTES): Promise<ChangesPage> {
    const { since, resources, limit = DEFAULT_CHANGES } = query;
    if (query.cursor !== undefined && since !== undefined) throw new InvalidRequest('query since');
    const cursor =
      query.cursor === undefined ? await this.begin(caller, query) : await this.opened(caller, query.cursor);
    const isOther = resources && numbersOf(resources).join() !== cursor.resources.join();
    if (isOther) throw new InvalidRequest('query resources');
    const page: Page = { cursor, hasMore: false, changes: new Bounded(maxBytes) };
    const isFirst = since === undefined && cursor.reading !== null;
    if (isFirst) await this.read(caller, page, limit);
    else if (since === undefined) await this.tell(caller, page, limit);
    const sealed = await this.sealed(caller, page.cursor);
    const { texts } = page.changes;
    return { phase: isFirst ? 'snapshot' : 'changes', changes: texts, cursor: sealed, hasMore: page.hasMore };
  }

  /** A cursor to which all that is there by now is told, but for the first reading, if there is to be one. */
  private async begin(
    caller: Caller,
    { since, resources = FOLLOWED_NAMES }: Pick<ChangesQuery, 'since' | 'resources'>,
  ): Promise<Cursor> {
    const numbers = numbersOf(resources);
    const { database, generation, open, anchor } = await this.log(caller, numbers);
    const start: Cursor = {
      database,
      generation,
      resources: numbers,
      open: [],
      from: [0, 0],
      anchor: null,
      reading: null,
    };
    const reading = since ? null : { nth: 0, eventId: 0, position: -1, at: new Date().toISOString() };
    return { ...after(start, anchor ?? undefined, open, false), reading };
  }

  private log(caller: Caller, resources: number[]): Promise<Own<Log>> {
    return this.ownLog(caller, async () => {
      const log = JSON.parse(await this.statements.one(caller, SQL.LOG, [rowsOf(resources)])) as Log;
      return { log, newest: log.anchor };
    });
  }

  /**
   * What `read` finds in a log that this database has written. One of another database is taken over first.
   * @throws Overloaded on a standby, which has no log of its own, and while a foreign log is removed
   */
  private async ownLog<T extends Log>(
    caller: Caller,
    read: () => Promise<{ log: T; newest?: Anchor | null }>,
  ): Promise<Own<T>> {
    for (;;) {
      const { log, newest } = await read();
      if (log.generation === null) throw new Overloaded('This database has no log of changes of its own');
      const isFromFuture = newest ? newest[1] >= log.nextXid : false;
      this.secret = Buffer.from(log.secret, 'hex');
      if (!log.isForeign && !isFromFuture) return log as Own<T>;
      const outcome = await this.statements.one(caller, SQL.CLAIM, [SQL.CLAIMED_AT_ONCE, isFromFuture]);
      if (outcome === 'partial') throw new Overloaded('The changes of another database are being removed');
      if (outcome === 'claimed') this.logger.warn({ message: LOG_CLAIMED });
    }
  }

  /** @throws InvalidRequest, GoneException */
  private async opened(caller: Caller, text: string): Promise<Cursor> {
    const { stored, ...cursor } = await this.unsealed(caller, text);
    if (!stored) return cursor;
    const [positions] = await this.statements.all(caller, SQL.POSITIONS, [stored]);
    if (positions === undefined) throw new GoneException();
    return { ...cursor, open: openOf(positions) };
  }

  private async unsealed(caller: Caller, text: string): Promise<SealedCursor> {
    const open = async () => unsealed(text, caller.organizationId, await this.secretOf(caller));
    try {
      const cursor = await open();
      if (cursor) return cursor;
      // Another secret is that of another database, which may have been restored under a running server.
      this.secret = undefined;
      const again = await open();
      if (again) return again;
    } catch (error) {
      if (error instanceof OutdatedCursor) throw new GoneException();
      throw error instanceof MalformedCursor ? new InvalidRequest('query cursor') : error;
    }
    throw new ForeignCursor();
  }

  private async secretOf(caller: Caller): Promise<Buffer> {
    this.secret ??= Buffer.from(await this.statements.one(caller, SQL.SECRET, []), 'hex');
    return this.secret;
  }

  /** All that is there, resource by resource. */
  private async read(caller: Caller, page: Page, limit: number): Promise<void> {
    const { resources } = page.cursor;
    requireSameLog(page.cursor, await this.log(caller, []));
    page.hasMore = true;
    const reading = { ...page.cursor.reading! };
    page.cursor = { ...page.cursor, reading };
    while (reading.nth < resources.length && page.changes.texts.length < limit) {
      const resource = followed(resources[reading.nth]);
      const wanted = Math.min(limit - page.changes.texts.length, page.changes.atOnce);
      const values = [wanted, reading.position, reading.eventId];
      const rows = await this.statements.select<Read>(caller, SQL.READING.get(resource)!, values);
      for (const [record, remoteIds, eventId, id, position] of rows) {
        const key = { resource, eventId, id };
        if (!page.changes.add(changeText(key, 'snapshot', reading.at, record, remoteIds))) return;
        Object.assign(reading, { position: Number(position), eventId: resource.parent ? Number(eventId) : 0 });
      }
      if (rows.length < wanted) Object.assign(reading, { nth: reading.nth + 1, position: -1, eventId: 0 });
    }
    if (reading.nth === resources.length) page.cursor.reading = null;
  }

  /** What the cursor has not told, each record once and as it is now. */
  private async tell(caller: Caller, page: Page, limit: number): Promise<void> {
    const { cursor } = page;
    const values = [rowsOf(cursor.resources), JSON.stringify(untold(cursor)), json(cursor.anchor)];
    const news = await this.ownLog(caller, async () => {
      const log = JSON.parse(await this.statements.one(caller, SQL.newsFor(limit), values)) as News;
      return { log, newest: log.changes.at(-1)?.[0] };
    });
    requireSameLog(cursor, news);
    if (!news.isKept || news.isSwept) throw new GoneException();
    const rows = Math.min(limit, news.changes.length);
    const full = await this.tellRecords(caller, page.changes, merged(news.changes.slice(0, rows)));
    const told = full?.first ?? rows;
    page.hasMore = told < news.changes.length;
    page.cursor = after(cursor, news.changes[told - 1]?.[0], news.open, page.hasMore);
  }

  /** @returns the first that the page has no room for */
  private async tellRecords(caller: Caller, changes: Bounded, told: Told[]): Promise<Told | undefined> {
    for (let n = 0; n < told.length; n += changes.atOnce) {
      const some = told.slice(n, n + changes.atOnce);
      const found = await this.find(caller, some);
      for (const each of some) {
        const [record, remoteIds] = found.get(each)!;
        // A record that is gone is told by its deletion, which may stand on a later page.
        if (record === null && !each.operations.includes('d')) continue;
        const operation = record === null ? 'deleted' : each.operations.includes('c') ? 'created' : 'updated';
        const ids = record === null ? (json(each.remoteIds) ?? '[]') : remoteIds;
        if (!changes.add(changeText(each, operation, each.at, record, ids))) return each;
      }
    }
    return undefined;
  }

  private async find(caller: Caller, told: Told[]): Promise<Map<Told, Found>> {
    const found = new Map<Told, Found>();
    for (const resource of new Set(told.map((each) => each.resource))) {
      const its = told.filter((each) => each.resource === resource);
      const keys = [its.map(({ eventId }) => eventId), its.map(({ id }) => id)];
      const rows = await this.statements.select<Found>(caller, SQL.RECORDS.get(resource)!, keys);
      for (const [n, row] of rows.entries()) found.set(its[n]!, row);
    }
    return found;
  }
}

interface Page {
  changes: Bounded;
  /** where the next one begins */
  cursor: Cursor;
  hasMore: boolean;
}

/** The changes of a page. */
class Bounded {
  readonly texts: JsonText[] = [];
  /** records to read at once: of a smaller page, fewer that there may be no room for */
  readonly atOnce: number;
  private bytes = 0;

  constructor(private readonly maxBytes: number) {
    this.atOnce = Math.ceil((SQL.RECORDS_AT_ONCE * maxBytes) / MAX_BYTES);
  }

  /** @returns whether there was room */
  add(text: JsonText): boolean {
    this.bytes += Buffer.byteLength(text);
    const hasRoom = this.texts.length === 0 || this.bytes <= this.maxBytes;
    if (hasRoom) this.texts.push(text);
    return hasRoom;
  }
}

const rowsOf = (numbers: number[]): string => JSON.stringify(numbers.map((number) => ({ number })));

const json = (value: object | null): string | null => (value === null ? null : JSON.stringify(value));

/** Numbers in the order of the first reading. */
const numbersOf = (names: string[]): number[] =>
  FOLLOWED.filter(({ name }) => names.includes(name)).map(({ number }) => number);

const followed = (wanted?: number): Followed => FOLLOWED.find(({ number }) => number === wanted)!;

/** @throws GoneException when the log is another one than that of the cursor */
function requireSameLog(cursor: Cursor, { database, generation }: Log): void {
  if (cursor.database !== database) throw new ForeignCursor();
  if (cursor.generation !== generation) throw new GoneException();
}

/** Each record once, in the order of their first changes. */
function merged(changes: Logged[]): Told[] {
  const told = new Map<string, Told>();
  for (const [first, [[number, , , at], operation, eventId, id, remoteIds]] of changes.entries()) {
    const name = [number, eventId, id].join();
    const known = told.get(name) ?? { resource: followed(number), eventId, id, operations: '', at, remoteIds, first };
    const operations = known.operations + operation;
    told.set(name, { ...known, operations, at, remoteIds: remoteIds ?? known.remoteIds });
  }
  return [...told.values()];
}

function changeText(
  { resource, eventId, id }: Pick<Told, 'resource' | 'eventId' | 'id'>,
  operation: string,
  at: string,
  record: JsonText | null,
  remoteIds: string | null,
): JsonText {
  const { name, key } = resource;
  const keys = !key.eventId ? `"id":"${id}"` : key.id ? `"eventId":${eventId},"leadId":"${id}"` : `"id":${eventId}`;
  const ids = resource.remoteIds ? `,"remoteIds":${remoteIds}` : '';
  return `{"resource":"${name}",${keys},"operation":"${operation}","at":"${at}","record":${record}${ids}}` as JsonText;
}
