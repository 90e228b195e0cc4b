import { Body, Controller, Injectable, Module, Post } from '@nestjs/common';
import { InjectRepository, TypeOrmModule } from '@nestjs/typeorm';
import { DataSource, Repository } from 'typeorm';
import { AuditLog } from '../../src/access/audit-log.service';
import { ApiKeysService } from '../../src/access/api-keys.service';
import { OrganizationsService } from '../../src/access/organizations.service';
import { type Caller, CurrentCaller } from '../../src/http/pipeline/caller';
import { Public } from '../../src/http/pipeline/public';
import { Transactions } from '../../src/data/database/transactions';
import { ImportService } from '../../src/exchange/datasets/import.service';
import { EventEntity } from '../../src/contexts/events/event.entity';
import { type Change, OnChanges } from '../../src/feed/changes/on-changes';
import { FeedClock } from '../../src/feed/changes/feed-clock';
import { createExhibitor, eventInput, industryEventInput, leadInput } from '../support/builders';
import { type InProcess, startInProcess } from '../support/lanyard';
import { type PlainServer, startWithModules } from '../support/plain-modules';
import { waitUntil } from '../support/wait';

const EPOCH = new Date(0);

describe('the audit log', () => {
  let lanyard: InProcess;
  beforeAll(async () => void (lanyard = await startInProcess()));

  const entriesOf = async (organizationId: number) =>
    (await lanyard.app.get(AuditLog).list({ organization: organizationId, since: EPOCH })).map((row) => ({
      ...row,
      text: [row.operation, row.resource, row.change].join(' '),
    }));
  const textsOf = async (organizationId: number) =>
    (await entriesOf(organizationId))
      .map(({ text }) => text)
      .filter((text) => !/^(import|keys|organizations) /.test(text));

  it('names the key, the operation and the record of each write', async () => {
    const { api, organizationId, keyId } = await lanyard.tenant();
    const lead = (await api.post('/leads', leadInput()).expect(200)).body.results as { id: string };
    await api.patch(`/leads/${lead.id}`, { jobTitle: 'Buyer' }).expect(200);
    await api.patch(`/leads/${lead.id}`, { jobTitle: 'Buyer' }).expect(200);
    await api.delete(`/leads/${lead.id}`).expect(200);
    const entries = (await entriesOf(organizationId)).filter(({ id }) => id === lead.id);
    expect(entries.map(({ text }) => text)).toEqual([
      'createLead leads created',
      'patchLead leads updated',
      'deleteLead leads deleted',
    ]);
    expect(entries.map((entry) => entry.keyId)).toEqual([keyId, keyId, keyId]);
  });

  it('has the writes of a transaction, of the catalog and of bookmarks, and none of a dry run', async () => {
    const { api, organizationId } = await lanyard.tenant();
    const event = (await api.post('/events', eventInput()).expect(200)).body.results as { id: number };
    const lead = (await api.post('/leads', leadInput()).expect(200)).body.results as { id: string };
    const links = { eventLeads: [{ leadId: lead.id }] };
    await api.put(`/events/${event.id}/leads`, links).expect(200);
    await api.put(`/events/${event.id}/leads`, links).expect(200);
    await api.post('/leads', leadInput()).set('Prefer', 'tx=rollback').expect(200);
    const { industryEvent } = (await api.post('/industryEvents', industryEventInput()).expect(200)).body.results;
    await api.post(`/industryEvents/${industryEvent.id}/bookmark`).expect(200);
    await api.delete(`/industryEvents/${industryEvent.id}/bookmark`).expect(200);
    await api.delete(`/events/${event.id}`).expect(200);
    expect(await textsOf(organizationId)).toEqual([
      'createEvent events created',
      'createLead leads created',
      'associateEventLeads eventLeads created',
      'createIndustryEvent industryEvents created',
      'bookmarkIndustryEvent industryEventBookmarks created',
      'removeIndustryEventBookmark industryEventBookmarks deleted',
      'deleteEvent events deleted',
    ]);
  });

  it('tells SQL as such, and leaves no key on a connection', async () => {
    const { api, organizationId } = await lanyard.tenant();
    const lead = (await api.post('/leads', leadInput()).expect(200)).body.results as { id: string };
    const db = lanyard.app.get(DataSource);
    await db.query(`update leads set job_title = 'SQL' where id = $1`, [lead.id]);
    await db.transaction(async (manager) => {
      await manager.query(`select set_config('lanyard.actor', '', true)`);
      await manager.query(`update leads set job_title = 'psql' where id = $1`, [lead.id]);
    });
    const entries = (await entriesOf(organizationId)).filter(({ id }) => id === lead.id);
    expect(entries.map(({ operation, keyId }) => [operation, keyId === null])).toEqual([
      ['createLead', false],
      ['process', true],
      ['sql', true],
    ]);
  });

  it('names an import in its entries, each record once, and outlives the organization', async () => {
    const { id } = await lanyard.app.get(OrganizationsService).create('Short-lived');
    await lanyard.app.get(ImportService).import(id, createExhibitor().dataset);
    const [own, ...records] = (await entriesOf(id)).filter(({ operation }) => operation === 'import');
    expect(own).toMatchObject({ resource: 'imports', id: own?.importId });
    expect(new Set(records.map(({ importId }) => importId))).toEqual(new Set([own?.id]));
    expect(records.map(({ change }) => change)).not.toContain('updated');
    await lanyard.app.get(OrganizationsService).delete(id);
    expect((await entriesOf(id)).map(({ text }) => text).slice(-1)).toEqual([
      'organizations delete organizations deleted',
    ]);
    expect((await entriesOf(id)).filter(({ change }) => change === 'deleted')).toHaveLength(1);
  });

  it('has no entry where LANYARD_AUDIT_DAYS is 0', async () => {
    const silent = await startInProcess({ auditDays: 0 });
    const { api, organizationId, import: load } = await silent.tenant();
    const lead = (await api.post('/leads', leadInput()).expect(200)).body.results as { id: string };
    await api.patch(`/leads/${lead.id}`, { jobTitle: 'Buyer' }).expect(200);
    await api.post('/events', eventInput()).expect(200);
    await silent.app.get(DataSource).getRepository(EventEntity).update({ organizationId }, { name: 'renamed' });
    await load(createExhibitor().dataset);
    const db = silent.app.get(DataSource);
    expect(await db.query('select operation, resource from audit_log')).toEqual([]);
  });

  it('names the key of each of several creates that are written together', async () => {
    const { organizationId, api } = await lanyard.tenant();
    const limits = { maxTokens: 1_000_000, refillRate: 1_000_000 };
    const keys = await Promise.all([1, 2, 3].map(() => lanyard.app.get(ApiKeysService).issue(organizationId, limits)));
    const created = new Map<string, string>();
    const send = async (n: number): Promise<void> => {
      const key = keys[n % keys.length]!;
      const response = await api.post('/leads', leadInput()).set('x-api-key', key.key).expect(200);
      created.set((response.body.results as { id: string }).id, key.id);
    };
    for (let round = 0; round < 34; round++) await Promise.all(Array.from({ length: 30 }, (_, n) => send(n + round)));
    const entries = (await entriesOf(organizationId)).filter(({ text }) => text === 'createLead leads created');
    expect(entries).toHaveLength(1020);
    expect(entries.filter(({ id, keyId }) => created.get(id!) !== keyId)).toEqual([]);
  });
});

