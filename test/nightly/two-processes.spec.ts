import type { ChildProcess } from 'node:child_process';
import type { IssuedKey } from '../../src/access/api-keys.service';
import { leadInput } from '../support/builders';
import { ApiClient } from '../support/client';
import { createTestDatabase } from '../support/database';
import { Operator } from '../support/operator';
import { startProgram, waitForExit, waitForOutput } from '../support/program';
import { Receiver } from '../support/servers/receiver';
import { NO_REDIS, redisUrl } from '../support/servers/redis-server';
import { describeUnless } from '../support/skipping';
import { waitUntil } from '../support/wait';

/** test/limits/two-servers.spec.ts has two servers in one process, which share its memory. */
describeUnless(NO_REDIS)(`two processes on one PostgreSQL and one Redis${NO_REDIS}`, () => {
  let operator: Operator;
  let processes: ChildProcess[];
  let urls: string[];
  let organization: string;

  const start = async (settings: NodeJS.ProcessEnv): Promise<[ChildProcess, string]> => {
    const child = startProgram(settings);
    const said = await waitForOutput(child, 'To issue an API key');
    return [child, /http:\S+/.exec(said)?.[0] ?? ''];
  };
  const issue = (...limits: string[]): Promise<IssuedKey> =>
    operator.json(['keys', 'issue', '--organization', organization, ...limits]);
  const clients = (key: string): ApiClient[] => urls.map((url) => new ApiClient(url, key));

  beforeAll(async () => {
    const { url: DATABASE_URL } = await createTestDatabase();
    operator = new Operator({ DATABASE_URL });
    const settings = { DATABASE_URL, REDIS_URL: await redisUrl() };
    const started = await Promise.all([start(settings), start(settings)]);
    processes = started.map(([child]) => child);
    urls = started.map(([, url]) => url);
    const { id } = await operator.json<{ id: number }>(['organizations', 'create', '--name', 'Pier']);
    organization = String(id);
  }, 60_000);
  afterAll(() => processes.forEach((child) => child.kill('SIGKILL')));

  it('share the tokens of a key', async () => {
    const { key } = await issue('--max-tokens', '20', '--refill-rate', '0.001');
    const each = clients(key);
    const sent = Array.from({ length: 100 }, (_, n) => (each[n % 2] as ApiClient).get('/tagGroups'));
    const statuses = (await Promise.all(sent)).map(({ status }) => status);
    expect(statuses.filter((status) => status === 200)).toHaveLength(20);
    expect(statuses.filter((status) => status === 429)).toHaveLength(80);
  });

  it('repeat each other for an Idempotency-Key, and see at once what the other wrote', async () => {
    const { key } = await issue('--max-tokens', '1000', '--refill-rate', '1000');
    const create = (client: ApiClient) =>
      client.post('/leads', leadInput()).set('Idempotency-Key', 'scan-1').expect(200);
    const [first, second] = clients(key) as [ApiClient, ApiClient];
    const { body: created } = await create(first);
    expect((await create(second)).body).toEqual(created);
    const { id } = created.results as { id: string };
    await first.patch(`/leads/${id}`, { jobTitle: 'Pilot' }).expect(200);
    const { body } = await second.get(`/leads/${id}`).expect(200);
    expect(body.results.jobTitle).toBe('Pilot');
    await second.delete(`/leads/${id}`).expect(200);
    await first.get(`/leads/${id}`).expect(404);
  });

  it('send each change once, and the other goes on when one is killed', async () => {
    const { key } = await issue('--max-tokens', '1000', '--refill-rate', '1000');
    const each = clients(key) as [ApiClient, ApiClient];
    const receiver = await new Receiver(each[0]).listen();
    await operator.json([
      'webhooks',
      'create',
      '--organization',
      organization,
      '--url',
      receiver.url,
      '--since',
      'now',
    ]);
    const deliveries = async (client: ApiClient): Promise<number> => {
      const before = receiver.taken.length;
      await client.post('/leads', leadInput()).expect(200);
      await waitUntil(() => receiver.taken.length > before);
      return receiver.taken.length - before;
    };
    expect([await deliveries(each[0]), await deliveries(each[1])]).toEqual([1, 1]);
    await waitForExit(processes[0] as ChildProcess, 'SIGKILL');
    expect(await deliveries(each[1])).toBe(1);
    expect(receiver.mostAtOnce).toBe(1);
  });
});
