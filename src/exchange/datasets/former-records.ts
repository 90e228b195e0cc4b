import { Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import { FeedResources } from '../../feed/changes/feed-resource';
import { TransactionalDataSource } from '../../data/database/transactional-data-source';
import { Datasets } from './dataset';
import type { OrganizationConnection } from './import-plan';
import { fetchBatches, recordJson } from './record-sql';
import { isVisible, type Table, tablesOf } from './tables';

/** A record that an import has changed, as it was and as the import wrote it: JSON texts in the form of an export. */
export interface FormerRecord {
  section: string;
  record: string;
  written: string;
}

/**
 * The records that an import has changed. Until it commits, all other connections still see them so, and nobody
 * else can change them.
 */
@Injectable()
export class FormerRecords {
  constructor(
    private readonly dataSource: TransactionalDataSource,
    private readonly datasets: Datasets,
    private readonly feedResources: FeedResources,
  ) {}

  /** @param transaction of the import, which has written all its records */
  async *read(transaction: EntityManager, organizationId: number): AsyncGenerator<FormerRecord> {
    const others = this.dataSource.createReservedRunner();
    try {
      for (const main of tablesOf(this.dataSource, this.datasets).filter(({ list }) => !list)) {
        const select = this.selectRecords(main);
        for await (const ids of this.candidates({ manager: transaction, organizationId }, main)) {
          const values = [organizationId, ids];
          const now = await transaction.query<{ id: string; record: string }[]>(select, values);
          const recordById = new Map(now.map(({ id, record }) => [id, record]));
          const former = (await others.query(select, values)) as { id: string; record: string }[];
          for (const { id, record } of former) {
            const written = recordById.get(id) ?? 'null';
            if (record !== written) yield { section: main.section, record, written };
          }
        }
      }
    } finally {
      await others.release();
    }
  }

  /**
   * The ids of the stored records that the file has, and of those that changed with them: a tag option that is gone, for
   * example, is taken from leads that are not in the file.
   */
  private async *candidates(transaction: OrganizationConnection, main: Table): AsyncGenerator<string[]> {
    const { name, key } = main;
    const number = this.feedResources.all.find(({ table }) => table === name)?.number;
    const selects: string[] = [];
    const [{ isInFile }] = await transaction.manager.query<[{ isInFile: boolean }]>(
      `select to_regclass('pg_temp.before_${name}') is not null as "isInFile"`,
    );
    if (isInFile) {
      selects.push(`select t.id::text as id from pg_temp.before_${name} b
        join ${name} t on ${isVisible(main)} and t.${key} = b.key`);
    }
    if (number !== undefined) {
      selects.push(`select coalesce(id::text, event_id::text) as id from changes
        where organization_id = $1 and resource = ${number} and xid = pg_current_xact_id()::text::bigint
          and operation = 'u'`);
    }
    if (selects.length === 0) return;
    const batches = fetchBatches<{ id: string }>(transaction, `${selects.join(' union ')} order by id`);
    for await (const rows of batches) yield rows.map(({ id }) => id);
  }

  /** The records of an organization, or of the catalog, by their ids: `$1` is the organization. */
  private selectRecords(main: Table): string {
    const type = this.dataSource.getMetadata(main.name).findColumnWithPropertyName('id')?.type;
    return `select t.id::text as id, ${recordJson(main, 't')} as record from ${main.name} t
      where ${main.isShared ? '$1::integer is not null' : isVisible(main)} and t.id = any($2::text[]::${String(type)}[]) order by t.id`;
  }
}
