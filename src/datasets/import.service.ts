import { Injectable } from '@nestjs/common';
import { DataSource, type EntityManager } from 'typeorm';
import { hasSqlState } from '../database/errors';
import { CATALOGUE, lockOrganization } from '../database/locks';
import { CHANGED_SINCE_CHECKED } from '../errors/sql-states';
import { Checks } from './checks';
import { type Counts, Datasets, type Records } from './dataset';
import { ofObject } from './dataset-file';
import { Faults, ImportFault } from './faults';
import { lockStatements } from './list-locks';
import { type Given, movesOf, WHOLE } from './write-statements';
import { type Outcome, Outcomes } from './outcomes';
import { RecordReader } from './record-reader';
import { BATCH, Stage } from './stage';
import { type Table, tablesOf } from './tables';

export interface ImportResult {
  /** records read */
  imported: Counts;
  /** what became of them, of each section that the file has */
  outcomes: Record<string, Outcome>;
  /** id of every event of the dataset, by its ref; null where a dry run would have made it */
  events: Record<string, number | null>;
}

export interface ImportOptions {
  /** called with the number of records read so far, once a batch */
  onProgress?: (records: number) => void;
  /** called when all is written, and PostgreSQL is about to store it for good */
  onWritten?: () => void;
  /** what of each record the file has */
  given?: Given;
  /** what the reader of the records has found at fault already */
  faults?: Faults;
  /** called with what is written, as an export would write the first records, in place of storing it */
  dryRun?: (first: string[]) => void;
}

/** The tables that fill themselves as those of the entities are filled. */
const KEPT_BY_TRIGGERS = ['lists', 'list_counts'];

const MAX_ATTEMPTS = 4;

type Written = Pick<ImportResult, 'outcomes' | 'events'>;

/** Undoes what a dry run has written. */
class DryRun extends Error {
  constructor(readonly written: Written) {
    super('dry run');
  }
}

/** Reads a dataset into an organization: all of it, or nothing. */
@Injectable()
export class ImportService {
  constructor(
    private readonly dataSource: DataSource,
    private readonly datasets: Datasets,
  ) {}

  /** A dataset as one object. */
  import(organizationId: number, dataset: object): Promise<ImportResult> {
    const faults = new Faults();
    return this.importRecords(organizationId, ofObject(dataset, this.datasets, faults), { faults });
  }

  /**
   * Records one by one, in constant memory. They are read, checked and staged while nothing is locked; one transaction
   * then writes them all.
   * @throws ImportFault that names the places of all faults: of records as such, and of what they refer to
   */
  async importRecords(organizationId: number, records: Records, options: ImportOptions = {}): Promise<ImportResult> {
    const { onProgress = () => undefined, given = WHOLE, faults = new Faults() } = options;
    // One connection holds the staged tables: that of a transaction under way, or another.
    const runner = this.dataSource.createQueryRunner();
    const { manager } = runner;
    try {
      const tables = tablesOf(this.dataSource, this.datasets);
      const stage = new Stage(manager, tables);
      await stage.create();
      const reader = new RecordReader(this.datasets, given, faults);
      await this.read(reader, stage, records, onProgress, faults);
      await stage.complete(organizationId, given);
      const filled = tables.filter(({ section }) => Number(reader.counts[section]) > 0);
      const imported = await stage.count(filled, reader.counts, given);
      const context = { manager, organizationId, tables: filled, given, faults, faulty: reader.faulty, stage };
      const written = await this.write(context, imported, options);
      // Running servers made their plans for the tables as they were; this lets them make new ones. It has succeeded without.
      const names = [...filled.map(({ name }) => name), ...KEPT_BY_TRIGGERS].join(', ');
      const count = Object.values(imported).reduce((sum, each) => sum + each, 0);
      if (count >= BATCH && !options.dryRun) await manager.query(`analyze ${names}`).catch(() => undefined);
      return { imported, ...written };
    } finally {
      await runner.release();
    }
  }

