import { DataSource } from 'typeorm';
import { AuditLog } from '../../src/access/audit-log.service';
import { ApiKeysService } from '../../src/access/api-keys.service';
import { OrganizationsService } from '../../src/access/organizations.service';
import { ImportService } from '../../src/datasets/import.service';
import { createExhibitor, eventInput, industryEventInput, leadInput } from '../support/builders';
import { type InProcess, startInProcess } from '../support/lanyard';

const EPOCH = new Date(0);

describe('the audit log', () => {
  let lanyard: InProcess;
  beforeAll(async () => void (lanyard = await startInProcess()));

  const entriesOf = async (organizationId: number) =>
    (await lanyard.app.get(AuditLog).list({ organizationId, since: EPOCH })).map((row) => ({
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
