import { randomUUID } from 'node:crypto';
import type { Test } from 'supertest';
import { DataSource } from 'typeorm';
import { ResponseTooLarge } from '../../src/errors/exceptions';
import { IdempotencyStore } from '../../src/data/database/idempotency-store';
import { Pruner } from '../../src/data/database/pruner';
import { eventInput, industryEventInput, leadInput, TEST_MARK, unique } from '../support/builders';
import { asOperator } from '../support/database';
import { exampleOfError } from '../support/description';
import { InProcess, Lanyard, startInProcess, startLanyard, Tenant, withTenant } from '../support/lanyard';
import { describeInside, INSIDE } from '../support/skipping';

const named = (key: string, request: Test): Test => request.set('Idempotency-Key', key);

describe('Idempotency-Key', () => {
  let lanyard: Lanyard;
  let tenant: Tenant;
  let api: Tenant['api'];
  beforeAll(async () => {
    [lanyard, tenant] = await withTenant(startLanyard());
    api = tenant.api;
  });

  /** What this suite adds to the catalogue, which others fill too. */
  const own = { sourceType: TEST_MARK, name: `Once q${unique()}` };
  const total = async (list: string, query = {}): Promise<number> =>
    (await api.get(`/${list}`, query).expect(200)).body.results.total;
  const totals = () => Promise.all([total('leads'), total('events'), total('industryEvents', { q: own.name })]);

  const create = async (): Promise<string> => (await api.post('/leads', leadInput()).expect(200)).body.results.id;
  const patching = (id: string, changes: object) => () => api.patch(`/leads/${id}`, changes);

  /** Every POST and PATCH, and whether a second one could be told from the first. */
  it.each<[string, () => Promise<() => Test>]>([
    ['POST /leads', async () => () => api.post('/leads', leadInput())],
    ['POST /events', async () => () => api.post('/events', eventInput())],
    ['POST /industryEvents', async () => () => api.post('/industryEvents', own)],
    [
      'POST /industryEvents with a URL',
      async () => {
        const input = industryEventInput(own);
        return () => api.post('/industryEvents', input);
      },
    ],
    [
      'POST /industryEvents/:industryEventId/bookmark',
      async () => {
        const { body } = await api.post('/industryEvents', industryEventInput(own)).expect(200);
        return () => api.post(`/industryEvents/${body.results.industryEvent.id}/bookmark`);
      },
    ],
    ['PATCH /leads/:leadId', async () => patching(await create(), { jobTitle: 'Buyer' })],
    ['PATCH /leads/:leadId with nothing to change', async () => patching(await create(), {})],
  ])('%s is carried out once, and its answer given again', async (_, prepare) => {
    const send = await prepare();
    const key = randomUUID();
    const first = await named(key, send()).expect(200);
    expect(first.headers).not.toHaveProperty('idempotency-replayed');
    const counts = await totals();
    for (let time = 0; time < 3; time++) {
      const again = await named(key, send()).expect(200, first.body);
      expect(again.headers['idempotency-replayed']).toBe('true');
    }
    expect(await totals()).toEqual(counts);
  });

  it('gives the first answer again, also when the lead has changed or is gone', async () => {
    const key = randomUUID();
    const { body } = await named(key, api.post('/leads', leadInput())).expect(200);
    const path = `/leads/${body.results.id}`;
    await api.patch(path, { firstName: 'Changed' }).expect(200);
    await named(key, api.post('/leads', leadInput())).expect(200, body);
    await api.delete(path).expect(200);
    await named(key, api.post('/leads', leadInput())).expect(200, body);
    await api.get(path).expect(404);
  });

  it('is refused with 422 for another body or another path, and nothing happens', async () => {
    const key = randomUUID();
    const { body } = await named(key, api.post('/leads', leadInput())).expect(200);
    const before = await totals();
    const refusal = { status: 422, error: 'This Idempotency-Key was used for another request' };
    expect(exampleOfError('UnprocessableEntity')).toEqual(refusal);
    await named(key, api.post('/leads', leadInput({ firstName: 'Eve' }))).expect(422, refusal);
    await named(key, api.post('/events', eventInput())).expect(422, refusal);
    await named(key, api.patch(`/leads/${body.results.id}`, leadInput())).expect(422, refusal);
    expect(await totals()).toEqual(before);
    await api.get(`/leads/${body.results.id}`).expect(200, body);
  });

  it('is refused with 422 for another query string, and an empty one is none', async () => {
    const key = randomUUID();
    const { body } = await named(key, api.post('/leads', leadInput())).expect(200);
    await named(key, api.post('/leads?', leadInput())).expect(200, body);
    await named(key, api.post('/leads?x=1', leadInput())).expect(422);
    const other = randomUUID();
    await named(other, api.post('/leads?x=1', leadInput())).expect(200);
    await named(other, api.post('/leads?x=1', leadInput())).expect(200);
    await named(other, api.post('/leads?x=2', leadInput())).expect(422);
    await named(other, api.post('/leads', leadInput())).expect(422);
  });

  it('creates one of many that arrive together; the others get 409 or the answer', async () => {
    for (let round = 0; round < 5; round++) {
      const key = randomUUID();
      const email = `${unique()}@example.com`;
      const answers = await Promise.all(
        Array.from({ length: 20 }, () => named(key, api.post('/leads', leadInput({ email })))),
      );
      const done = answers.filter(({ status }) => status === 200);
      expect(answers.filter(({ status }) => status !== 200 && status !== 409)).toEqual([]);
      expect(new Set(done.map(({ text }) => text)).size).toBe(1);
      expect(done.filter(({ headers }) => !('idempotency-replayed' in headers))).toHaveLength(1);
      const leads = await api.all<{ email: string }>('/leads', 'leads');
      expect(leads.filter((lead) => lead.email === email)).toHaveLength(1);
    }
  });

  it('means nothing to another API key, of the same organization or not', async () => {
    const key = randomUUID();
    const { body } = await named(key, api.post('/leads', leadInput())).expect(200);
    const sibling = await tenant.issueKey({ maxTokens: 10, refillRate: 10 });
    const stranger = await lanyard.tenant();
    for (const other of [sibling.api, stranger.api]) {
      const answer = await named(key, other.post('/leads', leadInput())).expect(200);
      expect(answer.body.results.id).not.toBe(body.results.id);
      expect(answer.headers).not.toHaveProperty('idempotency-replayed');
    }
  });

  it('is free again after a request that was refused', async () => {
    const key = randomUUID();
    await named(key, api.post('/leads', leadInput({ firstName: '' }))).expect(400);
    await named(key, api.patch(`/leads/${randomUUID()}`, { jobTitle: 'x' })).expect(404);
    const { headers } = await named(key, api.post('/leads', leadInput())).expect(200);
    expect(headers).not.toHaveProperty('idempotency-replayed');
  });

  it('costs a token and tells the limits, also when it is answered from the store', async () => {
    const { api: limited } = await tenant.issueKey({ maxTokens: 3, refillRate: 0.001 });
    const key = randomUUID();
    for (const remaining of ['2', '1', '0']) {
      const { headers } = await named(key, limited.post('/leads', leadInput())).expect(200);
      expect(headers['x-ratelimit-remaining']).toBe(remaining);
    }
    await named(key, limited.post('/leads', leadInput())).expect(429);
  });

  it.each([
    ['blank', ''],
    ['too long', 'k'.repeat(256)],
    ['with a space', 'a b'],
    ['twice', 'a, a'],
  ])('that is %s is 400', async (_, key) => {
    const before = await total('leads');
    const error = "Missing or invalid 'Idempotency-Key'";
    await named(key, api.post('/leads', leadInput())).expect(400, { status: 400, error });
    expect(await total('leads')).toBe(before);
  });

  it('is refused with 413 where the answer is larger than 2 MiB, and nothing is done', async () => {
    const twin = industryEventInput({
      name: `Twin q${unique()}`,
      description: '\u0641'.repeat(65_535),
      eventUrl: null,
    });
    for (let records = 0; records < 17; records++) await api.post('/industryEvents', twin).expect(200);
    const refusal = { status: 413, error: 'Payload Too Large' };
    const key = randomUUID();
    await named(key, api.post('/industryEvents', twin)).expect(413, refusal);
    const { body } = await api.post('/industryEvents', twin).expect(200);
    expect(body.results.potentialDuplicates).toHaveLength(17);
    await named(key, api.post('/industryEvents', { ...twin, name: unique() })).expect(200);
  });

  it('says nothing about a path that is unknown', async () => {
    await named('', api.post('/nothing', {})).expect(404, { status: 404, error: 'Not Found' });
  });

  it('may be 255 characters, and says nothing about a GET, a PUT or a DELETE', async () => {
    const key = `${randomUUID()}${'~'.repeat(219)}`;
    const { body } = await named(key, api.post('/events', eventInput())).expect(200);
    const path = `/events/${body.results.id}`;
    const { createdByEmail: _, ...update } = eventInput({ eventName: 'Second' });
    for (const request of [api.get(path), api.put(path, update), api.delete(path)]) {
      const { headers } = await named(key, request).expect(200);
      expect(headers).not.toHaveProperty('idempotency-replayed');
    }
  });
});

