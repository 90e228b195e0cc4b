import { randomUUID } from 'node:crypto';
import { leadInput } from '../support/builders';
import { type Installation, install } from '../support/operator';
import { rejectWith, Receiver } from '../support/servers/receiver';
import { waitUntil } from '../support/wait';

interface Created {
  id: string;
  secret: string;
}

describe('operator webhooks', () => {
  let installation: Installation;
  let receiver: Receiver;
  let organization: string;

  beforeAll(async () => {
    installation = await install();
  });
  let newLead: () => Promise<unknown>;
  beforeEach(async () => {
    const { organizationId, api } = await installation.server.tenant();
    organization = String(organizationId);
    newLead = () => api.post('/leads', leadInput()).expect(200);
    receiver = await new Receiver(api).listen();
  });

  const run = (...args: string[]) => installation.operator.run(['webhooks', ...args]);
  const json = <T>(...args: string[]) => installation.operator.json<T>(['webhooks', ...args]);
  const create = (...more: string[]) =>
    json<Created>('create', '--organization', organization, '--url', receiver.url, ...more);

  it('creates a webhook and shows its secret once, and the server sends to it', async () => {
    const created = await create('--resources', 'leads,eventLeads');
    const url = receiver.url.replace(/\?.*/, '');
    const resources = ['leads', 'eventLeads'];
    expect(created).toEqual({
      id: expect.any(String) as string,
      secret: expect.stringMatching(/^whsec_[\w+/]{43}=$/) as string,
      organizationId: Number(organization),
      url,
      resources,
      state: 'active',
    });
    receiver.secrets = [created.secret];
    await waitUntil(() => receiver.taken.length === 1);
    const { id, organizationId } = { id: created.id, organizationId: Number(organization) };
    await waitUntil(async () => (await json<{ lastStatus: number }[]>('list'))[0]?.lastStatus === 204);
    const [listed, ...others] = await json<object[]>('list', '--organization', organization);
    expect(others).toEqual([]);
    expect(listed).toEqual({
      id,
      organizationId,
      url,
      subscription: null,
      keyIds: null,
      resources,
      state: 'active',
      lastSuccessAt: expect.any(String) as string,
      lastStatus: 204,
      lastError: null,
      failingSince: null,
      nextAttemptAt: null,
      waiting: null,
      createdAt: expect.any(String) as string,
    });
    expect((await run('list')).stdout).not.toMatch(/token=mine|whsec_/);
  });

  it('sends a ping, whatever the state of the webhook', async () => {
    const { id } = await create('--since', 'now');
    expect(await json('disable', id)).toMatchObject({ id, state: 'disabled' });
    expect(await json('test', id)).toEqual({ status: 204, milliseconds: expect.any(Number) as number });
    expect(receiver.deliveries[0]?.message).toEqual({
      type: 'ping',
      timestamp: expect.any(String) as string,
      organizationId: Number(organization),
    });
    receiver.answer = rejectWith(500);
    const rejected = await run('test', id, '--json');
    expect(rejected.stderr).toBe('The receiver did not acknowledge the ping.\n');
    expect(rejected.status).toBe(1);
    expect(JSON.parse(rejected.stdout)).toMatchObject({ status: 500 });
    await receiver.close();
    const away = await run('test', id, '--json');
    expect({ ...away, stdout: JSON.parse(away.stdout) as object }).toEqual({
      status: 1,
      stdout: { error: 'ECONNREFUSED' },
      stderr: 'The receiver did not acknowledge the ping.\n',
    });
    expect(await json('enable', id)).toMatchObject({ id, state: 'active' });
  });

  it('lists since when a webhook fails, its next attempt, and the waiting changes', async () => {
    receiver.answer = rejectWith(500);
    const { id } = await create();
    await waitUntil(
      async () => (await json<{ state: string }[]>('list', '--organization', organization))[0]?.state === 'failing',
    );
    const [failing] = await json<{ failingSince: string; nextAttemptAt: string }[]>(
      'list',
      '--organization',
      organization,
    );
    const wait = Date.parse(failing!.nextAttemptAt) - Date.parse(failing!.failingSince);
    expect(wait).toBeGreaterThanOrEqual(5_000);
    expect(wait).toBeLessThanOrEqual(6_100);
    await json('enable', id, '--since', 'now');
    await json('disable', id);
    await newLead();
    const [disabled] = await json<object[]>('list', '--organization', organization);
    const waiting = { phase: 'changes', changes: 1, since: expect.any(String) as string };
    expect(disabled).toMatchObject({ id, state: 'disabled', failingSince: null, nextAttemptAt: null, waiting });
    expect((await run('list', '--organization', organization)).stdout).toMatch(
      / phase changes, changes 1, since \d{4}-/,
    );
  });

  it('rotates a secret, and deletes the webhook', async () => {
    const { id, secret } = await create('--since', 'now');
    const rotated = await json<{ secret: string; oldExpiresAt: string }>('rotate-secret', id, '--overlap', '2h');
    expect(rotated.secret).not.toBe(secret);
    const hours = (Date.parse(rotated.oldExpiresAt) - Date.now()) / 3_600_000;
    expect(hours).toBeCloseTo(2, 1);
    expect(await json('delete', id)).toEqual({ id });
    expect((await run('delete', id)).status).toBe(1);
  });

  it('rejects an eleventh webhook', async () => {
    for (let n = 0; n < 10; n++) await create('--since', 'now');
    expect(await run('create', '--organization', organization, '--url', receiver.url)).toEqual({
      status: 1,
      stdout: '',
      stderr: `Organization ${organization} already has the maximum of 10 webhooks.\n`,
    });
  });

  it.each<[number, string[]]>([
    [1, ['create', '--organization', '99999', '--url', 'https://crm.example.com']],
    [2, ['create', '--organization', 'one', '--url', 'https://crm.example.com']],
    [2, ['create', '--organization', '1', '--url', 'http://crm.example.com']],
    [2, ['create', '--organization', '1', '--url', 'https://a:b@crm.example.com']],
    [2, ['create', '--organization', '1', '--url', 'https://2852039166/latest/meta-data']],
    [2, ['create', '--organization', '1', '--url', 'https://crm.example.com', '--resources', 'users']],
    [2, ['create', '--organization', '1', '--url', 'https://crm.example.com', '--since', 'ever']],
    [1, ['list', '--organization', '99999']],
    [1, ['test', randomUUID()]],
    [2, ['enable', 'mine']],
    [2, ['rotate-secret', randomUUID(), '--overlap', '24w']],
    [1, ['rotate-secret', randomUUID(), '--overlap', '24']],
    [2, ['create', '--organization', '1']],
    [2, ['list', '--all']],
    [2, ['disable']],
  ])('rejects with status %i: %j', async (status, args) => {
    const refused = await run(...args);
    expect(refused).toMatchObject({ status, stdout: '' });
    expect(refused.stderr).toMatch(/^.+\n$/);
  });
});
