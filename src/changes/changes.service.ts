import { GoneException, Injectable } from '@nestjs/common';
import { Overloaded } from '../database/errors';
import { type Json, Statements } from '../database/statements';
import type { Caller } from '../http/caller';
import { InvalidRequest } from '../http/errors';
import type { ChangesQuery } from './change.dto';
import type { ChangeOperation, ChangesPhase } from './change.response';
import * as SQL from './changes.sql';
import { after, type Anchor, type Cursor, MalformedCursor, seal, unsealed, untold } from './cursor';
import { FOLLOWED, FOLLOWED_NAMES, type Followed } from './followed';

/** A page of the feed; a change is JSON text. */
export interface ChangesPage {
  phase: ChangesPhase;
  changes: Json[];
  cursor: string;
  hasMore: boolean;
}

/** The state of a log; `open` transactions have changes that nobody sees yet. */
interface Log {
  /** null on a standby */
  generation: string | null;
  open: number[];
  anchor: Anchor | null;
}

/** A row of the log. */
type Logged = [anchor: Anchor, operation: string, eventId: number | null, id: string | null, remoteIds: object | null];

interface News extends Log {
  isKept: boolean;
  isSwept: boolean;
  changes: Logged[];
}

/** What a page tells of one record: all that the log has of it there, merged. */
interface Told {
  resource: Followed;
  eventId: number | null;
  id: string | null;
  operations: string;
  at: string;
  remoteIds: object | null;
  /** the place of its first change on the page */
  first: number;
}

type Record = [record: Json | null, remoteIds: Json | null];
type Read = [...Record, eventId: string | null, id: string | null, position: string];

/** Characters of records after which a page ends early: a record may have a megabyte. */
const MAX_CHARACTERS = 1 << 20;

const byNumber = new Map(FOLLOWED.map((resource) => [resource.number, resource]));

/** The feed of changes (docs/decisions/0020). */
@Injectable()
export class ChangesService {
  private secret?: Promise<Buffer>;

  constructor(private readonly statements: Statements) {}

  /** @throws InvalidRequest, GoneException when the cursor's place is no longer kept, or of another database */
  async page(caller: Caller, { cursor, since, resources, limit }: ChangesQuery): Promise<ChangesPage> {
    if (cursor !== undefined) {
      if (since !== undefined) throw new InvalidRequest('query since');
      const opened = await this.opened(caller, cursor);
      const numbers = resources && numbersOf(resources);
      if (numbers && numbers.join() !== opened.resources.join()) throw new InvalidRequest('query resources');
      return opened.reading ? this.reading(caller, opened, limit) : this.news(caller, opened, limit);
    }
    const start = await this.start(caller, numbersOf(resources ?? FOLLOWED_NAMES));
    if (since === undefined) return this.reading(caller, start, limit);
    return this.answer(caller, 'changes', [], { ...start, reading: null }, false);
  }

  /** A cursor from which nothing that is there by now is told again, before its first reading. */
  private async start(caller: Caller, resources: number[]): Promise<Cursor> {
    const { generation, open, anchor } = await this.log(caller, resources);
    const first = { nth: 0, eventId: 0, position: -1 };
    const empty: Cursor = { generation, resources, open: [], from: [0, 0], anchor: null, reading: null };
    return { ...after(empty, anchor ?? undefined, open, false), reading: first };
  }

  private async log(caller: Caller, resources: number[]): Promise<Log & { generation: string }> {
    return ofPrimary(JSON.parse(await this.statements.one(caller, SQL.LOG, [resources])) as Log);
  }

  private async opened(caller: Caller, text: string): Promise<Cursor> {
    try {
      // Another secret means another database: it may have been restored under a running server.
      const open = async () => unsealed(text, caller.organizationId, await this.secretOf(caller));
      const cursor = (await open()) ?? ((this.secret = undefined), await open());
      if (cursor) return cursor;
    } catch (error) {
      throw error instanceof MalformedCursor ? new InvalidRequest('query cursor') : error;
    }
    throw new GoneException();
  }

  private secretOf(caller: Caller): Promise<Buffer> {
    this.secret ??= this.statements.one(caller, SQL.SECRET, []).then((hex) => Buffer.from(hex, 'hex'));
    this.secret.catch(() => (this.secret = undefined));
    return this.secret;
  }

  /** A page of all that is there, resource by resource. */
  private async reading(caller: Caller, cursor: Cursor, limit: number): Promise<ChangesPage> {
    const { generation } = await this.log(caller, []);
    if (generation !== cursor.generation) throw new GoneException();
    const at = new Date().toISOString();
    const changes: Json[] = [];
    let { nth, eventId, position } = cursor.reading ?? { nth: 0, eventId: 0, position: -1 };
    for (let characters = 0; nth < cursor.resources.length && changes.length < limit && characters < MAX_CHARACTERS;) {
      const resource = byNumber.get(cursor.resources[nth] ?? 0) as Followed;
      const wanted = Math.min(limit - changes.length, SQL.RECORDS_AT_ONCE);
      const statement = SQL.READING.get(resource.number)!;
      const rows = await this.statements.select<Read>(caller, statement, [wanted, position, eventId]);
      for (const [record, remoteIds, ofEvent, id] of rows) {
        const key = { resource, eventId: ofEvent === null ? null : Number(ofEvent), id };
        changes.push(changeText(key, 'snapshot', at, record, remoteIds));
        characters += record?.length ?? 0;
      }
      const last = rows.at(-1);
      [eventId, position] = last && resource.parent ? [Number(last[2]), Number(last[4])] : [0, Number(last?.[4] ?? -1)];
      if (rows.length === wanted) continue;
      nth++;
      [eventId, position] = [0, -1];
    }
    const isRead = nth === cursor.resources.length;
    return this.answer(
      caller,
      'snapshot',
      changes,
      { ...cursor, reading: isRead ? null : { nth, eventId, position } },
      true,
    );
  }

