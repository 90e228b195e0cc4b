import { randomUUID } from 'node:crypto';
import { DataSource } from 'typeorm';
import { ImportService } from '../../src/exchange/datasets/import.service';
import { objectRecords, wholeRecords } from '../../src/exchange/datasets/read-json';
import { DATASETS } from '../support/contexts';
import { asOperator, createTestDatabase } from '../support/database';
import { type InProcess, startInProcess } from '../support/lanyard';

/** Enough records to be written at reserved positions. */
const LEADS = 1500;

describe('an import into tables that were empty at their last vacuum, as after a dry run', () => {
  let lanyard: InProcess;
  let db: DataSource;

  beforeAll(async () => {
    const { url } = await createTestDatabase();
    db = await asOperator(url);
    lanyard = await startInProcess({ databaseUrl: url });
  });

  const indexTuplesRead = async (): Promise<number> => {
    await db.query('select pg_stat_force_next_flush()');
    const [{ count }] = await db.query<[{ count: string }]>(
      `select sum(idx_tup_read) as count from pg_stat_user_indexes where relname in ('leads', 'lead_tags')`,
    );
    return Number(count);
  };

  it('reads each stored row a few times, not once for each other one', async () => {
    const { organizationId } = await lanyard.tenant();
    const service = new ImportService(db, DATASETS);
    const option = { id: randomUUID(), value: 'Hot', displayOrder: 1 };
    const group = { id: randomUUID(), name: 'Interest', status: 'PUBLISHED', displayOrder: 1, tagOptions: [option] };
    const tags = [{ tagOptionId: option.id }];
    const leads = Array.from({ length: LEADS }, (_, n) => ({ id: randomUUID(), firstName: `Ada ${n}`, tags }));
    const dataset = { tagGroups: [group], leads };
    const source = wholeRecords(DATASETS, (issues) => objectRecords(dataset, DATASETS, issues));
    await service.importRecords(organizationId, source, { dryRun: true });
    await db.query('vacuum (truncate off) leads, lead_tags');

    const before = await indexTuplesRead();
    await service.importRecords(organizationId, source);
    expect((await indexTuplesRead()) - before).toBeLessThan(20 * LEADS);
  });
});
