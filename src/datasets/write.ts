import type { EntityManager } from 'typeorm';
import { CATALOG, lockImports } from '../database/locks';
import type { Checks } from './check';
import type { Counts } from './dataset';
import type { ImportPlan } from './import-plan';
import { lockLists, runStatements } from './list-locks';
import { type Outcome, OutcomeCounter } from './outcomes';
import type { Stage } from './stage';
import type { Table } from './tables';
import { ADVANCE_LISTS, CREATE_RESERVED_TABLE, type Reservation, writeStatements } from './write-statements';

/** The staged records of one import. */
export interface StagedImport {
  organizationId: number;
  /** The tables that the file fills. */
  tables: Table[];
  imported: Counts;
  plan: ImportPlan;
  stage: Stage;
  isDryRun: boolean;
}

/** What became of the records. */
export interface Written {
  outcomes: Record<string, Outcome>;
  ids: Record<string, Record<string, number | null>>;
  preview: string[];
}

/** So many records are written in 0.3 s, under the locks of their lists, and leave no positions unused. */
const MAX_LOCKED_RECORDS = 1000;

/** Positions that are left to others for each record: more than they can add to a list while it is written. */
const MARGIN_PER_RECORD = 16;

const atReservedPositions = (isOn: boolean): string =>
  `select set_config('lanyard.at_reserved_positions', '${isOn ? 'on' : 'off'}', true)`;

/** Others have added rows that records match for which this import has written new ones. Repeated, it finds them. */
export class MatchedMeanwhile extends Error {}

/** Writes all staged records in one transaction. docs/decisions/0025 says why in this way. */
export class Write {
  private readonly shared: Table[];
  private readonly own: Table[];

  constructor(
    private readonly transaction: EntityManager,
    private readonly staged: StagedImport,
    private readonly checks: Checks,
  ) {
    this.shared = staged.tables.filter(({ isShared }) => isShared);
    this.own = staged.tables.filter(({ isShared }) => !isShared);
  }

  /** @param maySkipLocks whether many records may be written before their lists are locked */
  async write(maySkipLocks: boolean): Promise<Written> {
    const { organizationId, tables, imported } = this.staged;
    await lockImports(this.transaction, organizationId);
    if (this.shared.length > 0) await lockImports(this.transaction, CATALOG);
    for (const references of this.staged.plan.newReferences) await references.create(this.transaction);
    const sections = new Set(this.own.map(({ section }) => section));
    const count = [...sections].reduce((sum, section) => sum + (imported[section] ?? 0), 0);
    if (!maySkipLocks || count <= MAX_LOCKED_RECORDS) return this.writeLocked(tables, imported);
    return this.writeAtReserved({ margin: count * MARGIN_PER_RECORD });
  }

  /** Locks the lists, and then writes. */
  private async writeLocked(tables: Table[], imported: Counts): Promise<Written> {
    const { organizationId, stage } = this.staged;
    await lockLists(this.transaction, organizationId, tables);
    await stage.matchStoredRows();
    return this.writeRows(tables, imported);
  }

  /** Writes while others go on, and then locks the lists, so that the rows are at their ends when they become visible. */
  private async writeAtReserved(reservation: Reservation): Promise<Written> {
    const { organizationId, stage, imported } = this.staged;
    const position = await this.nextPosition();
    await stage.matchStoredRows();
    await this.transaction.query(CREATE_RESERVED_TABLE);
    await this.transaction.query(atReservedPositions(true));
    let written = await this.writeRows(this.own, imported, reservation);
    await this.transaction.query(atReservedPositions(false));
    // Nobody else of the organization has to wait while the shared rows are written.
    if (this.shared.length > 0) written = joinWritten(written, await this.writeLocked(this.shared, imported));
    await lockLists(this.transaction, organizationId, this.own);
    await this.transaction.query(ADVANCE_LISTS, [organizationId]);
    if (await stage.matchesAddedRows(position)) throw new MatchedMeanwhile();
    return written;
  }

  private async writeRows(tables: Table[], imported: Counts, reservation?: Reservation): Promise<Written> {
    const { organizationId, plan, isDryRun } = this.staged;
    const outcomes = new OutcomeCounter(this.transaction, organizationId, tables);
    await outcomes.recordBefore();
    if (reservation) await outcomes.lockStoredRows();
    await runStatements(this.transaction, organizationId, writeStatements(tables, plan, reservation));
    await this.checks.checkReadOnlyFields(tables);
    return {
      outcomes: await outcomes.compareAfter(imported),
      ids: await outcomes.reportedIds(isDryRun),
      preview: isDryRun && plan.isPartial ? await outcomes.preview() : [],
    };
  }

  /** The position of the next row that others add to the list of the file's first table. */
  private async nextPosition(): Promise<string> {
    const [row] = await this.transaction.query<{ position: string }[]>(
      'select next_position as position from lists where organization_id = $1 and list = $2',
      [this.staged.organizationId, this.own[0]?.name],
    );
    return row?.position ?? '0';
  }
}

/** Each section is written in one of the two parts. */
const joinWritten = (one: Written, other: Written): Written => ({
  outcomes: { ...one.outcomes, ...other.outcomes },
  ids: { ...one.ids, ...other.ids },
  preview: [...one.preview, ...other.preview],
});
