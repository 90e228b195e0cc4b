import type { EntityManager } from 'typeorm';
import { makePlain } from '../http/plain-json';
import { firstFault, instantiate } from '../http/reader';
import { LAST_SECTION, RECORDS, SectionName, SECTIONS } from './dataset';
import { ImportFault } from './import-fault';
import { clash, IMPORT_LOCK, Placed, Scope } from './import.checks';
import { EventUrls } from './import.event-urls';
import { WRITERS } from './import.writers';
import { quoted } from './quoted';
import { References } from './references';

export interface ImportResult {
  /** records read, a section */
  imported: Record<SectionName, number>;
  /** id of every event of the dataset, by its ref */
  events: Record<string, number>;
}

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

/** Records that are written with one set of statements. */
const BATCH = 1000;

/** For how long nothing comes before PostgreSQL ends an import: whoever feeds it is gone, and others wait for what it holds. */
const STANDS_STILL = '10 min';

/** The tables that fill themselves as those of the entities are filled. */
const KEPT_BY_TRIGGERS = ['industry_event_words', 'lists', 'list_blocks'];

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
    const result = await this.manager.transaction(async (manager) => {
      // What a batch finds stored must still be so when it is written, so imports of an organization take turns.
      await manager.query('select pg_advisory_xact_lock($1, $2)', [IMPORT_LOCK, organizationId]);
      await manager.query(`set local idle_in_transaction_session_timeout = '${STANDS_STILL}'`);
      // Lists are everybody's lock: they are settled in the last moment, and not held for as long as an import lasts.
      await manager.query('select defer_lists()');
      const run = new ImportRun(manager, organizationId);
      await read(run).catch((error: unknown) => run.giveUp(error));
      const result = await run.finish();
      await manager.query('select settle_lists()');
      this.onWritten();
      return result;
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

/** One import under way: checks records as they come and writes them in batches. */
class ImportRun {
  private readonly scope: Scope;
  private readonly imported = Object.fromEntries(SECTIONS.map((name) => [name, 0])) as Record<SectionName, number>;
  private readonly waiting = Object.fromEntries(SECTIONS.map((name) => [name, []])) as unknown as Record<
    SectionName,
    Placed<object>[]
  >;

  private batches = 0;
  /** The batch that PostgreSQL is busy with while the next one is read and checked. */
  private writing: Promise<void> = Promise.resolve();

  constructor(manager: EntityManager, organizationId: number) {
    const references = new References(manager, organizationId);
    this.scope = {
      manager,
      organizationId,
      references,
      eventUrls: new EventUrls(manager),
      events: Object.create(null) as ImportResult['events'],
      associations: 0,
    };
  }

  async add(section: SectionName, record: unknown, line?: number): Promise<void> {
    const place = `${line === undefined ? '' : `line ${line}: `}${section}[${this.imported[section]++}]`;
    if (typeof record !== 'object' || record === null || Array.isArray(record)) {
      throw new ImportFault(`${place}: not an object`);
    }
    if (!makePlain(record)) throw new ImportFault(`${place}: nested too deep`);
    const instance = instantiate<object>(RECORDS[section], record as Record<string, unknown>);
    const fault = firstFault(instance);
    if (fault !== undefined) throw new ImportFault(`${place}.${fault}: missing or invalid`);
    this.waiting[section].push({ place, record: instance });
    if (this.waiting[section].length === BATCH) await this.writeUpTo(section);
  }

  /** The import's transaction, when the batch under way has been written. */
  async transaction(): Promise<EntityManager> {
    await this.writing;
    return this.scope.manager;
  }

  async finish(): Promise<ImportResult> {
    await this.writeUpTo(LAST_SECTION);
    await this.writing;
    await this.scope.eventUrls.settle();
    return { imported: this.imported, events: this.scope.events };
  }

  /**
   * Waits for the batch under way: nothing may be written once the transaction is rolled back. A fault among the records
   * that were read before stands before the one that ended the reading.
   */
  async giveUp(error: unknown): Promise<never> {
    if (error instanceof ImportFault) await this.writeUpTo(LAST_SECTION);
    await this.writing;
    throw error;
  }

  /** What a section's records may refer to is written before them. */
  private async writeUpTo(last: SectionName): Promise<void> {
    const sections = SECTIONS.slice(0, SECTIONS.indexOf(last) + 1);
    const batches = sections.map((section) => [section, this.waiting[section].splice(0)] as const);
    const writers = batches
      .filter(([, batch]) => batch.length > 0)
      .map(([section, batch]) => {
        const write = WRITERS[section](batch as Placed<never>[]);
        return (scope: Scope) => write(scope).catch((error: unknown) => Promise.reject(clash(error, batch) as Error));
      });
    await this.writing;
    this.writing = this.write(writers);
    this.writing.catch(() => undefined); // whoever awaits it next is told
  }

  private async write(writers: ((scope: Scope) => Promise<void>)[]): Promise<void> {
    for (const writer of writers) await writer(this.scope);
    // What triggers and foreign keys ask was planned when the tables were smaller, perhaps empty, and no index better
    // than another: it is planned again at every doubling.
    if (Number.isInteger(Math.log2(++this.batches))) await this.scope.manager.query('discard plans');
  }
}