describeInside(`stored answers${INSIDE}`, () => {
  let lanyard: InProcess;
  let tenant: Tenant;
  let db: DataSource;
  beforeAll(async () => {
    [lanyard, tenant] = await withTenant(startInProcess());
    db = lanyard.app.get(DataSource);
  });

  const create = (key: string, over = {}): Test => named(key, tenant.api.post('/leads', leadInput(over)));
  const age = (interval: string) =>
    db.query(`update idempotent_answers set created_at = now() - interval '${interval}'`);
  const count = async (): Promise<number> =>
    (await db.query<[{ n: number }]>('select count(*)::int as n from idempotent_answers'))[0].n;

  it('are given again for 24 hours, and not after', async () => {
    const key = randomUUID();
    const { body } = await create(key).expect(200);
    await age('23 hours 59 minutes');
    await create(key).expect(200, body);
    await age('24 hours');
    const later = await create(key, { firstName: 'Later' }).expect(200);
    expect(later.body.results.id).not.toBe(body.results.id);
    const again = await create(key, { firstName: 'Later' }).expect(200, later.body);
    expect(again.headers['idempotency-replayed']).toBe('true');
  });

  it('are swept when they are old, in batches, and only then', async () => {
    await db.query('delete from idempotent_answers');
    await db.query(
      `insert into idempotent_answers select $1, 'key ' || n, '', '{}', now() - interval '25 hours' from generate_series(1, 2500) n`,
      [tenant.keyId],
    );
    await create(randomUUID()).expect(200);
    await lanyard.app.get(Pruner).prune();
    expect(await count()).toBe(1);
  });

  it('are swept by a server that starts', async () => {
    await age('25 hours');
    const swept = jest.spyOn(Pruner.prototype, 'prune');
    await startInProcess({ databaseUrl: lanyard.config.databaseUrl });
    await Promise.all(swept.mock.results.map(({ value }) => value as Promise<void>));
    swept.mockRestore();
    expect(await count()).toBe(0);
  });

  it('have a limit of bytes for each API key, and small ones do not count', async () => {
    const owner = await asOperator(lanyard.config.databaseUrl as string);
    const answers = (key: string, bytes: number) =>
      owner.query(
        `insert into idempotent_answers select $1, 'large ' || n, '', repeat('x', $2::int), now() from generate_series(1, 3) n`,
        [key, bytes],
      );
    const other = await tenant.issueKey({});
    await owner.query('alter table idempotent_answers alter answer set storage external');
    const responses = lanyard.app.get(IdempotencyStore);
    const store = (keyId: string, bytes: number) =>
      responses.runOnce({ organizationId: tenant.organizationId, keyId }, randomUUID(), Buffer.of(1), async () => ({
        status: 200,
        headers: {},
        body: 'x'.repeat(bytes),
      }));
    await answers(tenant.keyId, 90 << 20);
    await expect(store(tenant.keyId, 16_385)).rejects.toThrow(ResponseTooLarge);
    expect(await store(tenant.keyId, 16_384)).toMatchObject({ isReplayed: false });
    expect(await store(other.id, 16_385)).toMatchObject({ isReplayed: false });
    await age('25 hours');
    expect(await store(tenant.keyId, 16_385)).toMatchObject({ isReplayed: false });
  });

  it('are stored with what the request writes, or nothing is written', async () => {
    const key = randomUUID();
    const total = async () => (await tenant.api.get('/leads').expect(200)).body.results.total as number;
    const before = await total();
    const owner = await asOperator(lanyard.config.databaseUrl as string);
    await owner.query('alter table idempotent_answers add constraint no_more check (false) not valid');
    await create(key).expect(500);
    await owner.query('alter table idempotent_answers drop constraint no_more');
    expect(await total()).toBe(before);
    const { headers } = await create(key).expect(200);
    expect(headers).not.toHaveProperty('idempotency-replayed');
  });

  it('of a first request that still runs are waited for by nobody: 409', async () => {
    const key = randomUUID();
    const holder = db.createQueryRunner();
    await holder.connect();
    await holder.startTransaction();
    await holder.query(`select pg_advisory_xact_lock(hashtextextended($1 || ' ' || $2, 0))`, [tenant.keyId, key]);
    const error = 'The first request with this Idempotency-Key is still running';
    await create(key).expect(409, { status: 409, error }).expect('retry-after', '1');
    expect(exampleOfError('Conflict')).toEqual({ status: 409, error });
    await holder.commitTransaction();
    await holder.release();
    await create(key).expect(200);
  });
});