type Way = (db: DataSource, id: string) => Promise<unknown>;

/** Ways in which a handler of a team's own changes an event. */
const WAYS: Record<string, Way> = {
  'save of a loaded row': async (db, id) => {
    const events = db.getRepository(EventEntity);
    const event = await events.findOneByOrFail({ id });
    return events.save({ ...event, name: 'saved' });
  },
  update: (db, id) => db.getRepository(EventEntity).update({ id }, { name: 'updated' }),
  'query builder': (db, id) =>
    db.createQueryBuilder().update(EventEntity).set({ name: 'built' }).where({ id }).returning('id').execute(),
  'raw SQL': (db, id) => db.query(`update events set name = 'raw' where id = $1 returning id`, [id]),
  'raw SQL that begins with a query': (db, id) =>
    db.query(
      `/* a comment */ with recursive n(n) as (select 1 union all select n + 1 from n where n < 3)
       update events set name = 'with' where id = $1`,
      [id],
    ),
  'several statements': (db, id) =>
    db.query(`update events set name = 'first' where id = ${id}; update events set name = 'second' where id = ${id}`),
  transaction: (db, id) =>
    db.transaction('SERIALIZABLE', async (manager) => {
      await manager.query(`do $$ begin update events set name = 'in a transaction' where id = ${id}; end $$`);
      await manager.transaction((inner) => inner.update(EventEntity, { id }, { name: 'in a savepoint' }));
    }),
  'a transaction of its own': async (db, id) => {
    const runner = db.createQueryRunner();
    await runner.startTransaction();
    await runner.query('set transaction isolation level serializable');
    await runner.manager.update(EventEntity, { id }, { name: 'by a runner' });
    await runner.commitTransaction();
    await runner.release();
  },
};

