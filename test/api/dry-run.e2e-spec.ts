import { randomUUID } from 'node:crypto';
import type { Test } from 'supertest';
import { LeadsService } from '../../src/contexts/leads/leads.service';
import { eventInput, createExhibitor, industryEventInput, leadInput, unique } from '../support/builders';
import { asOperator } from '../support/database';
import { ENDPOINTS, Ids, RECEIVER_URL, send } from '../support/endpoints';
import { InProcess, Lanyard, startInProcess, startLanyard, Tenant, withTenant } from '../support/lanyard';
import { describeInside, INSIDE } from '../support/skipping';
import { openState, type State } from '../support/state';

const DRY = 'tx=rollback';
const dry = (request: Test, prefer = DRY): Test => request.set('Prefer', prefer);

const WRITES = ENDPOINTS.filter(({ method }) => method !== 'get');

/** What is provisional in an answer: ids of new records, moments, and secrets. */
const settled = (text: string): string =>
  text
    .replace(/"[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}"/g, '"uuid"')
    .replace(/"\d{4}-\d\d-\d\dT[\d:.]+Z"/g, '"moment"')
    .replace(/"whsec_[^"]+"/g, '"secret"')
    .replace(/"results":\{"id":\d+/, '"results":{"id":0');

describe('a dry run', () => {
  let lanyard: Lanyard;
  let tenant: Tenant;
  let api: Tenant['api'];
  beforeAll(async () => {
    [lanyard, tenant] = await withTenant(startLanyard());
    api = tenant.api;
  });

  const total = async (list = 'leads'): Promise<number> => (await api.get(`/${list}`).expect(200)).body.results.total;

  it('of a new lead answers with a lead that is not there afterwards', async () => {
    const before = await total();
    const { body, headers } = await dry(api.post('/leads', leadInput())).expect(200);
    expect(headers['preference-applied']).toBe(DRY);
    await api.get(`/leads/${body.results.id}`).expect(404);
    expect(await total()).toBe(before);
  });

  it('costs a token, and is refused without one', async () => {
    const { api: limited } = await tenant.issueKey({ maxTokens: 1, refillRate: 0.001 });
    const { headers } = await dry(limited.post('/leads', leadInput())).expect(200);
    expect(headers['x-ratelimit-remaining']).toBe('0');
    const refused = await dry(limited.post('/leads', leadInput())).expect(429);
    expect(refused.headers).not.toHaveProperty('preference-applied');
  });

  it('is refused as the write is, and says that it was one', async () => {
    const refusal = { status: 400, error: "Missing or invalid 'firstName'" };
    const faults = [
      dry(api.post('/leads', leadInput({ firstName: ' ' }))).expect(400, refusal),
      dry(api.patch(`/leads/${randomUUID()}`, { jobTitle: 'x' })).expect(404),
      dry(api.delete('/leads/1')).expect(400),
      dry(api.post('/nothing', {})).expect(404),
      dry(api.delete('/leads')).expect(404),
    ];
    for (const { headers } of await Promise.all(faults)) expect(headers['preference-applied']).toBe(DRY);
  });

  it('never reaches the records of another organization', async () => {
    const stranger = await lanyard.tenant();
    const { id } = (await stranger.api.post('/leads', leadInput()).expect(200)).body.results;
    await dry(api.patch(`/leads/${id}`, { jobTitle: 'Taken' })).expect(404);
    await dry(api.delete(`/leads/${id}`)).expect(404);
    await stranger.api.get(`/leads/${id}`).expect(200);
  });

  it('of a record with a new eventUrl leaves the URL to the next who writes it', async () => {
    const input = industryEventInput();
    for (let time = 0; time < 2; time++) {
      const { body } = await dry(api.post('/industryEvents', input)).expect(200);
      expect(body.results.created).toBe(true);
    }
    expect((await api.post('/industryEvents', input).expect(200)).body.results.created).toBe(true);
    expect((await dry(api.post('/industryEvents', input)).expect(200)).body.results.created).toBe(false);
  });

  it('is no obstacle to others, many at once', async () => {
    const before = await total();
    const email = `${unique()}@example.com`;
    const batch = { matchBy: 'email', leads: [leadInput({ email })] };
    const answers = await Promise.all(
      Array.from({ length: 20 }, (_, n) =>
        n % 2 === 0 ? dry(api.post('/leads/batch', batch)) : api.post('/leads', leadInput()),
      ),
    );
    expect(answers.map(({ status }) => status)).toEqual(Array(20).fill(200));
    expect(answers.filter((_, n) => n % 2 === 0).map(({ body }) => body.results.leads[0].outcome)).toEqual(
      Array(10).fill('created'),
    );
    expect(await total()).toBe(before + 10);
    expect((await api.get('/leads', { email }).expect(200)).body.results.total).toBe(0);
  });

  it('with an Idempotency-Key is 400 for every write, and the key stays free', async () => {
    const key = randomUUID();
    const { id } = (await api.post('/events', eventInput()).expect(200)).body.results;
    const asked = [api.post('/leads', leadInput()), api.delete(`/events/${id}`), api.post('/nothing', {})];
    for (const request of asked) {
      const { body, headers } = await dry(request.set('Idempotency-Key', key)).expect(400);
      expect(body).toEqual({ status: 400, error: 'Bad Request' });
      expect(headers['lanyard-fault']).toBe('header Idempotency-Key');
    }
    const { headers } = await api.post('/leads', leadInput()).set('Idempotency-Key', key).expect(200);
    expect(headers).not.toHaveProperty('idempotency-replayed');
  });

  it.each([
    ['tx=rollback', DRY],
    ['TX=RollBack', DRY],
    ['tx="rollback"', DRY],
    ['tx = "roll\\back"', DRY],
    ['tx=rollback; reason="a, b"; x', DRY],
    ['wait=10, tx=rollback', DRY],
    ['foo="tx=commit, tx=commit", tx=rollback', DRY],
    ['tx=rollback, tx=commit', DRY],
    ['tx=rollback, tx=rolback', DRY],
    [', ,tx=rollback,', DRY],
    ['tx=rollback, handling=lenient', `${DRY}, handling=lenient`],
    ['handling=STRICT,tx=rollback', `${DRY}, handling=strict`],
    ['tx=rollback, handling=nonsense', DRY],
  ])('is what Prefer: %s asks for', async (prefer, applied) => {
    const before = await total();
    const { headers } = await dry(api.post('/leads', leadInput()), prefer).expect(200);
    expect(headers['preference-applied']).toBe(applied);
    expect(await total()).toBe(before);
  });

  it.each([
    ['tx=commit', 'tx=commit'],
    ['tx=commit, tx=rollback', 'tx=commit'],
    ['handling=lenient', 'handling=lenient'],
    ['return=minimal', undefined],
    ['foo="tx=rollback"', undefined],
    ['foo="a, tx=rollback"', undefined],
    ['foo; tx=rollback', undefined],
    ['txx=rollback', undefined],
    ['@@@', undefined],
    ['', undefined],
  ])('is not what Prefer: %s asks for', async (prefer, applied) => {
    const before = await total();
    const { headers } = await dry(api.post('/leads', leadInput()), prefer).expect(200);
    expect(headers['preference-applied']).toBe(applied);
    expect(await total()).toBe(before + 1);
  });

  it.each([
    'tx',
    'tx=',
    'tx=""',
    'tx=rolback',
    'tx=rolback, tx=rollback',
    'tx rollback',
    'tx="rollback',
    'tx: rollback',
    'foo="a, tx=rollback',
    'return=minimal, tx=rollback now',
  ])('that cannot be what was meant is 400 and writes nothing: Prefer: %s', async (prefer) => {
    const before = await total();
    const { headers } = await dry(api.post('/leads', leadInput()), prefer).expect(400, {
      status: 400,
      error: 'Bad Request',
    });
    expect(headers['lanyard-fault']).toBe('header Prefer');
    expect(await total()).toBe(before);
  });

  it('is refused after the key and the token, before the path and the body', async () => {
    await dry(lanyard.client().post('/leads', leadInput()), 'tx=no').expect(401);
    const { api: limited } = await tenant.issueKey({ maxTokens: 1, refillRate: 0.001 });
    const { headers } = await dry(limited.post('/nothing', {}), 'tx=no').expect(400);
    expect(headers['x-ratelimit-remaining']).toBe('0');
    await dry(limited.post('/leads', leadInput()), 'tx=no').expect(429);
    await dry(api.patch('/leads/1').set('content-type', 'application/json').send('{'), 'tx=no').expect(400);
  });

  it.each(['tx=rollback', 'tx=rolback', 'tx'])('is nothing to a read: Prefer: %s', async (prefer) => {
    const { headers } = await dry(api.get('/leads'), prefer).expect(200);
    expect(headers).not.toHaveProperty('preference-applied');
  });

  it('may be asked for in several header lines, of which the first counts', async () => {
    const sent = await fetch(`${lanyard.baseUrl}/leads`, {
      method: 'POST',
      body: JSON.stringify(leadInput()),
      headers: [
        ['x-api-key', tenant.key],
        ['content-type', 'application/json'],
        ['Prefer', 'foo'],
        ['Prefer', 'tx=rollback'],
        ['prefer', 'tx=commit, handling=lenient'],
      ],
    });
    expect([sent.status, sent.headers.get('preference-applied')]).toEqual([200, `${DRY}, handling=lenient`]);
  });
});

describeInside(`a dry run of every write${INSIDE}`, () => {
  let lanyard: InProcess;
  let tenant: Tenant;
  let ids: Ids;
  beforeAll(async () => {
    // A delivery would change the row of its webhook meanwhile.
    [lanyard, tenant] = await withTenant(startInProcess({ webhooks: 'off' }));
    const parts = createExhibitor();
    const { expo } = await tenant.import(parts.dataset);
    const { body } = await tenant.api.post('/industryEvents', industryEventInput()).expect(200);
    const registered = await tenant.api.post('/webhooks', { url: RECEIVER_URL }).expect(200);
    ids = {
      ...parts.ids,
      event: String(expo),
      industryEvent: body.results.industryEvent.id,
      webhook: registered.body.results.id,
    };
  });
  let state: State;
  beforeAll(async () => void (state = await openState(lanyard.config.databaseUrl as string)));
  afterAll(() => state.end());
  const rows = () => state.everyRow();

  it.each(WRITES.flatMap((endpoint) => endpoint.bodies.map((body, n) => ({ name: endpoint.name, n, endpoint, body }))))(
    'is answered as the write is, and leaves every row as it was: $name, body $n',
    async ({ endpoint, body }) => {
      const own = Object.fromEntries(endpoint.slots.map(({ name, kind }) => [name, ids[kind] ?? '']));
      const sent = body?.(own);
      const request = () => send(tenant.api, endpoint, own, () => sent);
      const before = await rows();
      const rehearsal = await dry(request()).expect(200);
      expect(rehearsal.headers['preference-applied']).toBe(DRY);
      expect(await rows()).toEqual(before);
      // The other process knows nothing of it either.
      const written = await request().expect(200);
      expect(settled(rehearsal.text)).toBe(settled(written.text));
    },
  );

  it('runs constraints that are checked at the end, and fails as the write does', async () => {
    const owner = await asOperator(lanyard.config.databaseUrl as string);
    await owner.query(`
      create function refuse_at_the_end() returns trigger language plpgsql as
        $$ begin raise exception using errcode = '22003'; end $$;
      create constraint trigger at_the_end after insert on leads deferrable initially deferred
        for each row execute function refuse_at_the_end()`);
    const before = await rows();
    for (const request of [dry(tenant.api.post('/leads', leadInput())), tenant.api.post('/leads', leadInput())]) {
      await request.expect(400, { status: 400, error: 'Bad Request' });
    }
    await owner.query('drop function refuse_at_the_end() cascade');
    expect(await rows()).toEqual(before);
  });

  it('has the time of the real write: a delete more than a statement has, a change no more', async () => {
    const owner = await asOperator(lanyard.config.databaseUrl as string);
    await owner.query(`
      create function slow() returns trigger language plpgsql as
        $$ begin perform pg_sleep(1.6); return coalesce(new, old); end $$;
      create trigger slow before delete or update on leads for each row execute function slow()`);
    const path = `/leads/${(await tenant.api.post('/leads', leadInput()).expect(200)).body.results.id}`;
    const deleted = await dry(tenant.api.delete(path)).expect(200);
    expect(deleted.headers).toMatchObject({ 'preference-applied': DRY });
    const refused = await dry(tenant.api.patch(path, { jobTitle: 'x' })).expect(503);
    expect(refused.headers).toMatchObject({ 'retry-after': '1', 'preference-applied': DRY });
    await tenant.api.get(path).expect(200);
    await tenant.api.delete(path).expect(200);
    await owner.query('drop function slow() cascade');
  });

  it('is seen by no other process, also while it runs', async () => {
    const other = await startInProcess({ databaseUrl: lanyard.config.databaseUrl, webhooks: 'off' });
    const api = other.client(tenant.key);
    const create = jest.spyOn(LeadsService.prototype, 'create');
    const during: number[] = [];
    create.mockImplementationOnce(async function (this: LeadsService, ...args) {
      const made = await LeadsService.prototype.create.apply(this, args);
      during.push((await api.get('/leads').expect(200)).body.results.total);
      return made;
    });
    const before = (await api.get('/leads').expect(200)).body.results.total as number;
    await dry(tenant.api.post('/leads', leadInput())).expect(200);
    create.mockRestore();
    expect([...during, (await api.get('/leads').expect(200)).body.results.total]).toEqual([before, before]);
  });
});