  /** What ends the reading is one fault among others. */
  private async read(
    reader: RecordReader,
    stage: Stage,
    records: Records,
    onProgress: (records: number) => void,
    faults: Faults,
  ): Promise<void> {
    try {
      let read = 0;
      for await (const unchecked of records) {
        const placed = reader.checked(unchecked);
        if (placed) await stage.add(placed);
        if (++read % BATCH === 0) onProgress(read);
      }
      onProgress(read);
    } catch (error) {
      if (!(error instanceof ImportFault)) throw error;
      faults.add(...error.faults.map((fault) => ({ ...fault, order: fault.line ?? Infinity })));
    }
  }

  private async write(context: WriteContext, imported: Counts, options: ImportOptions): Promise<Written> {
    const { manager, organizationId, tables, given, faulty } = context;
    const checks = new Checks(manager, organizationId, this.datasets, given);
    for (let attempt = 1; ; attempt++) {
      const faults = attempt === 1 ? context.faults : new Faults();
      await checks.all(tables, faulty, faults);
      faults.throwIfAny();
      try {
        return await manager.transaction((writer) => this.writeOnce(writer, context, imported, options));
      } catch (error) {
        if (error instanceof DryRun) return error.written;
        // Others changed what the checks saw. They run again, and name what is invalid now.
        if (attempt === MAX_ATTEMPTS || !hasSqlState(error, CHANGED_SINCE_CHECKED)) throw error;
      }
    }
  }

  private async writeOnce(
    writer: EntityManager,
    { organizationId, tables, given, stage }: WriteContext,
    imported: Counts,
    { onWritten = () => undefined, dryRun }: ImportOptions,
  ): Promise<Written> {
    await lockOrganization(writer, organizationId);
    if (tables.some(({ isShared }) => isShared)) await lockOrganization(writer, CATALOGUE);
    for (const sql of lockStatements(tables)) await writer.query(sql, parametersOf(sql, organizationId));
    await stage.match(organizationId, given);
    const outcomes = new Outcomes(writer, organizationId, tables);
    await outcomes.begin();
    for (const sql of movesOf(tables, given)) await writer.query(sql, parametersOf(sql, organizationId));
    const shown = new Faults();
    await new Checks(writer, organizationId, this.datasets, given).shown(tables, shown);
    shown.throwIfAny();
    const events = await idsOf(writer, organizationId, tables);
    const written = { outcomes: await outcomes.end(imported), events };
    if (!dryRun) {
      onWritten();
      return written;
    }
    dryRun(given.isPart ? await outcomes.first() : []);
    const stored = Object.keys(events).length > 0 ? await outcomes.storedKeys('events') : new Set();
    for (const ref of Object.keys(events)) if (!stored.has(ref)) events[ref] = null;
    throw new DryRun(written);
  }
}

/** PostgreSQL rejects a parameter that the statement does not use. */
const parametersOf = (sql: string, organizationId: number): number[] => (sql.includes('$1') ? [organizationId] : []);

interface WriteContext {
  manager: EntityManager;
  organizationId: number;
  /** those that the file fills */
  tables: Table[];
  given: Given;
  faults: Faults;
  /** sections of which not all records are staged */
  faulty: ReadonlySet<string>;
  stage: Stage;
}

/** The ids of events, which the database numbered, by the refs by which the file names them. */
async function idsOf(
  manager: EntityManager,
  organizationId: number,
  tables: Table[],
): Promise<Record<string, number | null>> {
  const events = Object.create(null) as Record<string, number | null>; // a ref may be `__proto__`
  if (!tables.some(({ section }) => section === 'events')) return events;
  const rows = await manager.query<{ ref: string; id: string }[]>(
    'select ref, id from events where organization_id = $1 and ref in (select ref from staged_events)',
    [organizationId],
  );
  for (const { ref, id } of rows) events[ref] = Number(id);
  return events;
}
