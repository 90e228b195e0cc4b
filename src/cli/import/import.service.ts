import { setImmediate } from 'node:timers/promises';
import type { PoolClient } from 'pg';
import { type EntityManager, QueryFailedError } from 'typeorm';
import { lockOrganization } from '../../database/locks';
import { SectionName, SECTIONS } from './dataset';
import { ImportFault } from './import-fault';
import { stageAssociations } from './import.leads';
import { BATCH, ImportResult, ImportRun } from './import.run';
import { quoted } from '../terminal/quoted';

/** A record as it was read, and where. */
export interface UncheckedRecord {
  section: SectionName;
  record: unknown;
  /** of the file, from 1 */
  line?: number;
}

type OnProgress = (records: number) => void;

/**
 * Where records come from that depend on what is stored: to ask for it, the import's own transaction, in which nothing is
 * being written at that moment.
 */
export type Asking = (transaction: () => Promise<EntityManager>) => AsyncIterable<UncheckedRecord>;

/** For how long nothing comes before PostgreSQL ends an import: whoever feeds it is gone, and others wait for what it holds. */
const STANDS_STILL = '10 min';

/** So many are read, about half a millisecond, before what else happened is looked at. */
const RECORDS_AT_A_STRETCH = 8;

/** The tables that fill themselves as those of the entities are filled. */
const KEPT_BY_TRIGGERS = ['lists', 'list_counts'];

/** Reads a dataset into an organization: all of it, or nothing. */
export class ImportService {
  /** Told when all is written, and PostgreSQL is about to store it for good. */
  onWritten: () => void = () => undefined;
  /** Told what is imported as soon as it is stored for good, whatever happens after. */
  onCommit: (result: ImportResult) => void = () => undefined;

  constructor(private readonly manager: EntityManager) {}

  /**
   * A dataset as one object.
   * @param onProgress told the number of records read so far, once a batch
   * @throws ImportFault that names the place of the first fault
   */
  import(organizationId: number, dataset: object, onProgress?: OnProgress): Promise<ImportResult> {
    return this.importRecords(organizationId, recordsOf(dataset), onProgress);
  }

  /**
   * A dataset as lines of NDJSON, `{"section": …, "record": …}` each, in constant memory.
   * @param onProgress told the number of records read so far, once a batch
   * @throws ImportFault that names the line and the place of the first fault
   */
  importLines(organizationId: number, lines: AsyncIterable<string>, onProgress?: OnProgress): Promise<ImportResult> {
    return this.importRecords(organizationId, parsed(lines), onProgress);
  }

  /**
   * Records one by one, in constant memory; what one refers to comes before it.
   * @param records the first is asked for when no other import of the organization is under way
   * @param onProgress told the number of records read so far, once a batch
   * @throws ImportFault that names the line and the place of the first fault
   */
  importRecords(
    organizationId: number,
    records: AsyncIterable<UncheckedRecord> | Asking,
    onProgress: OnProgress = () => undefined,
  ): Promise<ImportResult> {
    return this.inOneTransaction(organizationId, async (run) => {
      let read = 0;
      const all = typeof records === 'function' ? records(() => run.transaction()) : records;
      for await (const { section, record, line } of all) {
        // PostgreSQL may have written a part of the batch before, and waits for the next one.
        if (read % RECORDS_AT_A_STRETCH === 0) await setImmediate();
        await run.add(section, record, line);
        if (++read % BATCH === 0) onProgress(read);
      }
      onProgress(read);
    });
  }

  private async inOneTransaction(
    organizationId: number,
    read: (run: ImportRun) => Promise<void>,
  ): Promise<ImportResult> {
    const result = await inTransaction(this.manager, async (manager) => {
      // What a batch finds stored must still be so when it is written, so imports of an organization take turns.
      await lockOrganization(manager, organizationId);
      await manager.query(`set local idle_in_transaction_session_timeout = '${STANDS_STILL}'`);
      await stageAssociations(manager);
      const run = new ImportRun(manager, organizationId);
      await read(run).catch((error: unknown) => run.giveUp(error));
      const finished = await run.finish();
      this.onWritten();
      return finished;
    });
    this.onCommit(result);
    // Running servers made their plans for the tables as they were; this lets them make new ones.
    const records = Object.values(result.imported).reduce((sum, count) => sum + count, 0);
    if (records >= BATCH) {
      const tables = this.manager.dataSource.entityMetadatas.map(({ tableName }) => tableName);
      await this.manager.query(`analyze ${[...tables, ...KEPT_BY_TRIGGERS].join(', ')}`);
    }
    return result;
  }
}

/** Does work in a transaction, as long as its connection is there: what the work waits for may never come. */
async function inTransaction<T>(manager: EntityManager, work: (manager: EntityManager) => Promise<T>): Promise<T> {
  const runner = manager.queryRunner ?? manager.dataSource.createQueryRunner();
  const connection = (await runner.connect()) as PoolClient;
  let lose: (error: Error) => void = () => undefined;
  const loss = new Promise<never>(
    (_, reject) => (lose = (error) => reject(new QueryFailedError('', undefined, error))),
  );
  loss.catch(() => undefined); // it may come before the work waits for it
  connection.once('error', lose);
  try {
    return await runner.manager.transaction((begun) => Promise.race([loss, work(begun)]));
  } finally {
    connection.off('error', lose);
    if (runner !== manager.queryRunner) await runner.release();
  }
}

const isSection = (name: unknown): name is SectionName => SECTIONS.includes(name as SectionName);

async function* recordsOf(dataset: object): AsyncGenerator<UncheckedRecord> {
  for (const [section, records] of Object.entries(dataset)) {
    if (!isSection(section)) throw new ImportFault(`${quoted(section)}: not a section (${SECTIONS.join(', ')})`);
    if (!Array.isArray(records)) throw new ImportFault(`${section}: not an array`);
  }
  for (const section of SECTIONS) {
    for (const record of (dataset as Record<string, unknown[]>)[section] ?? []) yield { section, record };
  }
}

async function* parsed(lines: AsyncIterable<string>): AsyncGenerator<UncheckedRecord> {
  let number = 0;
  for await (const line of lines) {
    number++;
    if (line.trim() !== '') yield { ...parseLine(line, number), line: number };
  }
}

function parseLine(line: string, number: number): UncheckedRecord {
  let parsed: { section?: unknown; record?: unknown } | null;
  try {
    parsed = JSON.parse(line) as typeof parsed;
  } catch {
    throw new ImportFault(`line ${number}: not JSON`);
  }
  if (!isSection(parsed?.section)) {
    throw new ImportFault(`line ${number}: section must be one of ${SECTIONS.join(', ')}`);
  }
  return { section: parsed.section, record: parsed.record };
}
