import { Injectable } from '@nestjs/common';
import { EntityManager } from 'typeorm';
import { faultOf, instanceOf, isObject } from '../api-schema/fields';
import { DEADLOCK, sqlState } from '../database/errors';
import { CATALOGUE, lockOrganization } from '../database/locks';
import { check } from './checks';
import { type Counts, Datasets, type Records } from './dataset';
import { ofObject } from './dataset-file';
import { ImportFault } from './import-fault';
import { type Given, movesOf, WHOLE } from './moves';
import { BATCH, Stage } from './stage';
import { type Table, tablesOf } from './tables';

export interface ImportResult {
  /** records read */
  imported: Counts;
  /** id of every event of the dataset, by its ref */
  events: Record<string, number>;
}

export interface ImportOptions {
  /** called with the number of records read so far, once a batch */
  onProgress?: (records: number) => void;
  /** called when all is written, and PostgreSQL is about to store it for good */
  onWritten?: () => void;
  /** what of each record the file has */
  given?: Given;
}

/** The tables that fill themselves as those of the entities are filled. */
const KEPT_BY_TRIGGERS = ['lists', 'list_counts'];

/**
 * What others did between the checks and the writing: a deadlock, or what is referred to was deleted, or an id or eventUrl
 * taken. The checks, which run again, name what is at fault now.
 */
const CHANGED_MEANWHILE = [DEADLOCK, '23502', '23503', '23505'];
const MAX_ATTEMPTS = 4;

/** Reads a dataset into an organization: all of it, or nothing. */
@Injectable()
export class ImportService {
  constructor(
    private readonly manager: EntityManager,
    private readonly datasets: Datasets,
  ) {}

  /** A dataset as one object. */
  import(organizationId: number, dataset: object): Promise<ImportResult> {
    return this.importRecords(organizationId, ofObject(dataset, this.datasets));
  }

  /**
   * Records one by one, in constant memory. They are read, checked and staged while nothing is locked; one transaction
   * then writes them all.
   * @throws ImportFault that names the line and the place of the first fault: of records as such, then of what they refer to
   */
  async importRecords(
    organizationId: number,
    records: Records,
    { onProgress = () => undefined, onWritten = () => undefined, given = WHOLE }: ImportOptions = {},
  ): Promise<ImportResult> {
    // One connection holds the staged tables: that of a transaction under way, or another.
    const own = this.manager.queryRunner ? undefined : this.manager.dataSource.createQueryRunner();
    const manager = own?.manager ?? this.manager;
    try {
      const tables = tablesOf(this.manager.dataSource, this.datasets);
      const stage = new Stage(manager, tables);
      await stage.create();
      const imported = await this.readInto(stage, records, onProgress, given);
      await stage.complete();
      const filled = tables.filter(({ section }) => Number(imported[section]) > 0);
      const events = await this.write(manager, organizationId, filled, given, onWritten);
      // Running servers made their plans for the tables as they were; this lets them make new ones. It has succeeded without.
      const names = [...filled.map(({ name }) => name), ...KEPT_BY_TRIGGERS].join(', ');
      const count = Object.values(imported).reduce((sum, each) => sum + each, 0);
      if (count >= BATCH) await manager.query(`analyze ${names}`).catch(() => undefined);
      return { imported, events };
    } finally {
      await own?.release();
    }
  }

  private async write(
    manager: EntityManager,
    organizationId: number,
    tables: Table[],
    given: Given,
    onWritten: () => void,
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
          onWritten();
          return events;
        });
      } catch (error) {
        if (attempt === MAX_ATTEMPTS || !CHANGED_MEANWHILE.includes(sqlState(error) ?? '')) throw error;
      }
    }
  }

  private async readInto(
    stage: Stage,
    records: Records,
    onProgress: (records: number) => void,
    given: Given,
  ): Promise<Counts> {
    const imported = this.datasets.noRecords();
    let read = 0;
    for await (const { section, record: unchecked, line } of records) {
      const at = { section, place: imported[section] ?? 0, line };
      imported[section] = at.place + 1;
      if (!isObject(unchecked)) throw new ImportFault(`${given.nameOf(at, '')}: not an object`);
      const record = instanceOf(this.datasets.of(section).record, unchecked);
      const fault = faultOf(record, given.has);
      if (fault !== undefined) throw new ImportFault(`${given.nameOf(at, fault)}: missing or invalid`);
      await stage.add({ ...at, record });
      if (++read % BATCH === 0) onProgress(read);
    }
    onProgress(read);
    return imported;
  }
}

/** The ids of events, which the database numbered, by the refs by which the file names them. */
async function idsOf(manager: EntityManager, organizationId: number, tables: Table[]): Promise<Record<string, number>> {
  const events = Object.create(null) as Record<string, number>; // a ref may be `__proto__`
  if (!tables.some(({ section }) => section === 'events')) return events;
  const rows = await manager.query<{ ref: string; id: string }[]>(
    'select ref, id from events where organization_id = $1 and ref in (select ref from staged_events)',
    [organizationId],
  );
  for (const { ref, id } of rows) events[ref] = Number(id);
  return events;
}
