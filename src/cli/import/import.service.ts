import type { PoolClient } from 'pg';
import { type EntityManager, QueryFailedError } from 'typeorm';
import { CATALOGUE, lockOrganization } from '../../database/locks';
import { DEADLOCK, sqlState } from '../../database/errors';
import { readRecord } from '../../dataset/read-record';
import { quoted } from '../terminal/quoted';
import { check, placeOf } from './checks';
import { ImportFault } from './import-fault';
import { type Given, movesOf, WHOLE } from './moves';
import { datasetOf, SectionName, SECTIONS } from './sections';
import { BATCH, Stage } from './stage';
import { type Table, tablesOf } from './tables';

/** A record as it was read, and where. */
export interface UncheckedRecord {
  section: SectionName;
  record: unknown;
  /** of the file, from 1 */
  line?: number;
}

export interface ImportResult {
  /** records read, a section */
  imported: Record<SectionName, number>;
  /** id of every event of the dataset, by its ref */
  events: Record<string, number>;
}

type OnProgress = (records: number) => void;

/** The tables that fill themselves as those of the entities are filled. */
const KEPT_BY_TRIGGERS = ['lists', 'list_counts'];

/**
 * What others did between the checks and the writing: a deadlock, or what is referred to was deleted, or an id or eventUrl
 * taken. The checks, which run again, name what is at fault now.
 */
const CHANGED_MEANWHILE = [DEADLOCK, '23502', '23503', '23505'];
const MAX_ATTEMPTS = 4;

/** Reads a dataset into an organization: all of it, or nothing. */
export class ImportService {
  /** Called when all is written, and PostgreSQL is about to store it for good. */
  onWritten: () => void = () => undefined;
  /** Called with what is imported as soon as it is stored for good, whatever happens after. */
  onCommit: (result: ImportResult) => void = () => undefined;

  constructor(private readonly manager: EntityManager) {}

  /**
   * A dataset as one object.
   * @param onProgress called with the number of records read so far, once a batch
   * @throws ImportFault that names the place of the first fault
   */
  import(organizationId: number, dataset: object, onProgress?: OnProgress): Promise<ImportResult> {
    return this.importRecords(organizationId, recordsOf(dataset), onProgress);
  }

  /**
   * A dataset as lines of NDJSON, `{"section": …, "record": …}` each, in constant memory.
   * @param onProgress called with the number of records read so far, once a batch
   * @throws ImportFault that names the line and the place of the first fault
   */
  importLines(organizationId: number, lines: AsyncIterable<string>, onProgress?: OnProgress): Promise<ImportResult> {
    return this.importRecords(organizationId, parsed(lines), onProgress);
  }

  /**
   * Records one by one, in constant memory. They are read, checked and staged while nothing is locked; one transaction
   * then writes them all.
   * @param onProgress called with the number of records read so far, once a batch
   * @param given asked when all is read: what of each record the file has
   * @throws ImportFault that names the line and the place of the first fault: of records as such, then of what they refer to
   */
  async importRecords(
    organizationId: number,
    records: AsyncIterable<UncheckedRecord>,
    onProgress: OnProgress = () => undefined,
    given: () => Given = () => WHOLE,
  ): Promise<ImportResult> {
    const tables = tablesOf(this.manager.dataSource);
    const filledIn = (imported: ImportResult['imported']) => tables.filter(({ section }) => imported[section] > 0);
    const result = await onConnection(this.manager, async (manager) => {
      const stage = new Stage(manager, tables);
      await stage.create();
      try {
        const imported = await readInto(stage, records, onProgress, given);
        await stage.complete();
        return { imported, events: await this.write(manager, organizationId, filledIn(imported), given()) };
      } finally {
        await stage.drop().catch(() => undefined); // its connection may be lost
      }
    });
    this.onCommit(result);
    // Running servers made their plans for the tables as they were; this lets them make new ones.
    const count = Object.values(result.imported).reduce((sum, each) => sum + each, 0);
    if (count >= BATCH) {
      const names = filledIn(result.imported).map(({ name }) => name);
      await this.manager.query(`analyze ${[...names, ...KEPT_BY_TRIGGERS].join(', ')}`);
    }
    return result;
  }

  private async write(
    manager: EntityManager,
    organizationId: number,
    tables: Table[],
    given: Given,
  ): Promise<ImportResult['events']> {
    for (let attempt = 1; ; attempt++) {
      await check(manager, organizationId, tables, given);
      try {
        return await manager.transaction(async (writer) => {
          await lockOrganization(writer, organizationId);
          if (tables.some(({ isShared }) => isShared)) await lockOrganization(writer, CATALOGUE);
          for (const sql of movesOf(tables, given)) {
            await writer.query(sql, sql.includes('$1') ? [organizationId] : []);
          }
          const events = await idsOf(writer, organizationId, tables);
          this.onWritten();
          return events;
        });
      } catch (error) {
        if (attempt === MAX_ATTEMPTS || !CHANGED_MEANWHILE.includes(sqlState(error) ?? '')) throw error;
      }
    }
  }
}

/** The ids of rows that the database numbered, by the keys by which the file names them. */
async function idsOf(manager: EntityManager, organizationId: number, tables: Table[]): Promise<Record<string, number>> {
  const events = Object.create(null) as Record<string, number>; // a ref may be `__proto__`
  const table = tables.find(({ section, list }) => section === 'events' && !list);
  if (!table) return events;
  const { name, stage, match } = table;
  const rows = await manager.query<{ key: string; id: string }[]>(
    `select t.${match[0]} as key, t.id from ${name} t
      where t.organization_id = $1 and t.${match[0]} in (select ${match[0]} from ${stage})`,
    [organizationId],
  );
  for (const { key, id } of rows) events[key] = Number(id);
  return events;
}

/** @returns the number of records of each section */
async function readInto(
  stage: Stage,
  records: AsyncIterable<UncheckedRecord>,
  onProgress: OnProgress,
  given: () => Given,
): Promise<ImportResult['imported']> {
  const imported = Object.fromEntries(SECTIONS.map((name) => [name, 0])) as ImportResult['imported'];
  let read = 0;
  for await (const { section, record, line } of records) {
    const place = imported[section]++;
    const { isPart, has } = given();
    const where = placeOf(section, { line, place });
    if (typeof record !== 'object' || record === null || Array.isArray(record)) {
      throw new ImportFault(`${where}: not an object`);
    }
    const checked = readRecord(datasetOf(section).record, record, isPart ? has : undefined);
    if ('fault' in checked) throw new ImportFault(`${where}.${checked.fault}: missing or invalid`);
    await stage.add(section, { record: checked.record, place, line });
    if (++read % BATCH === 0) onProgress(read);
  }
  onProgress(read);
  return imported;
}

/** Does work on one connection, as long as that is there: what the work waits for may never come. */
async function onConnection<T>(manager: EntityManager, work: (manager: EntityManager) => Promise<T>): Promise<T> {
  const runner = manager.queryRunner ?? manager.dataSource.createQueryRunner();
  const connection = (await runner.connect()) as PoolClient;
  let lose: (error: Error) => void = () => undefined;
  const loss = new Promise<never>(
    (_, reject) => (lose = (error) => reject(new QueryFailedError('', undefined, error))),
  );
  loss.catch(() => undefined); // it may come before the work waits for it
  connection.once('error', lose);
  try {
    return await Promise.race([loss, work(runner.manager)]);
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
