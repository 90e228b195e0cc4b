import { GoneException, Injectable, Logger } from '@nestjs/common';
import type { Caller } from '../../http/pipeline/caller';
import { joined } from '../../http/pipeline/returns';
import { type JsonText, type Statement, Statements } from '../../data/database/statements';
import { InvalidRequest, Overloaded } from '../../errors/exceptions';
import { type ChangesQuery, DEFAULT_CHANGES } from './change.dto';
import type { ChangesPhase } from './change.response';
import * as SQL from './changes.sql';
import {
  advanceCursor,
  type Cursor,
  decodeCursor,
  decodePositions,
  type DecodedCursor,
  encodeCursor,
  encodePositions,
  type LastEmitted,
  MAX_CURSOR_LENGTH,
  pendingRanges,
} from './cursor';
import { type FeedResource, FeedResources } from './feed-resource';
import { type ChangedRecord, changeJson, type LogEntry, MAX_PAGE_BYTES, mergeByRecord, PageBuffer } from './page';

/** What the two phases of the feed read alike. */
interface PageContent {
  changes: JsonText[];
  hasMore: boolean;
  /** The newest change that the page may show. */
  newest: LastEmitted | null;
  /** As of when it was read. A page of a snapshot has no such moment, because it is not complete. */
  readAt: LogMoment | null;
}

/** A page of the feed. */
export interface ChangesPage extends PageContent {
  phase: ChangesPhase;
  cursor: string;
}

/** A page that was read, and the cursor of the next one. */
type ReadPage = PageContent & { nextCursor: Cursor };

/** As of when the log was read. */
interface LogMoment {
  generation: string;
  /** The snapshot of PostgreSQL under which it was read. */
  snapshot: string;
}

/** The state of the log. */
interface LogState extends LogMoment {
  /** The identity of this database. */
  database: string;
  /** Whether the log says that another database wrote it. */
  isForeign: boolean;
  /** The key of cursors, as hexadecimal digits. */
  secret: string;
  /** The transaction number that is assigned next, or one that was assigned a moment ago. */
  nextXid: number;
  /** The numbers of the open transactions, whose changes nobody sees yet. */
  openTransactions: number[];
}

interface LogStatus extends LogState {
  /** The newest change of the resources in question. */
  newest: LastEmitted | null;
}

interface PendingChanges extends LogState {
  /** Whether the change that the cursor emitted last is still in the log. */
  isKept: boolean;
  /** Whether changes were pruned that the cursor has not emitted. */
  isPruned: boolean;
  entries: LogEntry[];
}

/** The texts of a record and of its remote IDs, as JSON. */
type RecordRow = [record: string | null, remoteIds: string | null];
type SnapshotRow = [...RecordRow, eventId: string | null, id: string | null, position: string, parentId: string | null];

/** Logged when this database takes over the change log of another one. */
export const LOG_CLAIMED =
  'The change log was written in another database, from which this one was restored or copied. ' +
  'Existing cursors have expired, and webhooks are paused until you run "webhooks resume".';

/** Thrown for a cursor that another database created. */
export class ForeignCursor extends GoneException {}

/** The change feed (docs/decisions/0020). */
@Injectable()
export class ChangesService {
  private readonly logger = new Logger('Changes');
  private readonly recordsByKey: ReadonlyMap<FeedResource, Statement>;
  private readonly snapshotPages: ReadonlyMap<FeedResource, Statement>;
  private secret?: Buffer;

  constructor(
    private readonly statements: Statements,
    readonly resources: FeedResources,
  ) {
    this.recordsByKey = new Map(resources.all.map((resource) => [resource, SQL.recordsByKey(resource)]));
    this.snapshotPages = new Map(resources.all.map((resource) => [resource, SQL.snapshotPage(resource)]));
  }

  /** A cursor that begins now, with a snapshot unless `since` skips it. */
  async start(caller: Caller, query: Pick<ChangesQuery, 'resources' | 'since'>): Promise<string> {
    return this.encode(caller, await this.startCursor(caller, query));
  }

  /** Invalidates the cursors of all organizations. @returns the new generation of the log */
  async reset(): Promise<number> {
    return Number((await this.statements.selectOne({ organizationId: 0, keyId: '' }, SQL.RESET, [])).text);
  }

  /** A page as JSON text, in parts. @throws as `page` does */
  async pageJson(caller: Caller, query: ChangesQuery): Promise<string[]> {
    const { phase, changes, cursor, hasMore } = await this.page(caller, query);
    return [`{"phase":"${phase}","changes":[`, ...joined(changes), `],"cursor":"${cursor}","hasMore":${hasMore}}`];
  }

