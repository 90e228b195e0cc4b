import { randomUUID } from 'node:crypto';
import { DataSource } from 'typeorm';
import { trackedListsOf, type TrackedList } from '../../src/data/database/tracked-list';
import { csvImportSource } from '../../src/exchange/csv/read';
import { CSV, fileOf, mappingOfNames } from '../support/csv-files';
import { ImportService } from '../../src/exchange/datasets/import.service';
import { createExhibitor, industryEventInput, leadInput } from '../support/builders';
import { asOperator, createTestDatabase } from '../support/database';
import { type InProcess, startInProcess, type Tenant } from '../support/lanyard';
import { DATASETS } from '../support/contexts';
import { waitUntil } from '../support/wait';

const quoted = (value: unknown): string => `"${String(value)}"`;

/** Whatever writes takes locks in the order of docs/locking.md, imports too: a list before the rows in it. */

describe('an import', () => {
  let lanyard: InProcess;
  let db: DataSource;
  let tenant: Tenant;

  beforeAll(async () => {
    const { url } = await createTestDatabase();
    db = await asOperator(url);
    lanyard = await startInProcess({ databaseUrl: url });
  });
  beforeEach(async () => void (tenant = await lanyard.tenant()));

  const waiting = async (): Promise<boolean> => {
    const rows = await db.query<unknown[]>(`select from pg_stat_activity
      where datname = current_database() and wait_event_type = 'Lock'`);
    return rows.length > 0;
  };

  const importCsv = (rows: object[]): Promise<unknown> => {
    const [first = {}] = rows;
    const lines = [Object.keys(first), ...rows.map(Object.values)].map((cells) => cells.map(quoted).join(','));
    const wanted = { mapping: mappingOfNames(Object.keys(first)), optionValues: [], match: 'email' };
    const service = new ImportService(db, DATASETS);
    return service.importRecords(tenant.organizationId, csvImportSource(CSV, wanted, fileOf(lines.join('\n'))));
  };

  it('waits for a list before it locks a row, and then finds what was added to it', async () => {
    const { id: old } = (await tenant.api.post('/leads', leadInput({ email: 'old@example.com' }))).body.results;
    const batch = db.createQueryRunner();
    await batch.startTransaction();
    await batch.query(`select list_take($1, 'leads', 0)`, [tenant.organizationId]);
    const importing = importCsv([
      { email: 'old@example.com', firstName: 'Imported' },
      { email: 'new@example.com', firstName: 'Imported' },
    ]);
    await waitUntil(waiting);
    await batch.query('select from leads where id = $1 for update nowait', [old]);
    await batch.query(
      `insert into leads (organization_id, email, created_by) values ($1, 'new@example.com', 'a@b.example')`,
      [tenant.organizationId],
    );
    await batch.commitTransaction();
    await batch.release();
    expect(await importing).toMatchObject({ outcomes: { leads: { created: 0, updated: 2 } } });
  });

  describe('of every section', () => {
    /** The list of a row of the table that was imported. */
    const listAt = async ({ table, parent, isShared }: TrackedList): Promise<string> => {
      const column = parent?.column ?? `''`;
      const where = isShared ? 'true' : `organization_id = ${tenant.organizationId}`;
      const [row] = await db.query<{ of: string }[]>(
        `select ${column}::text as of from ${table} where ${where} limit 1`,
      );
      expect(row).toBeDefined();
      return parent ? `${table}/${row?.of}` : table;
    };

    it('waits for each list before it locks a row of it', async () => {
      const { dataset, lead } = createExhibitor();
      const industryEvent = { id: randomUUID(), ...industryEventInput() };
      const all = { ...dataset, industryEvents: [industryEvent] };
      await tenant.import(all);
      const changed = structuredClone(all) as unknown as Record<string, Record<string, unknown>[]>;
      for (const records of Object.values(changed)) {
        for (const record of records) if ('name' in record) record.name = 'Changed';
      }
      Object.assign(changed.leads?.[0] ?? {}, {
        firstName: 'Changed',
        events: [{ ...lead.events[0], checkedIn: false }],
      });
      Object.assign(changed.leadActivityEvents?.[0] ?? {}, { eventNotes: 'Changed' });
      for (const list of trackedListsOf(db)) {
        const name = await listAt(list);
        const holder = db.createQueryRunner();
        await holder.startTransaction();
        await holder.query('select list_take($1, $2, 0)', [list.isShared ? 0 : tenant.organizationId, name]);
        const importing = new ImportService(db, DATASETS).import(tenant.organizationId, changed);
        await waitUntil(waiting);
        await holder.query(`select from ${list.table} for update nowait`);
        await holder.rollbackTransaction();
        await holder.release();
        await importing;
        await tenant.import(all);
      }
    });

    it('waits for the event that PUT /events/:eventId/leads has locked before it locks the list of its leads', async () => {
      const { dataset, lead } = createExhibitor();
      const { expo } = await tenant.import(dataset);
      const holder = db.createQueryRunner();
      await holder.startTransaction();
      await holder.query('select from events where id = $1 for no key update', [expo]);
      const changed = { leads: [{ ...lead, events: [{ ...lead.events[0], checkedIn: false }] }] };
      const importing = tenant.import(changed);
      await waitUntil(waiting);
      await holder.query(`select from lists where list = 'event_leads/' || $1 for update nowait`, [expo]);
      await holder.query('select from event_leads where event_id = $1 for update nowait', [expo]);
      await holder.rollbackTransaction();
      await holder.release();
      await importing;
    });
  });

  it('with --match beside batches of the same addresses: no deadlock, and no address with two leads', async () => {
    const deadlocks = async (): Promise<number> => {
      await db.query('select pg_stat_force_next_flush()');
      const [row] = await db.query<{ deadlocks: string }[]>(
        'select deadlocks from pg_stat_database where datname = current_database()',
      );
      return Number(row?.deadlocks);
    };
    const before = await deadlocks();
    const addresses = Array.from({ length: 240 }, (_, n) => `person${n}@example.com`);
    const from = (n: number, count: number): string[] => [...addresses, ...addresses].slice(n * 60, n * 60 + count);
    const batches = async (n: number): Promise<void> => {
      for (let round = 0; round < 6; round++) {
        const leads = from((n + round) % 4, 100).map((email) => leadInput({ email, firstName: `${n}.${round}` }));
        const { status } = await tenant.api.post('/leads/batch', { matchBy: 'email', leads });
        expect([200, 503]).toContain(status);
      }
    };
    const imports = async (n: number): Promise<void> => {
      for (let round = 0; round < 4; round++) {
        const rows = from((n + round) % 4, 150).map((email) => ({ email, firstName: `import ${n}.${round}` }));
        await importCsv(n % 2 === 0 ? rows : rows.reverse());
      }
    };
    await Promise.all([batches(0), batches(1), batches(2), imports(0), imports(1), imports(2)]);
    const doubles = await db.query<unknown[]>(
      'select lower(email) from leads where organization_id = $1 group by 1 having count(*) > 1',
      [tenant.organizationId],
    );
    expect({ doubles, deadlocks: (await deadlocks()) - before }).toEqual({ doubles: [], deadlocks: 0 });
  });
});
