import type { PoolClient } from 'pg';
import { DataSource, QueryRunner } from 'typeorm';
import { SectionName, SECTIONS } from '../import/sections';
import { recordsSelect } from './export.records';

export interface ExportedRecord {
  section: SectionName;
  /** JSON text as PostgreSQL rendered it */
  record: string;
}

/** Records that are in memory at a time. */
const FETCH = 1000;

/** Reads all data of an organization, in the form of a dataset. */
export class ExportService {
  constructor(private readonly dataSource: DataSource) {}

  /**
   * The records section by section, each section in the order of its list, as they were at one moment: one transaction
   * sees no change that others make meanwhile. Memory does not grow with their number.
   */
  async *export(organizationId: number, sections: SectionName[] = SECTIONS): AsyncGenerator<ExportedRecord> {
    const runner = this.dataSource.createQueryRunner();
    const connection = (await runner.connect()) as PoolClient;
    // TypeORM says of a connection that was lost between two statements only that it has none.
    let lost: Error | undefined;
    const noteLoss = (error: Error): void => void (lost ??= error);
    connection.on('error', noteLoss);
    try {
      await runner.startTransaction('REPEATABLE READ');
      await runner.query('set transaction read only');
      for (const section of sections) {
        for await (const record of recordsOf(runner, recordsSelect(this.dataSource, section, organizationId))) {
          yield { section, record };
        }
      }
    } catch (error) {
      throw lost ?? error;
    } finally {
      connection.off('error', noteLoss);
      // also when the reader stops early; nothing was written, and a lost connection has nothing to end
      await runner.rollbackTransaction().catch(() => undefined);
      await runner.release();
    }
  }
}

/** The records of a select, through a cursor of the transaction. */
async function* recordsOf(runner: QueryRunner, select: string): AsyncGenerator<string> {
  await runner.query(`declare records no scroll cursor for ${select}`);
  for (;;) {
    const rows = (await runner.query(`fetch ${FETCH} from records`)) as { record: string }[];
    for (const { record } of rows) yield record;
    if (rows.length < FETCH) break;
  }
  await runner.query('close records');
}
