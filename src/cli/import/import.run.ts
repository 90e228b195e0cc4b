import type { EntityManager } from 'typeorm';
import { LAST_SECTION, RECORDS, SectionName, SECTIONS } from './dataset';
import { ImportFault } from './import-fault';
import { clash, Placed, Scope } from './import.checks';
import { EventUrls } from './import.event-urls';
import { removeTagOptions } from './import.events';
import { writeAssociations } from './import.leads';
import { WRITERS } from './import.writers';
import { References } from './references';

/** Records that are written with one set of statements. */
export const BATCH = 1000;

export interface ImportResult {
  /** records read, a section */
  imported: Record<SectionName, number>;
  /** id of every event of the dataset, by its ref */
  events: Record<string, number>;
}

/** One import under way: checks records as they come and writes them in batches. */
import { readRecord } from './read-record';
export class ImportRun {
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
    const position = this.imported[section]++;
    const place = `${line === undefined ? '' : `line ${line}: `}${section}[${position}]`;
    if (typeof record !== 'object' || record === null || Array.isArray(record)) {
      throw new ImportFault(`${place}: not an object`);
    }
    const read = readRecord<object>(RECORDS[section], record);
    if ('fault' in read) throw new ImportFault(`${place}.${read.fault}: missing or invalid`);
    this.waiting[section].push({ place, position, record: read.record });
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
    await removeTagOptions(this.scope);
    await writeAssociations(this.scope);
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
