import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { query } from '../../src/testing/test-database';
import { createExhibitor, eventInput, leadInput } from '../support/builders';
import { createDatabase } from '../support/database';
import type { Tenant } from '../support/lanyard';
import { type Installation, install, Operator } from '../support/operator';

interface Entry {
  at: string;
  keyId: string | null;
  operation: string;
  resource: string;
  id: unknown;
  change: string;
  importId?: string;
}

const UUID = /^[0-9a-f-]{36}$/;

describe('operator audit', () => {
  const folder = mkdtempSync(join(tmpdir(), 'lanyard-audit-'));
  let installation: Installation;
  let tenant: Tenant;
  beforeAll(async () => void (installation = await install()));
  beforeEach(async () => void (tenant = await installation.server.tenant()));
  afterAll(() => rmSync(folder, { recursive: true }));

  const organization = () => String(tenant.organizationId);
  const run = (...args: string[]) => installation.operator.run(['audit', ...args]);
  const entries = (...args: string[]) =>
    installation.operator.json<Entry[]>(['audit', '--organization', organization(), ...args]);
  const textOf = ({ operation, resource, change }: Entry) => [operation, resource, change].join(' ');
  const texts = async (...args: string[]) => (await entries(...args)).map(textOf);
  const createLead = async ({ api } = tenant) =>
    ((await api.post('/leads', leadInput()).expect(200)).body.results as { id: string }).id;

  it('shows the writes of an organization, oldest first, with the keys of records as the change feed has them', async () => {
    const { api, keyId } = tenant;
    const { id: eventId } = (await api.post('/events', eventInput()).expect(200)).body.results as { id: number };
    const leadId = await createLead();
    await api.put(`/events/${eventId}/leads`, { eventLeads: [{ leadId }] }).expect(200);
    await api.delete(`/leads/${leadId}`).expect(200);
    const all = await entries();
    const entry = (operation: string, resource: string, id: unknown, change: string, of: string | null = keyId) => ({
      at: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:]{8}\.\d{3}Z$/) as string,
      keyId: of,
      operation,
      resource,
      id,
      change,
    });
    expect(all.slice(2)).toEqual([
      entry('createEvent', 'events', eventId, 'created'),
      entry('createLead', 'leads', leadId, 'created'),
      entry('associateEventLeads', 'eventLeads', { eventId, leadId }, 'created'),
      entry('deleteLead', 'leads', leadId, 'deleted'),
    ]);
    expect(all.map(({ at }) => at)).toEqual(all.map(({ at }) => at).sort());
    expect(all.slice(0, 2).map((each) => [textOf(each), each.keyId])).toEqual([
      ['organizations create organizations created', null],
      ['keys issue keys created', null],
    ]);
  });

  it('filters by lead, key and time, and shows the last day by default', async () => {
    const other = await tenant.issueKey({ label: 'booth phone', scope: 'capture' });
    const [one, two] = [await createLead(), await createLead({ ...tenant, api: other.api })];
    await tenant.api.patch(`/leads/${two}`, { jobTitle: 'Buyer' }).expect(200);
    expect(await texts('--lead', one)).toEqual(['createLead leads created']);
    expect((await entries('--lead', two.toUpperCase())).map(({ keyId }) => keyId)).toEqual([other.id, tenant.keyId]);
    expect((await entries('--key', other.id)).map(({ id }) => id)).toEqual([two]);
    expect(await texts('--key', other.id, '--lead', one)).toEqual([]);
    await query(
      installation.database.url,
      `update audit_log set at = at - interval '25 hours' where organization_id = ${organization()} and id = '${one}'`,
    );
    expect(await texts('--lead', one)).toEqual([]);
    expect(await texts('--lead', one, '--since', '2026-01-01')).toEqual(['createLead leads created']);
    expect(await texts('--since', new Date(Date.now() + 60_000).toISOString())).toEqual([]);

    const { stdout } = await run('--organization', organization(), '--key', other.id);
    expect(stdout).toMatch(/^at +keyId +operation +resource +id +change +prefix +label\n/);
    expect(stdout).toMatch(
      new RegExp(` createLead +leads +${two} +created +${other.key.slice(0, 10)} +booth phone$`, 'm'),
    );
    expect(stdout).not.toContain(other.key);
  });

  it('says that nothing was found', async () => {
    const nothing = ['--organization', organization(), '--key', '01980000-0000-7000-8000-000000000000'];
    expect(await run(...nothing)).toEqual({ status: 0, stdout: 'None.\n', stderr: '' });
    expect(await run(...nothing, '--json')).toEqual({ status: 0, stdout: '[]\n', stderr: '' });
    const silent = new Operator({ DATABASE_URL: installation.database.url, LANYARD_AUDIT_DAYS: '0' });
    expect(await silent.run(['audit', '--organization', organization()])).toEqual({
      status: 0,
      stdout: 'None.\nNo audit log is kept: LANYARD_AUDIT_DAYS is 0.\n',
      stderr: '',
    });
  });

  it.each([
    ['an ID that is none', ['--lead', '17'], '--lead must be the ID of a lead'],
    ['a time that is none', ['--since', 'yesterday'], '--since must be'],
    ['a key that is none', ['--key', 'lan_x'], 'must be the ID of a key'],
  ])('rejects %s', async (_, args, message) => {
    const { status, stderr } = await run('--organization', organization(), ...args);
    expect([status, stderr]).toEqual([2, expect.stringContaining(message)]);
  });

  it('has what the operator did to keys, webhooks, records and persons, with the ID of an import', async () => {
    const { operator } = installation;
    const of = ['--organization', organization()];
    const issued = await operator.json<{ id: string }>(['keys', 'issue', ...of, '--scope', 'read']);
    const rotated = await operator.json<{ id: string }>(['keys', 'rotate', issued.id]);
    await operator.json(['keys', 'revoke', rotated.id]);
    const url = ['--url', 'http://127.0.0.1:9/'];
    const webhook = await operator.json<{ id: string }>(['webhooks', 'create', ...of, ...url]);
    await query(installation.database.url, `update feed_readers set paused_at = now() where id = '${webhook.id}'`);
    await operator.json(['webhooks', 'resume', webhook.id]);
    await operator.json(['webhooks', 'delete', webhook.id]);
    const { dataset, lead } = createExhibitor();
    await operator.json(['import', '-', ...of], JSON.stringify(dataset));
    await operator.json(['export', ...of]);
    await operator.json([
      'persons',
      'erase',
      ...of,
      '--email',
      lead.email,
      '--yes',
      '1',
      '--record',
      join(folder, 'erased'),
    ]);

    const all = await entries();
    const importId = all.find(({ resource }) => resource === 'imports')?.id as string;
    expect(importId).toMatch(UUID);
    expect(all.find(({ resource, change }) => resource === 'leads' && change === 'created')).toEqual({
      at: expect.any(String) as string,
      keyId: null,
      operation: 'import',
      resource: 'leads',
      id: lead.id,
      change: 'created',
      importId,
    });
    expect(all.filter((each) => 'importId' in each).every((each) => each.importId === importId)).toBe(true);
    const administration = all.filter(({ operation, resource }) => operation !== 'import' || resource === 'imports');
    expect(administration.slice(2).map((each) => [textOf(each), each.keyId, each.id])).toEqual([
      ['keys issue keys created', null, issued.id],
      ['keys rotate keys updated', null, issued.id],
      ['keys rotate keys created', null, rotated.id],
      ['keys revoke keys deleted', null, rotated.id],
      ['webhooks create webhooks created', null, webhook.id],
      ['webhooks resume webhooks updated', null, webhook.id],
      ['webhooks delete webhooks deleted', null, webhook.id],
      ['import imports created', null, importId],
      ['export exports created', null, null],
      ['persons erase leads deleted', null, lead.id],
      ['persons erase erasures created', null, null],
    ]);
  });

  it('has what belongs to the installation, and outlives a restore and a pruned change feed', async () => {
    const { operator, database } = installation;
    const leadId = await createLead();
    const gone = await operator.json<{ id: number }>(['organizations', 'create', '--name', 'Short-lived']);
    await operator.json(['organizations', 'delete', String(gone.id), '--confirm', 'Short-lived']);
    const file = join(folder, 'lanyard.backup');
    await operator.json(['backup', file]);
    const ofInstallation = async (by: Operator) => (await by.json<Entry[]>(['audit'])).map(textOf);
    expect(await ofInstallation(operator)).toEqual([
      'organizations delete organizations deleted',
      'backup backups created',
    ]);
    await query(database.url, 'delete from changes');

    const target = await createDatabase();
    const restored = new Operator({ DATABASE_URL: target.url });
    await restored.json(['restore', file]);
    expect(await ofInstallation(restored)).toEqual([
      'organizations delete organizations deleted',
      'restore restores created',
    ]);
    for (const each of [operator, restored]) {
      const found = await each.json<Entry[]>(['audit', '--organization', organization(), '--lead', leadId]);
      expect(found).toMatchObject([{ operation: 'createLead', keyId: tenant.keyId, id: leadId }]);
    }
  });
});