  /**
   * @throws InvalidRequest
   * @throws GoneException when the log no longer has what comes after the cursor, or the cursor is of another database
   */
  async page(caller: Caller, query: Partial<ChangesQuery>, maxBytes = MAX_PAGE_BYTES): Promise<ChangesPage> {
    const { since, resources, limit = DEFAULT_CHANGES } = query;
    if (query.cursor !== undefined && since !== undefined) throw new InvalidRequest('query since', 'conflict');
    if (resources && !this.resources.hasNames(resources)) throw new InvalidRequest('query resources', 'format');
    const cursor =
      query.cursor === undefined ? await this.startCursor(caller, query) : await this.parseCursor(caller, query.cursor);
    const hasOtherResources = resources && this.resources.numbersOf(resources).join() !== cursor.resources.join();
    if (hasOtherResources) throw new InvalidRequest('query resources', 'conflict');
    const isSnapshot = cursor.snapshotProgress !== null;
    const buffer = new PageBuffer(maxBytes);
    const { nextCursor, ...content } = isSnapshot
      ? await this.readSnapshot(caller, cursor, buffer, limit)
      : await this.readChanges(caller, cursor, buffer, limit);
    return { phase: isSnapshot ? 'snapshot' : 'changes', ...content, cursor: await this.encode(caller, nextCursor) };
  }

  /** A cursor after everything that exists by now, with a snapshot of it unless `since` skips that. */
  private async startCursor(
    caller: Caller,
    { since, resources = [...this.resources.names] }: Pick<ChangesQuery, 'since' | 'resources'>,
  ): Promise<Cursor> {
    const numbers = this.resources.numbersOf(resources);
    const log = await this.logStatus(caller, numbers);
    const beginning: Cursor = {
      database: log.database,
      generation: log.generation,
      resources: numbers,
      openTransactions: [],
      position: [0, 0],
      lastEmitted: null,
      snapshotProgress: null,
    };
    const cursor = advanceCursor(beginning, log.newest ?? undefined, log.openTransactions, false);
    if (since) return cursor;
    return { ...cursor, snapshotProgress: { nth: 0, eventId: 0, position: -1, at: new Date().toISOString() } };
  }

  private logStatus(caller: Caller, resources: number[]): Promise<LogStatus> {
    return this.readLog<LogStatus>(caller, SQL.LOG_STATUS, [rowsOf(resources)]);
  }

  /**
   * Reads a log that this database has written. A log of another database is taken over first.
   * @throws Overloaded on a standby and during a restore, where there is no log to continue, and while a foreign log is deleted
   */
  private async readLog<T extends LogStatus | PendingChanges>(
    caller: Caller,
    statement: Statement,
    values: unknown[],
  ): Promise<T> {
    for (;;) {
      const log = JSON.parse(await this.statements.selectOne(caller, statement, values)) as T;
      if ((log.generation as string | null) === null)
        throw new Overloaded('This database has no change log of its own');
      this.secret = Buffer.from(log.secret, 'hex');
      const newest = 'entries' in log ? log.entries.at(-1)?.[0] : log.newest;
      const isFromFuture = newest ? newest[1] >= log.nextXid : false;
      if (!log.isForeign && !isFromFuture) return log;
      const { text: outcome } = await this.statements.selectOne(caller, SQL.CLAIM, [
        SQL.CLAIM_BATCH_SIZE,
        isFromFuture,
      ]);
      if (outcome === 'partial') throw new Overloaded('The change log of another database is being deleted');
      if (outcome === 'claimed') this.logger.warn({ message: LOG_CLAIMED });
    }
  }

  private async encode(caller: Caller, cursor: Cursor): Promise<string> {
    const secret = await this.loadSecret(caller);
    const text = encodeCursor(cursor, caller.organizationId, secret);
    if (text.length <= MAX_CURSOR_LENGTH) return text;
    const { hash, positions } = encodePositions(cursor.openTransactions);
    await this.statements.selectJson(caller, SQL.STORE_POSITIONS, [hash, positions]);
    return encodeCursor({ ...cursor, openTransactions: [], stored: hash }, caller.organizationId, secret);
  }

  /** @throws InvalidRequest, GoneException */
  private async parseCursor(caller: Caller, text: string): Promise<Cursor> {
    const { stored, ...cursor } = await this.decode(caller, text);
    // An extension that this server no longer has may have added a resource that the cursor follows.
    if (!cursor.resources.every((number) => this.resources.byNumber.has(number))) throw new GoneException();
    if (!stored) return cursor;
    const [positions] = await this.statements.selectJson(caller, SQL.LOAD_POSITIONS, [stored]);
    if (positions === undefined) throw new GoneException();
    return { ...cursor, openTransactions: decodePositions(positions.text) };
  }

  private async decode(caller: Caller, text: string): Promise<DecodedCursor> {
    // A different secret means a different database: it may have been restored while the server was running.
    for (const secret of [this.secret, undefined]) {
      this.secret = secret;
      const cursor = decodeCursor(text, caller.organizationId, await this.loadSecret(caller));
      if (cursor) return cursor;
    }
    throw new ForeignCursor();
  }

  private async loadSecret(caller: Caller): Promise<Buffer> {
    this.secret ??= Buffer.from((await this.statements.selectOne(caller, SQL.SECRET, [])).text, 'hex');
    return this.secret;
  }

