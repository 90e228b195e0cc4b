import { Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { CATALOG, lockOrganization } from '../../data/database/locks';

/** How many records one transaction deletes, so that others do not wait for long. */
const DELETE_BATCH_SIZE = 1000;

const DELETE_BATCH = `
  delete from industry_events
  where id in (select id from industry_events where source_type = $1 order by id limit ${DELETE_BATCH_SIZE})`;

/** The operator's view of the industry-event catalog. */
@Injectable()
export class CatalogService {
  constructor(private readonly dataSource: DataSource) {}

  /** Deletes the records with this `sourceType`, and all bookmarks of them. @returns how many were deleted */
  async delete(sourceType: string): Promise<number> {
    let deleted = 0;
    for (let batch = DELETE_BATCH_SIZE; batch === DELETE_BATCH_SIZE; deleted += batch) {
      batch = await this.dataSource.transaction(async (manager) => {
        await lockOrganization(manager, CATALOG);
        return (await manager.query<[unknown, number]>(DELETE_BATCH, [sourceType]))[1];
      });
    }
    return deleted;
  }
}