@Controller('halls')
class HallsController {
  constructor(
    @InjectRepository(EventEntity) private readonly events: Repository<EventEntity>,
    private readonly db: DataSource,
    private readonly transactions: Transactions,
  ) {}

  @Post()
  createHall(@CurrentCaller() { organizationId }: Caller) {
    return this.events.save({ organizationId, name: 'Hall', type: 'CONFERENCE', registrationEnabled: false });
  }

  @Post('change')
  changeHall(@Body() { id, way }: { id: string; way: string }) {
    return WAYS[way]!(this.db, id).then(() => ({}));
  }

  @Post('remove')
  removeHall(@Body() { id }: { id: string }) {
    return this.events.delete({ id });
  }

  @Post('later')
  changeLater(@Body() { id }: { id: string }) {
    this.transactions.afterCommit(() => this.events.update({ id }, { name: 'later' }));
    return {};
  }

  @Post('public')
  @Public()
  changePublicly(@Body() { id }: { id: string }) {
    return this.events.update({ id }, { name: 'by nobody' });
  }
}

@Injectable()
class Renamer {
  constructor(@InjectRepository(EventEntity) private readonly events: Repository<EventEntity>) {}

  @OnChanges({ name: 'renamer', resources: ['leads'], start: 'now' })
  async rename(organizationId: number, changes: Change[]): Promise<void> {
    if (changes.length > 0) await this.events.update({ organizationId }, { name: 'renamed' });
  }
}

@Module({
  imports: [TypeOrmModule.forFeature([EventEntity])],
  controllers: [HallsController],
  providers: [Renamer],
})
class HallsModule {}

describe("the audit log of a team's own handlers", () => {
  let server: PlainServer;
  beforeAll(async () => {
    server = await startWithModules([HallsModule]);
    Object.assign(server.app.get(FeedClock), { pollIntervalMs: 25 });
  });

  /** The entries of a new event that a request creates and changes. */
  const entriesAfter = async (path: string, body: object = {}) => {
    const { api, organizationId, keyId, key } = await server.tenant();
    const headers = { 'x-api-key': key };
    const { body: created } = await server.send('POST', '/halls', { headers });
    const { id } = (created as { results: { id: string } }).results;
    const response = await server.send('POST', path, { headers, body: { ...body, id } });
    expect([path, response.status]).toEqual([path, 200]);
    const entries = async () => {
      const rows = await server.app.get(AuditLog).list({ organization: organizationId, since: EPOCH });
      return rows
        .filter(({ resource }) => resource === 'events')
        .map((row) => [row.eventId === id, row.operation, row.change, row.keyId === keyId ? 'key' : row.keyId]);
    };
    return { api, entries };
  };
  const CREATED = [true, 'createHall', 'created', 'key'];

  it.each(Object.keys(WAYS))('names the key of a change by %s', async (way) => {
    const { entries } = await entriesAfter('/halls/change', { way });
    const [created, ...changed] = await entries();
    expect(created).toEqual(CREATED);
    expect(changed.length).toBeGreaterThan(0);
    expect(new Set(changed.map(String))).toEqual(new Set([String([true, 'changeHall', 'updated', 'key'])]));
  });

  it('names the key of a delete, and of what runs after the commit', async () => {
    expect(await (await entriesAfter('/halls/remove')).entries()).toEqual([
      CREATED,
      [true, 'removeHall', 'deleted', 'key'],
    ]);
    const { entries } = await entriesAfter('/halls/later');
    await waitUntil(async () => (await entries()).length === 2);
    expect((await entries())[1]).toEqual([true, 'changeLater', 'updated', 'key']);
  });

  it('says process where no key is at work: in a public handler and a method with @OnChanges', async () => {
    const { entries, api } = await entriesAfter('/halls/public');
    const byNobody = [true, 'process', 'updated', null];
    expect(await entries()).toEqual([CREATED, byNobody]);
    await api.post('/leads', leadInput()).expect(200);
    await waitUntil(async () => (await entries()).length > 2);
    expect((await entries()).slice(1)).toEqual([byNobody, byNobody]);
  });
});
