import type { DataSource } from 'typeorm';
import { CATALOGUE, lockOrganization } from '../database/locks';

/** Records in one transaction: others wait for no longer. */
const DELETED_AT_ONCE = 1000;

const DELETE = `
  delete from industry_events
  where id in (select id from industry_events where source_type = $1 order by id limit ${DELETED_AT_ONCE})`;

/** Deletes the records of the catalogue that have this `sourceType`, with everybody's bookmarks of them. @returns how many */
export async function deleteFromCatalogue(dataSource: DataSource, sourceType: string): Promise<number> {
  let deleted = 0;
  for (let batch = DELETED_AT_ONCE; batch === DELETED_AT_ONCE; deleted += batch) {
    batch = await dataSource.transaction(async (manager) => {
      await lockOrganization(manager, CATALOGUE);
      return (await manager.query<[unknown, number]>(DELETE, [sourceType]))[1];
    });
  }
  return deleted;
}
