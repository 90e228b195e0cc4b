import { isDeepStrictEqual } from 'node:util';
import type { EntityManager } from 'typeorm';
import type { AuditedImport } from '../../access/audited-imports';
import { CATALOG, lockOrganization } from '../../data/database/locks';
import { runStatement, WHOLE_RECORDS } from './import-plan';
import { recordJson } from './record-sql';
import type { Stage } from './stage';
import { isVisible, type Table } from './tables';
import { type LeftField, type LeftReason, type Move, RecordMerge } from './undo-merge';
import { Obstacles } from './undo-obstacles';
import { ADD_OUTCOMES, UNDONE, type UndoStatements } from './undo-statements';
import { inUndoTransaction, UNDO_BATCH_SIZE } from './undo-transaction';
import { SMALL_SAMPLE, writeStatements } from './write-statements';

/** A record that an import has changed, as it was and as the import wrote it. */
export interface BeforeRecord {
  section: string;
  record: object;
  written: object;
}

/** What may no longer be in the way when the records are deleted that the import created. */
const TEMPORARY: ReadonlySet<LeftReason> = new Set(['inUse', 'taken']);
/** How many records are kept in memory to be tried again; more need another undo. */
const MAX_POSTPONED = 10_000;

interface MergedRecord {
  change: BeforeRecord;
  key: string;
  /** Undefined if the record is gone. */
  current?: object;
  merged?: object;
  left: (Omit<LeftField, 'field'> & { field: string | null })[];
}

/** Brings back the records that an import has changed, in batches of one section each. */
export class Restoration {
  /** Records that are tried again, because what is in their way may be brought back or deleted later. */
  private readonly postponed: BeforeRecord[] = [];
  private readonly obstacles: Obstacles;

  /** @param stage takes the records to write; undefined in a dry run */
  constructor(
    private readonly manager: EntityManager,
    private readonly audited: AuditedImport,
    private readonly tables: Table[],
    statements: UndoStatements,
    private readonly stage?: Stage,
  ) {
    this.obstacles = new Obstacles(manager, audited.organizationId, statements);
  }

  async restoreAll(changes: AsyncIterable<BeforeRecord>, onProgress: (records: number) => void): Promise<void> {
    let batch: BeforeRecord[] = [];
    let count = 0;
    for await (const change of changes) {
      if (batch.length === UNDO_BATCH_SIZE || (batch[0] && batch[0].section !== change.section)) {
        await this.restore(batch);
        batch = [];
        onProgress(count);
      }
      batch.push(change);
      count++;
    }
    await this.restore(batch);
  }

  /** Tries the postponed records again, when the records are deleted that the import created. */
  async restorePostponed(): Promise<void> {
    for (const change of this.postponed) await this.restore([change], true);
  }

  private async restore(batch: BeforeRecord[], isLastAttempt = false): Promise<void> {
    const main = this.tables.find(({ section, list }) => section === batch[0]?.section && !list);
    if (!main) return;
    const work = () => this.mergeAndWrite(main, batch);
    const merged = this.stage ? await inUndoTransaction(this.manager, this.audited, work) : await work();
    const outcomes = merged.flatMap(({ change, key, current, merged, left }) => {
      const restored = isDeepStrictEqual(current, merged) ? [] : [{ key, outcome: UNDONE }];
      const mayPostpone = !isLastAttempt && this.postponed.length < MAX_POSTPONED;
      if (!mayPostpone || !left.some(({ reason }) => TEMPORARY.has(reason))) {
        return [...restored, ...left.map(({ field, reason }) => ({ key, field, outcome: reason }))];
      }
      this.postponed.push(change);
      return restored;
    });
    const rows = outcomes.map((outcome) => ({ resource: main.section, ...outcome }));
    await this.manager.query(ADD_OUTCOMES, [JSON.stringify(rows)]);
  }

  private async mergeAndWrite(main: Table, batch: BeforeRecord[]): Promise<MergedRecord[]> {
    if (this.stage && main.isShared) await lockOrganization(this.manager, CATALOG);
    const keyOf = (record: object): string => String((record as Record<string, unknown>)[main.dataset.key]);
    // What the import has moved may return or leave; which of that is possible is found out for all records at once.
    const moves = batch.flatMap(({ record: former, written }) => {
      const possible: Move[] = [];
      new RecordMerge(main, (move) => void possible.push(move)).merge({ former, written, current: written });
      return possible.map((move) => ({ ...move, record: keyOf(written) }));
    });
    const obstacleOf = await this.obstacles.find(main, moves);
    const currentByKey = await this.readCurrent(
      main,
      batch.map(({ written }) => keyOf(written)),
    );
    const records = batch.map((change): MergedRecord => {
      const key = keyOf(change.written);
      const current = currentByKey.get(key);
      if (!current) return { change, key, left: [{ field: null, reason: 'deleted' }] };
      const merge = new RecordMerge(main, (move) => obstacleOf({ ...move, record: key }));
      const merged = merge.merge({ former: change.record, written: change.written, current });
      return { change, key, current, merged, left: merge.left };
    });
    const changed = records.filter(({ current, merged }) => !isDeepStrictEqual(current, merged));
    await (this.stage ? this.write(main, changed, this.stage) : this.obstacles.remember(main, changed));
    return records;
  }

  /** The stored records, which nobody else can change until the end of the transaction. */
  private async readCurrent(main: Table, keys: string[]): Promise<Map<string, object>> {
    const { name, key, columns } = main;
    const type = columns.find((column) => column.name === key)?.type;
    const rows = `${name} t where ${isVisible(main)} and t.${key} = any($2::${type}[])`;
    const values = [this.audited.organizationId, keys];
    const parameters = main.isShared ? ' and $1::integer is not null' : '';
    if (this.stage) {
      await this.manager.query(`select from ${rows}${parameters} order by t.${key} for update of t`, values);
    }
    const stored = await this.manager.query<{ key: string; record: string }[]>(
      `select t.${key}::text as key, ${recordJson(main, 't')} as record from ${rows}${parameters}`,
      values,
    );
    return new Map(stored.map((row) => [row.key, JSON.parse(row.record) as object]));
  }

  private async write(main: Table, changed: MergedRecord[], stage: Stage): Promise<void> {
    if (changed.length === 0) return;
    const tables = [main, ...main.lists];
    const stages = tables.map((table) => table.stage).join(', ');
    await this.manager.query(`truncate ${stages}`);
    for (const [index, { merged: record }] of changed.entries()) {
      stage.enqueue({ location: { section: main.section, index }, record, issues: [] });
    }
    await stage.settle();
    await this.manager.query(`${SMALL_SAMPLE}; analyze ${stages}`);
    const connection = { organizationId: this.audited.organizationId, manager: this.manager };
    for (const statement of writeStatements(tables, WHOLE_RECORDS)) await runStatement(connection, statement);
  }
}
