import type { DataSource, EntityManager } from 'typeorm';
import type { SectionName } from '../import/sections';
import { recordsSelect } from './export.records';

/** Records that are in memory at a time. */
const FETCH = 1000;

/**
 * Reads the data of an organization in the form of a dataset, each section in the order of its list, as it was at one
 * moment: one transaction sees no change that others make meanwhile. Memory does not grow with the number of records.
 * @param receive is given the records of one section after another, as the JSON text that PostgreSQL rendered
 */
export function exportSections(
  dataSource: DataSource,
  organizationId: number,
  sections: SectionName[],
  receive: (section: SectionName, records: AsyncIterable<string>) => Promise<void>,
): Promise<void> {
  return dataSource.transaction('REPEATABLE READ', async (manager) => {
    await manager.query('set transaction read only');
    for (const section of sections) {
      await receive(section, recordsOf(manager, recordsSelect(dataSource, section, organizationId)));
    }
  });
}

/** The records of a select, through a cursor of the transaction. */
async function* recordsOf(manager: EntityManager, select: string): AsyncGenerator<string> {
  await manager.query(`declare records no scroll cursor for ${select}`);
  for (;;) {
    const rows = await manager.query<{ record: string }[]>(`fetch ${FETCH} from records`);
    for (const { record } of rows) yield record;
    if (rows.length < FETCH) break;
  }
  await manager.query('close records');
}
