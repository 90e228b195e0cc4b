import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import request from 'supertest';
import { migrate } from '../../src/database/migrate';
import { demo } from '../../src/cli/seed/demo';
import { allAnswers } from '../support/all-answers';
import { eventInput, exhibitor, industryEventInput, leadInput, phone } from '../support/builders';
import type { ApiClient } from '../support/client';
import { emptyDatabase } from '../support/database';
import { EmbeddedFixtures } from '../support/embedded-fixtures';
import { type InProcess, startInProcess, type Tenant } from '../support/lanyard';
import { install, Operator } from '../support/operator';
import { dumpAndRestore, NO_PG_DUMP } from '../support/pg-dump';
import { unless } from '../support/redis-server';

/** What must be there again after a backup was restored. */
interface Filled {
  tenants: { key: string; organizationId: number; answers: Map<string, string> }[];
  revoked: string;
  /** a lead that was sent under an Idempotency-Key, and what was answered */
  repeated: { key: string; answer: string };
}

describe('a backup', () => {
  const folder = mkdtempSync(join(tmpdir(), 'lanyard-backup-'));
  const embedded = new EmbeddedFixtures();
  afterAll(async () => {
    await embedded.clean();
    rmSync(folder, { recursive: true, force: true });
  });

  unless(NO_PG_DUMP)(`by pg_dump${NO_PG_DUMP}`, () => {
    it('gives every answer byte for byte, in an empty database', async () => {
      const source = await install();
      const filled = await fill(source.server);
      const target = await emptyDatabase();
      await dumpAndRestore(source.database.url, target.url, join(folder, 'lanyard.dump'));
      await source.server.stop();

      expect(await migrate(target.url)).toEqual([]);
      const restored = await startInProcess({ databaseUrl: target.url });
      await expectAllOf(filled, restored, new Operator({ DATABASE_URL: target.url }));
      await restored.stop();
      await target.drop();
    }, 90_000);
  });

  describe('of the embedded PostgreSQL, by a copy of its directory while it is stopped', () => {
    it('gives every answer byte for byte, in another place', async () => {
      const dataDir = embedded.dataDir();
      const postgres = await embedded.start({ dataDir });
      await migrate(postgres.url);
      const server = await startInProcess({ databaseUrl: postgres.url });
      const filled = await fill(server);
      await server.stop();
      await postgres.stop();
      const copy = embedded.dataDir();
      const archive = join(folder, 'lanyard.tar.gz');
      execFileSync('tar', ['-czf', archive, '-C', dataDir, '.']);
      mkdirSync(copy);
      execFileSync('tar', ['-xpzf', archive, '-C', copy]);

      const { url } = await embedded.start({ dataDir: copy });
      const restored = await startInProcess({ databaseUrl: url });
      await expectAllOf(filled, restored, new Operator({ DATABASE_URL: url }));
      await restored.stop();
    }, 90_000);
  });
});

/** Two organizations, by import and through the API, with all that a dump could lose. */
async function fill(server: InProcess): Promise<Filled> {
  const [first, second] = [await server.tenant(), await server.tenant()];
  await first.import(demo);
  const { users, tagGroup, event, activation, lead, activity } = exhibitor();
  const records = { users, tagGroups: [tagGroup], events: [event], activations: [activation], leads: [lead] };
  await second.import({ ...records, leadActivityEvents: [activity(), activity({ eventType: 'PHONE' })] });
  for (const { api } of [first, second]) await write(api);
  const { key, id } = await second.issueKey({});
  await new Operator({ DATABASE_URL: server.config.databaseUrl }).json(['keys', 'revoke', id]);
  const repeated = { key: first.key, answer: await repeat(server, first.key) };
  const tenants = [];
  for (const { api, key, organizationId } of [first, second]) {
    tenants.push({ key, organizationId, answers: await allAnswers(api) });
  }
  return { tenants, revoked: key, repeated };
}

async function write(api: ApiClient): Promise<void> {
  const { body: event } = await api.post('/events', eventInput()).expect(200);
  const { body: lead } = await api.post('/leads', leadInput({ firstName: 'Éva "\\"', lastName: '🦊\t' })).expect(200);
  const { body: gone } = await api.post('/leads', leadInput()).expect(200);
  await api
    .put(`/events/${event.results.id}/leads`, {
      eventLeads: [{ leadId: lead.results.id }, { leadId: gone.results.id }],
    })
    .expect(200);
  await api.delete(`/leads/${gone.results.id}`).expect(200);
  const remoteId = { id: 'crm-1', integrationType: 'ZOHO' };
  await api.patch(`/leads/${lead.results.id}`, { phoneNumbers: [phone()], remoteId }).expect(200);
  const { body: expo } = await api.post('/industryEvents', industryEventInput({ venueCity: 'Wrocław' })).expect(200);
  await api.post(`/industryEvents/${expo.results.industryEvent.id}/bookmark`).expect(200);
}

/** Sends one lead under one Idempotency-Key, however often it is called. */
async function repeat(server: InProcess, key: string): Promise<string> {
  const sent = request(server.baseUrl).post('/leads').set({ 'x-api-key': key, 'idempotency-key': 'scan-1' });
  const { text } = await sent.send(leadInput({ lastName: 'Once' })).expect(200);
  return text;
}

async function expectAllOf({ tenants, revoked, repeated }: Filled, server: InProcess, operator: Operator) {
  expect(await repeat(server, repeated.key)).toBe(repeated.answer);
  for (const { key, answers } of tenants) {
    expect(answers.size).toBeGreaterThan(20);
    expect(await allAnswers(server.client(key))).toEqual(answers);
  }
  await server.client(revoked).get('/leads').expect(403);
  const found = await operator.json<{ documents: object; lists: object }>(['check']);
  expect(found).toMatchObject({ documents: { wrong: 0 }, lists: { wrong: 0 } });
  for (const { key } of tenants) await write(server.client(key));
  await expectNewNumbers(tenants, operator);
}

/** Identity columns go on behind what was restored. */
async function expectNewNumbers(tenants: Pick<Tenant, 'key' | 'organizationId'>[], operator: Operator): Promise<void> {
  const { id } = await operator.json<{ id: number }>(['organizations', 'create', '--name', 'Late']);
  expect(id).toBeGreaterThan(Math.max(...tenants.map(({ organizationId }) => organizationId)));
  const { users, tagGroup, event } = exhibitor();
  const dataset = JSON.stringify({ users, tagGroups: [tagGroup], events: [event] });
  await operator.json(['import', '-', '--organization', String(id)], dataset);
  expect(await operator.json(['check'])).toMatchObject({ documents: { wrong: 0 }, lists: { wrong: 0 } });
}
