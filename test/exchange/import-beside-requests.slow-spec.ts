import { randomUUID } from 'node:crypto';
import type { DataSource, QueryRunner } from 'typeorm';
import { OrganizationsService } from '../../src/access/organizations.service';
import { csvImportSource } from '../../src/exchange/csv/read';
import { CSV, fileOf, mappingOfNames } from '../support/csv-files';
import { type ImportResult, ImportService } from '../../src/exchange/datasets/import.service';
import { Stage } from '../../src/exchange/datasets/stage';
import { CheckService } from '../../src/data/schema/check.service';
import { eventInput, industryEventInput, leadInput } from '../support/builders';
import { DATASETS, SCHEMA } from '../support/contexts';
import { asOperator, createTestDatabase } from '../support/database';
import { type InProcess, startInProcess, type Tenant } from '../support/lanyard';
import { operatorServices } from '../support/operator-services';
import { listRecords, Replica } from '../support/replica';
import { lockWaits, waitUntil } from '../support/wait';

/** More records than an import writes under the locks of their lists. */
const COUNT = 1200;

const addressOf = (n: number): string => `person${n}@example.com`;

/** Each test stops an import when its leads are written, by a lock of the event that they are in, and lets others write. */
describe('while an import of many leads is under way', () => {
  let url: string;
  let lanyard: InProcess;
  let db: DataSource;
  let tenant: Tenant;
  /** The event of the file's leads, and another one. */
  let event: number;
  let otherEvent: number;
  let oldLead: string;
  let holder: QueryRunner;

  beforeAll(async () => {
    ({ url } = await createTestDatabase());
    db = await asOperator(url);
    lanyard = await startInProcess({ databaseUrl: url });
  });
  beforeEach(async () => {
    tenant = await lanyard.tenant();
    event = await create('/events', eventInput({ eventName: 'Of the file' }));
    otherEvent = await create('/events', eventInput({ eventName: 'Another' }));
    oldLead = await create('/leads', leadInput({ email: 'old@example.com' }));
    holder = db.createQueryRunner();
    await holder.startTransaction();
    await holder.query('select from events where id = $1 for update', [event]);
  });
  afterEach(async () => {
    if (holder.isTransactionActive) await holder.rollbackTransaction();
    await holder.release();
  });

  const create = async <Id>(path: string, body: object): Promise<Id> =>
    (await tenant.api.post(path, body).expect(200)).body.results.id as Id;

  const start = (rows: object[], match?: string): Promise<ImportResult> => {
    const lines = [Object.keys(rows[0] ?? {}), ...rows.map(Object.values)].map((cells) => cells.join(','));
    const content = lines.join('\n');
    const wanted = { mapping: mappingOfNames(Object.keys(rows[0] ?? {})), optionValues: [], match };
    const service = new ImportService(db, DATASETS);
    return service.importRecords(tenant.organizationId, csvImportSource(CSV, wanted, fileOf(content)));
  };

  const rows = (over: (n: number) => object = () => ({})): object[] =>
    Array.from({ length: COUNT }, (_, n) => ({
      email: addressOf(n),
      firstName: `Imported ${n}`,
      events: event,
      ...over(n),
    }));

  const isWaiting = async (): Promise<boolean> => (await lockWaits(url)) > 0;
  const stopped = () => waitUntil(isWaiting);
  const release = () => holder.rollbackTransaction();

  const emails = async (path: string): Promise<(string | null)[]> => {
    const leads = await tenant.api.all<{ email: string | null; leadId?: string }>(path, 'leads');
    return leads.map(({ email }) => email);
  };

  const expectExactLists = async (): Promise<void> => {
    expect((await new CheckService(db, SCHEMA).check(false)).lists?.wrong).toBe(0);
  };

  it('others create, change, associate and delete leads, which stand before those of the import', async () => {
    const replica = new Replica(tenant.api);
    await replica.follow();
    const goes = await create<string>('/leads', leadInput({ email: 'goes@example.com' }));
    const importing = start(rows());
    await stopped();
    const captured = await create<string>('/leads', leadInput({ email: 'captured@example.com' }));
    const batch = { matchBy: 'email', leads: [leadInput({ email: 'batch@example.com' })] };
    await tenant.api.post('/leads/batch', batch).expect(200);
    await tenant.api.patch(`/leads/${oldLead}`, { jobTitle: 'Buyer' }).expect(200);
    const eventLeads = [{ leadId: captured, registered: true, checkedIn: true }];
    await tenant.api.put(`/events/${otherEvent}/leads`, { eventLeads }).expect(200);
    await tenant.api.delete(`/leads/${goes}`).expect(200);
    const before = ['old@example.com', 'captured@example.com', 'batch@example.com'];
    expect(await emails('/leads')).toEqual(before);
    await replica.follow();
    expect(replica.differencesFrom(await listRecords(tenant.api))).toEqual([]);
    await release();
    expect((await importing).outcomes).toEqual({ leads: { created: COUNT, updated: 0, unchanged: 0 } });
    await create('/leads', leadInput({ email: 'last@example.com' }));
    const imported = Array.from({ length: COUNT }, (_, n) => addressOf(n));
    expect(await emails('/leads')).toEqual([...before, ...imported, 'last@example.com']);
    const { total } = (await tenant.api.get('/leads', { offset: 7, limit: 7 }).expect(200)).body.results;
    expect(total).toBe(COUNT + 4);
    await replica.follow();
    expect(replica.differencesFrom(await listRecords(tenant.api))).toEqual([]);
    await expectExactLists();
  });

  it('the leads of its event are put in order, too, also one that others associate at the same time', async () => {
    const importing = start(rows((n) => ({ id: n === 7 ? oldLead : '' })));
    await stopped();
    // The import waits for the event when it has taken a snapshot, in which this lead is not associated yet.
    await holder.query(
      `insert into event_leads (organization_id, event_id, lead_id, registered, checked_in) values ($1, $2, $3, true, true)`,
      [tenant.organizationId, event, oldLead],
    );
    await holder.commitTransaction();
    expect((await importing).outcomes).toEqual({ leads: { created: COUNT - 1, updated: 1, unchanged: 0 } });
    const { results } = (await tenant.api.get(`/events/${event}/leads`, { limit: 1 }).expect(200)).body;
    expect(results).toMatchObject({ total: COUNT, eventLeads: [{ leadId: oldLead, checkedIn: true }] });
    await expectExactLists();
  });

  it('with --match it updates the leads that others have created meanwhile, so that no address has two', async () => {
    // It looks for stored leads when the file is staged and when it begins to write, and does not begin anew.
    const lookups = jest.spyOn(Stage.prototype, 'matchStoredRows');
    const importing = start(rows(), 'email');
    await stopped();
    const batch = { matchBy: 'email', leads: [leadInput({ email: addressOf(5).toUpperCase(), firstName: 'Batch' })] };
    const { outcome, lead } = (await tenant.api.post('/leads/batch', batch).expect(200)).body.results.leads[0];
    expect(outcome).toBe('created');
    const posted = await create<string>('/leads', leadInput({ email: addressOf(9), firstName: 'Posted' }));
    await release();
    expect((await importing).outcomes).toEqual({ leads: { created: COUNT - 2, updated: 2, unchanged: 0 } });
    expect(lookups).toHaveBeenCalledTimes(2);
    const doubles = await db.query<unknown[]>(
      'select lower(email) from leads where organization_id = $1 group by 1 having count(*) > 1',
      [tenant.organizationId],
    );
    expect(doubles).toEqual([]);
    for (const [id, firstName] of [
      [lead.id, 'Imported 5'],
      [posted, 'Imported 9'],
    ]) {
      const { results } = (await tenant.api.get(`/leads/${id}`).expect(200)).body;
      expect(results).toMatchObject({ firstName, company: { name: 'Cobalt Systems' } });
    }
    const { total } = (await tenant.api.get(`/events/${event}/leads`).expect(200)).body.results;
    expect(total).toBe(COUNT);
    await expectExactLists();
  });

  it('a batch that holds the list and waits for a lead of the file does not end the import', async () => {
    const importing = start(rows((n) => ({ id: n === 7 ? oldLead : '' })));
    await stopped();
    const batch = { matchBy: 'email', leads: [leadInput({ email: 'old@example.com', firstName: 'Batch' })] };
    const sent = tenant.api.post('/leads/batch', batch).then(({ status }) => status);
    await waitUntil(async () => (await lockWaits(url)) === 2);
    await release();
    expect((await importing).outcomes).toEqual({ leads: { created: COUNT - 1, updated: 1, unchanged: 0 } });
    expect([200, 503]).toContain(await sent);
    await expectExactLists();
  });

  it('it begins anew when others got as far as its positions', async () => {
    const importing = start(rows());
    await stopped();
    await db.query(`select list_take($1, 'leads', 1000000)`, [tenant.organizationId]);
    await create('/leads', leadInput({ email: 'far@example.com' }));
    await release();
    expect((await importing).outcomes).toEqual({ leads: { created: COUNT, updated: 0, unchanged: 0 } });
    expect((await emails('/leads')).slice(0, 3)).toEqual(['old@example.com', 'far@example.com', addressOf(0)]);
    await expectExactLists();
  });

  it('it waits for the list of industry events before it locks the lists of the organization', async () => {
    await release();
    await holder.startTransaction();
    await holder.query(`select list_take(0, 'industry_events', 0)`);
    const leads = Array.from({ length: COUNT }, (_, n) => ({ id: randomUUID(), email: addressOf(n) }));
    const importing = tenant.import({ leads, industryEvents: [industryEventInput()] });
    await stopped();
    await create('/leads', leadInput({ email: 'captured@example.com' }));
    await release();
    await importing;
    expect((await emails('/leads')).slice(0, 3)).toEqual(['old@example.com', 'captured@example.com', addressOf(0)]);
    await expectExactLists();
  });

  it('the deletion of its organization waits for it', async () => {
    const services = await operatorServices(url);
    const importing = start(rows((n) => ({ id: n === 7 ? oldLead : '' })));
    await stopped();
    const deletion = services.get(OrganizationsService).delete(tenant.organizationId);
    await waitUntil(async () => (await lockWaits(url)) === 2);
    await release();
    expect((await importing).imported).toMatchObject({ leads: COUNT });
    await deletion;
    await services.close();
    const left = await db.query<unknown[]>('select from leads where organization_id = $1', [tenant.organizationId]);
    expect(left).toHaveLength(0);
  });
});
