import { randomUUID } from 'node:crypto';
import { DataSource } from 'typeorm';
import { query } from '../../src/testing/test-database';
import { createExhibitor, leadInput } from '../support/builders';
import type { Tenant } from '../support/lanyard';
import { install, Installation, waitForOutcome } from '../support/operator';
import { waitForOutput, waitForExit } from '../support/program';
import { type Change, listRecords, nameOf } from '../support/replica';
import { waitUntil } from '../support/wait';

describe('operator changes', () => {
  let installation: Installation;
  let tenant: Tenant;
  let command: string[];
  beforeAll(async () => void (installation = await install()));
  beforeEach(async () => {
    tenant = await installation.server.tenant();
    command = ['changes', '--organization', String(tenant.organizationId)];
  });

  it('shows the snapshot as a table without the contents of records', async () => {
    const { dataset, lead, tagGroup } = createExhibitor();
    const { expo } = await tenant.import(dataset);
    const { status, stdout, stderr } = await installation.operator.run(command);
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
    const lines = stdout.split('\n').map((line) => line.split(/ {2,}/));
    expect(lines[0]).toEqual(['at', 'operation', 'resource', 'id']);
    expect(lines[1]).toEqual([expect.stringMatching(/^20.*Z$/), 'snapshot', 'tagGroups', tagGroup.id]);
    expect(lines.map(([, , ...last]) => last)).toContainEqual(['eventLeads', `${expo} ${lead.id}`]);
    expect(lines).toHaveLength(8);
    expect(stdout).not.toContain(lead.firstName);
    expect(stdout).not.toContain(lead.email);
    expect(stdout).not.toContain(lead.remoteIds[0]?.id);
  });

  it('prints changes as clients get them with --json, as one JSON value of several pages', async () => {
    expect(await installation.operator.json<Change[]>(command)).toEqual([]);
    await tenant.import(createExhibitor().dataset);
    await tenant.import({
      leads: Array.from({ length: 520 }, (_, n) => ({ id: randomUUID(), lastName: `Number ${n}` })),
    });
    const changes = await installation.operator.json<Change[]>(command);
    const records = await listRecords(tenant.api);
    expect(new Map(changes.map((change) => [nameOf(change), change.record]))).toEqual(records);
    expect(changes.length).toBeGreaterThan(520);
  });

  it('rejects an organization that does not exist', async () => {
    const { status, stderr } = await installation.operator.run(['changes', '--organization', '999999']);
    expect({ status, stderr }).toEqual({ status: 1, stderr: expect.stringContaining('does not exist') as string });
  });

  it('shows changes from now on with --follow, until Ctrl-C', async () => {
    await tenant.import(createExhibitor().dataset);
    const child = installation.operator.start([...command, '--follow']);
    expect(await waitForOutput(child, 'id\n')).toMatch(/^at +operation +resource +id\n$/);
    const { body } = await tenant.api.post('/leads', leadInput()).expect(200);
    const { id } = body.results as { id: string };
    expect(await waitForOutput(child, '\n')).toMatch(new RegExp(`^20\\S+Z  created    leads               ${id}\\n$`));
    await tenant.api.delete(`/leads/${id}`).expect(200);
    expect(await waitForOutput(child, '\n')).toMatch(new RegExp(`Z  deleted    leads               ${id}\\n$`));
    expect(await waitForExit(child, 'SIGINT')).toBeNull();
    expect(child.signalCode).toBe('SIGINT');
  });

  it('shows the header of --follow once every change from then on is shown', async () => {
    const holder = await new DataSource({ type: 'postgres', url: installation.database.url }).initialize();
    let said = '';
    const child = await holder.transaction(async (manager) => {
      await manager.query('lock table changes_key in access exclusive mode');
      const started = installation.operator.start([...command, '--follow']);
      started.stdout?.on('data', (chunk) => (said += String(chunk)));
      const waiting = `select from pg_stat_activity
        where datname = current_database() and wait_event_type = 'Lock' and query like '%openTransactions%'`;
      await waitUntil(async () => (await query(installation.database.url, waiting)).length === 1);
      expect(said).toBe('');
      return started;
    });
    await holder.destroy();
    await waitUntil(() => /^at +operation +resource +id\n$/.test(said));
    expect(await waitForExit(child, 'SIGINT')).toBeNull();
  });

  it('fails when the feed is reset in the meantime', async () => {
    const child = installation.operator.start([...command, '--follow']);
    await waitForOutput(child, '\n');
    await query(installation.database.url, 'update changes_key set generation = generation + 1');
    const { status, stderr } = await waitForOutcome(child);
    expect({ status, stderr }).toEqual({
      status: 1,
      stderr: 'The change feed was reset in the meantime. Run the command again.\n',
    });
  });
});
