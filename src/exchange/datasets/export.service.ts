import { Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { recordAuditIfWritable } from '../../access/audit-log.service';
import { Datasets } from './dataset';
import type { OrganizationConnection } from './import-plan';
import { fetchBatches, selectRecords } from './record-sql';
import { type Table, tablesOf } from './tables';

/** Exports the records of an organization. */
@Injectable()
export class ExportService {
  constructor(
    private readonly dataSource: DataSource,
    readonly datasets: Datasets,
  ) {}

  /**
   * Exports sections as of one moment: the transaction does not see what others change meanwhile. Each section is read in
   * the order of its list, in constant memory.
   * @param receive takes the records of one section after the other, as the JSON texts that PostgreSQL has rendered
   */
  async export(
    organizationId: number,
    sections: string[],
    receive: (section: string, records: AsyncIterable<string>) => Promise<void>,
  ): Promise<void> {
    const tables = tablesOf(this.dataSource, this.datasets);
    await this.dataSource.transaction('REPEATABLE READ', async (manager) => {
      await manager.query('set transaction read only');
      for (const section of sections) {
        const main = tables.find((table) => table.section === section && !table.list)!;
        await receive(section, fetchRecords({ manager, organizationId }, main));
      }
    });
    const entry = { organizationId, operation: 'export', resource: 'exports', change: 'created' } as const;
    await recordAuditIfWritable(this.dataSource.manager, entry);
  }
}

async function* fetchRecords(transaction: OrganizationConnection, main: Table): AsyncGenerator<string> {
  for await (const rows of fetchBatches<{ record: string }>(transaction, selectRecords(main))) {
    for (const { record } of rows) yield record;
  }
}