  /** Reads existing records, resource by resource. */
  private async readSnapshot(caller: Caller, cursor: Cursor, buffer: PageBuffer, limit: number): Promise<ReadPage> {
    const log = await this.logStatus(caller, cursor.resources);
    requireSameLog(cursor, log);
    const { changes } = buffer;
    const progress = { ...cursor.snapshotProgress! };
    const page = { changes, hasMore: true, newest: log.newest, readAt: null };
    while (progress.nth < cursor.resources.length && changes.length < limit) {
      const resource = this.resources.byNumber.get(cursor.resources[progress.nth]!)!;
      const count = Math.min(limit - changes.length, buffer.batchSize);
      const values = [count, progress.position, progress.eventId || firstParentId(resource)];
      const statement = this.snapshotPages.get(resource)!;
      const rows = await this.statements.selectRows<SnapshotRow>(caller, statement, values);
      for (const [record, remoteIds, eventId, id, position, parentId] of rows) {
        const key = { resource, eventId, id };
        if (!buffer.add(changeJson(key, 'snapshot', progress.at, record, remoteIds))) {
          return { ...page, nextCursor: { ...cursor, snapshotProgress: progress } };
        }
        progress.position = Number(position);
        progress.eventId = resource.parent?.type === 'uuid' ? parentId! : Number(parentId);
      }
      if (rows.length < count) Object.assign(progress, { nth: progress.nth + 1, position: -1, eventId: 0 });
    }
    const isComplete = progress.nth === cursor.resources.length;
    return { ...page, nextCursor: { ...cursor, snapshotProgress: isComplete ? null : progress } };
  }

  /** Reads the changes that the cursor has not emitted: each record once, as it is now. */
  private async readChanges(caller: Caller, cursor: Cursor, buffer: PageBuffer, limit: number): Promise<ReadPage> {
    const values = [rowsOf(cursor.resources), JSON.stringify(pendingRanges(cursor)), toJson(cursor.lastEmitted)];
    const log = await this.readLog<PendingChanges>(caller, SQL.pendingChangesFor(limit), values);
    requireSameLog(cursor, log);
    if (!log.isKept || log.isPruned) throw new GoneException();
    const entries = log.entries.slice(0, limit);
    const left = await this.addRecords(caller, buffer, mergeByRecord(entries, this.resources));
    const emitted = left?.firstEntry ?? entries.length;
    const hasMore = emitted < log.entries.length;
    const newest = log.entries[emitted - 1]?.[0];
    return {
      changes: buffer.changes,
      hasMore,
      newest: newest ?? null,
      readAt: { generation: log.generation, snapshot: log.snapshot },
      nextCursor: advanceCursor(cursor, newest, log.openTransactions, hasMore),
    };
  }

  /** @returns the first record that there was no room for */
  private async addRecords(
    caller: Caller,
    buffer: PageBuffer,
    records: ChangedRecord[],
  ): Promise<ChangedRecord | undefined> {
    for (let n = 0; n < records.length; n += buffer.batchSize) {
      const batch = records.slice(n, n + buffer.batchSize);
      const rows = await this.loadRecords(caller, batch);
      for (const changed of batch) {
        const [record, remoteIds] = rows.get(changed)!;
        const { at, operations } = changed;
        // A deleted record is emitted with its deletion entry, which may be on a later page.
        if (record === null && !operations.includes('d')) continue;
        const operation = operationOf(operations, record);
        const ids = record === null ? (toJson(changed.remoteIds) ?? '[]') : remoteIds;
        if (!buffer.add(changeJson(changed, operation, at, record, ids))) return changed;
      }
    }
    return undefined;
  }

  private async loadRecords(caller: Caller, records: ChangedRecord[]): Promise<Map<ChangedRecord, RecordRow>> {
    const rowsByRecord = new Map<ChangedRecord, RecordRow>();
    for (const resource of new Set(records.map((changed) => changed.resource))) {
      const ofResource = records.filter((changed) => changed.resource === resource);
      const keys = [ofResource.map(({ eventId }) => eventId), ofResource.map(({ id }) => id)];
      const rows = await this.statements.selectRows<RecordRow>(caller, this.recordsByKey.get(resource)!, keys);
      for (const [n, row] of rows.entries()) rowsByRecord.set(ofResource[n]!, row);
    }
    return rowsByRecord;
  }
}

const rowsOf = (numbers: number[]): string => JSON.stringify(numbers.map((number) => ({ number })));

/** A parent's ID that is not after any other. */
const firstParentId = ({ parent }: FeedResource): number | string =>
  parent?.type === 'uuid' ? '00000000-0000-0000-0000-000000000000' : 0;

const toJson = (value: object | null): string | null => (value === null ? null : JSON.stringify(value));

/** @param operations of the record's log entries; a record that was created and updated is new to the client */
function operationOf(operations: string, record: string | null): string {
  if (record === null) return 'deleted';
  return operations.includes('c') ? 'created' : 'updated';
}

/** @throws GoneException unless the log is the one that the cursor was created with */
function requireSameLog(cursor: Cursor, { database, generation }: LogState): void {
  if (cursor.database !== database) throw new ForeignCursor();
  if (cursor.generation !== generation) throw new GoneException();
}
