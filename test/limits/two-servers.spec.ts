import { ApiClient } from '../support/client';
import { InProcess, startInProcess } from '../support/lanyard';
import { leadInput } from '../support/builders';
import { NO_REDIS, redisUrl } from '../support/servers/redis-server';
import { describeUnless } from '../support/skipping';

describeUnless(NO_REDIS)(`two servers on one PostgreSQL and one Redis${NO_REDIS}`, () => {
  let first: InProcess;
  let second: InProcess;
  beforeAll(async () => {
    const settings = { redisUrl: await redisUrl() };
    first = await startInProcess(settings);
    second = await startInProcess({ ...settings, databaseUrl: first.config.databaseUrl });
  });

  it('share the buckets', async () => {
    const { issueKey } = await first.tenant();
    const { key } = await issueKey({ maxTokens: 20, refillRate: 0.001 });
    const clients = [first.client(key), second.client(key)];
    const answers = await Promise.all(
      Array.from({ length: 100 }, (_, i) => (clients[i % 2] as ApiClient).get('/tagGroups')),
    );
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(20);
    expect(answers.filter(({ status }) => status === 429)).toHaveLength(80);
  });

  it('see what the other wrote, at once', async () => {
    const tenant = await first.tenant();
    const other = second.client(tenant.key);
    const { body } = await tenant.api.post('/leads', leadInput()).expect(200);
    expect((await other.get(`/leads/${body.results.id}`).expect(200)).body).toEqual(body);
    await other.delete(`/leads/${body.results.id}`).expect(200);
    await tenant.api.get(`/leads/${body.results.id}`).expect(404);
  });

  it('go on when Redis is away, and never answer 5xx', async () => {
    const { databaseUrl } = first.config;
    const away = await startInProcess({ databaseUrl, redisUrl: 'redis://127.0.0.1:1' });
    const { key } = await first.tenant({ maxTokens: 2, refillRate: 0.001 });
    for (const status of [200, 200, 429]) await away.client(key).get('/leads').expect(status);
  });
});