  /** A page of what the cursor has not told. */
  private async news(caller: Caller, cursor: Cursor, limit: number): Promise<ChangesPage> {
    const parts = untold(cursor);
    const column = (name: keyof (typeof parts)[0]) => parts.map((part) => part[name]);
    const values = [cursor.resources, column('xid'), column('seq'), column('before'), limit, json(cursor.anchor)];
    const news = ofPrimary(JSON.parse(await this.statements.one(caller, SQL.NEWS, values)) as News);
    if (news.generation !== cursor.generation || !news.isKept || news.isSwept) throw new GoneException();
    const logged = news.changes.slice(0, limit);
    const { changes, told } = await this.records(caller, merged(logged), logged.length);
    const isCut = told < news.changes.length;
    const next = after(cursor, news.changes[told - 1]?.[0], news.open, isCut);
    return this.answer(caller, 'changes', changes, next, isCut);
  }

  /**
   * The changes as texts, with their records as they are now.
   * @returns how many rows of the log they tell: where records are long, not all
   */
  private async records(caller: Caller, tellings: Told[], rows: number): Promise<{ changes: Json[]; told: number }> {
    const changes: Json[] = [];
    for (let [n, characters] = [0, 0]; n < tellings.length; n += SQL.RECORDS_AT_ONCE) {
      if (characters >= MAX_CHARACTERS) return { changes, told: tellings[n]?.first ?? 0 };
      const some = tellings.slice(n, n + SQL.RECORDS_AT_ONCE);
      const found = await this.found(caller, some);
      for (const telling of some) {
        const [record, remoteIds] = found.get(telling) ?? [null, null];
        characters += record?.length ?? 0;
        // A record that is gone is told by its deletion, which may stand on a later page.
        if (record === null && !telling.operations.includes('d')) continue;
        const isNew = telling.operations.includes('c');
        const operation = record === null ? 'deleted' : isNew ? 'created' : 'updated';
        const ids = record === null ? (json(telling.remoteIds) ?? '[]') : remoteIds;
        changes.push(changeText(telling, operation, telling.at, record, ids));
      }
    }
    return { changes, told: rows };
  }

  private async found(caller: Caller, tellings: Told[]): Promise<Map<Told, Record>> {
    const found = new Map<Told, Record>();
    for (const resource of new Set(tellings.map((telling) => telling.resource))) {
      const its = tellings.filter((telling) => telling.resource === resource);
      const keys = [its.map(({ eventId }) => eventId), its.map(({ id }) => id)];
      const rows = await this.statements.select<Record>(caller, SQL.RECORDS.get(resource.number)!, keys);
      for (const [n, row] of rows.entries()) found.set(its[n]!, row);
    }
    return found;
  }

  private async answer(
    { organizationId, keyId }: Caller,
    phase: ChangesPhase,
    changes: Json[],
    next: Cursor,
    hasMore: boolean,
  ): Promise<ChangesPage> {
    const secret = await this.secretOf({ organizationId, keyId });
    return { phase, changes, cursor: seal(next, organizationId, secret), hasMore };
  }

  /** The page as the API answers it. @throws as `page` does */
  async text(caller: Caller, query: ChangesQuery): Promise<Json[]> {
    const { phase, changes, cursor, hasMore } = await this.page(caller, query);
    const parts = changes.map((change, n) => (n === 0 ? change : `,${change}`));
    return [`{"phase":"${phase}","changes":[`, ...parts, `],"cursor":"${cursor}","hasMore":${hasMore}}`];
  }
}

const json = (value: object | null): Json | null => (value === null ? null : JSON.stringify(value));

/** Numbers in the order of the first reading. */
const numbersOf = (names: string[]): number[] =>
  FOLLOWED.filter(({ name }) => names.includes(name)).map(({ number }) => number);

/** @throws Overloaded on a standby, which has no log of its own */
function ofPrimary<T extends Log>(log: T): T & { generation: string } {
  if (log.generation === null) throw new Overloaded('A standby tells no changes');
  return log as T & { generation: string };
}

/** Each record once, in the order of their first changes. */
function merged(changes: Logged[]): Told[] {
  const tellings = new Map<string, Told>();
  for (const [n, [[number, , , at], operation, eventId, id, remoteIds]] of changes.entries()) {
    const key = [number, eventId, id].join();
    const before = tellings.get(key);
    tellings.set(key, {
      ...{ resource: byNumber.get(number) as Followed, eventId, id, at },
      operations: (before?.operations ?? '') + operation,
      remoteIds: remoteIds ?? before?.remoteIds ?? null,
      first: before?.first ?? n,
    });
  }
  return [...tellings.values()];
}

function changeText(
  { resource, eventId, id }: Pick<Told, 'resource' | 'eventId' | 'id'>,
  operation: ChangeOperation,
  at: string,
  record: Json | null,
  remoteIds: Json | null,
): Json {
  const { name, key } = resource;
  const keys = !key.eventId ? `"id":"${id}"` : key.id ? `"eventId":${eventId},"leadId":"${id}"` : `"id":${eventId}`;
  const ids = resource.remoteIds ? `,"remoteIds":${remoteIds}` : '';
  return `{"resource":"${name}",${keys},"operation":"${operation}","at":"${at}","record":${record}${ids}}`;
}
