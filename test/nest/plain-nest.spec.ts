/**
 * Its modules name entities, which the suites of a shared process would take for Lanyard's own.
 * @jest-environment node
 */
import { randomUUID } from 'node:crypto';
import { DataSource } from 'typeorm';
import { createLog } from '../../src/observability/log';
import { openApiDocument } from '../../src/openapi/document';
import { InProcess, startInProcess, Tenant } from '../support/lanyard';
import { findUndescribed } from '../support/listings/undescribed';
import { HallsModule, Answer } from './fixtures/plain-nest';

describe('a plain Nest module', () => {
  let lanyard: InProcess;
  let tenant: Tenant;
  let db: DataSource;
  const lines: string[] = [];
  beforeAll(async () => {
    const log = createLog('info', { write: (line: string) => void lines.push(line) });
    lanyard = await startInProcess({}, log, { modules: [HallsModule] });
    tenant = await lanyard.tenant();
    db = lanyard.app.get(DataSource);
    await db.query(
      `create table halls (id uuid primary key default uuid_v7(), hall_name varchar not null unique, seats int)`,
    );
  });
  beforeEach(() => db.query('delete from halls'));

  /** Not by the client of the suites, which compares answers with openapi.json. */
  const ask = async (
    method: string,
    path: string,
    sent?: unknown,
    more: Record<string, string> = {},
  ): Promise<Answer> => {
    const headers = { 'x-api-key': tenant.key, 'content-type': 'application/json', ...more };
    const body = typeof sent === 'string' ? sent : JSON.stringify(sent);
    const answer = await fetch(`${lanyard.baseUrl}${path}`, { method, headers, body });
    return { status: answer.status, headers: answer.headers, body: (await answer.json()) as Answer['body'] };
  };
  const post = (sent: unknown, more?: Record<string, string>) => ask('POST', '/halls', sent, more);
  const total = async () => (await ask('GET', '/halls')).body.results.total;

  it('has its body read and checked, and what it returns in the envelope', async () => {
    const made = await post({ hallName: 'North', seats: 80, unknown: [1, 2] });
    expect(made).toMatchObject({ status: 200, body: { status: 200, results: { hallName: 'North', seats: 80 } } });
    const { id } = made.body.results;
    const hall = { id, hallName: 'North', seats: 80 };
    expect((await ask('GET', `/halls/${id}`)).body).toEqual({ status: 200, results: hall });
    expect((await ask('GET', '/halls?size=5')).body).toEqual({
      status: 200,
      pagination: { limit: 5, offset: 0 },
      results: { halls: [hall], total: 1 },
    });
  });

  it.each<[string, unknown]>([
    ['hallName', {}],
    ['hallName', { hallName: '' }],
    ['hallName', { hallName: 5 }],
    ['seats', { hallName: 'x', seats: 0 }],
    ['contacts[1].email', { hallName: 'x', contacts: [{ email: 'a@example.com' }, { email: 'b' }] }],
  ])('names the field at fault: %s of %j', async (field, body) => {
    const { body: answer, headers } = await post(body);
    expect(answer).toEqual({ status: 400, error: `Missing or invalid '${field}'` });
    expect(headers.get('lanyard-fault')).toBe(`body ${field}`);
    expect(await total()).toBe(0);
  });

  it('has the body of a handler that a decorator wraps read and checked', async () => {
    const made = await ask('POST', '/halls/traced', { hallName: 'North', seats: 80 });
    expect(made).toMatchObject({ status: 200, body: { results: { hallName: 'North', seats: 80 } } });
    const { body } = await ask('POST', '/halls/traced', { hallName: 'South', seats: 'many' });
    expect(body).toEqual({ status: 400, error: "Missing or invalid 'seats'" });
    const strict = await ask('POST', '/halls/traced', { hallName: 'South', room: 1 }, { prefer: 'handling=strict' });
    expect(strict.body).toEqual({ status: 400, error: "Missing or invalid 'room'" });
  });

  it.each([
    ['a query', '/halls?size=0', 400, 'Bad Request'],
    ['an id', '/halls/1', 400, 'Validation failed (uuid is expected)'],
    ['what is not there', `/halls/${randomUUID()}`, 404, 'Not Found'],
  ])(
    'answers a fault of %s as the contract does, with the text of an exception of Nest',
    async (_, path, status, error) => {
      expect((await ask('GET', path)).body).toEqual({ status, error });
    },
  );

  it('names the parameter of a query at fault in a header and in the log, without its value', async () => {
    lines.length = 0;
    expect((await ask('GET', '/halls?size=4711')).headers.get('lanyard-fault')).toBe('query size');
    expect(lines.join()).toContain('"fault":"query size"');
    expect(lines.join()).not.toContain('4711');
  });

  it('has the guard, the bucket and every bound of a body before it', async () => {
    const hallName = 'x';
    const unknown = Array(20_000).fill(1);
    const refused = async (status: number, sent: unknown, more?: Record<string, string>) =>
      expect((await post(sent, more)).status).toBe(status);
    await refused(401, { hallName }, { 'x-api-key': '' });
    await refused(400, '{"hallName": ');
    await refused(400, [{ hallName }]);
    await refused(413, { hallName, unknown });
    await refused(413, { hallName, unknown: 'x'.repeat(1_048_576) });
    await refused(400, 'hallName=x', { 'content-type': 'text/plain' });
    const limited = { 'x-api-key': (await tenant.issueKey({ maxTokens: 1, refillRate: 0.001 })).key };
    expect((await post({ hallName }, limited)).headers.get('x-ratelimit-remaining')).toBe('0');
    await refused(429, { hallName: 'y' }, limited);
    expect(await total()).toBe(1);
  });

  it('may be asked strictly: what its classes do not have is refused, by its path', async () => {
    const strict = { prefer: 'handling=strict' };
    const contacts = [{ email: 'a@example.com' }, { email: 'b@example.com', phone: '1' }];
    const known = { hallName: 'North', seats: 8, contacts: contacts.slice(0, 1) };
    expect((await post({ hallName: '', contacts, room: 1 }, strict)).body.error).toBe(
      "Missing or invalid 'contacts[1].phone'",
    );
    expect((await post({ room: 1, contacts }, strict)).body.error).toBe("Missing or invalid 'room'");
    expect((await ask('GET', '/halls?sizes=5', undefined, strict)).body.error).toBe('Bad Request');
    expect((await ask('GET', '/halls?size=5', undefined, strict)).status).toBe(200);
    expect((await post(known, strict)).status).toBe(200);
  });

  it('may be tried without being done', async () => {
    const { status, body, headers } = await post({ hallName: 'Dry' }, { prefer: 'tx=rollback' });
    expect([status, headers.get('preference-applied')]).toEqual([200, 'tx=rollback']);
    expect((await ask('GET', `/halls/${body.results.id}`)).status).toBe(404);
    expect(await total()).toBe(0);
  });

  it('is carried out once under an Idempotency-Key, in one transaction with its answer', async () => {
    const key = { 'idempotency-key': randomUUID() };
    const first = await post({ hallName: 'Once' }, key);
    expect(first.status).toBe(200);
    expect((await post({ hallName: 'Once' }, key)).body).toEqual(first.body);
    expect(await total()).toBe(1);
    await db.query('alter table idempotent_answers add constraint no_more check (false) not valid');
    expect((await post({ hallName: 'Lost' }, { 'idempotency-key': randomUUID() })).status).toBe(500);
    await db.query('alter table idempotent_answers drop constraint no_more');
    expect(await total()).toBe(1);
  });

  it('has its whole response replayed: the status and the headers that its handler set', async () => {
    const plain = { 'idempotency-key': randomUUID() };
    expect((await post({ hallName: 'Plain' }, plain)).status).toBe(200);
    expect((await post({ hallName: 'Plain' }, plain)).status).toBe(200);
    const key = { 'idempotency-key': randomUUID() };
    const send = () => ask('POST', '/bookings/accepted', { hallName: 'Later' }, key);
    const [first, again] = [await send(), await send()];
    expect([first.status, first.headers.get('location')]).toEqual([202, `/halls/${first.body.results.id}`]);
    expect([again.status, again.body]).toEqual([202, first.body]);
    for (const name of ['location', 'set-cookie', 'content-type', 'content-length']) {
      expect(again.headers.get(name)).toBe(first.headers.get(name));
    }
    expect(again.headers.get('x-request-id')).not.toBe(first.headers.get('x-request-id'));
    expect([first, again].map(({ headers }) => headers.get('idempotency-replayed'))).toEqual([null, 'true']);
    expect(await total()).toBe(2);
  });

  it.each(['own', 'file', 'events', 'moved'])(
    'cannot have what it writes itself replayed, and says so before anything is done: %s',
    async (route) => {
      const key = { 'idempotency-key': randomUUID() };
      const { status, body, headers } = await ask('POST', `/bookings/${route}`, { hallName: 'Own' }, key);
      const error = 'The response of this route cannot be replayed: send the request without Idempotency-Key';
      expect([status, body]).toEqual([400, { status: 400, error }]);
      expect(headers.get('lanyard-fault')).toBe('header Idempotency-Key');
      expect(await total()).toBe(0);
    },
  );

  it.each([
    ['own', 201, /"hallName":"Own"/],
    ['file', 200, /^Own$/],
    ['events', 201, /^data: told$/m],
    ['moved', 303, /^/],
  ])('may write its response itself: %s', async (route, status, text) => {
    const answer = await fetch(`${lanyard.baseUrl}/bookings/${route}`, {
      method: 'POST',
      headers: { 'x-api-key': tenant.key, 'content-type': 'application/json' },
      body: JSON.stringify({ hallName: 'Own' }),
      redirect: 'manual',
    });
    expect(answer.status).toBe(status);
    expect(await answer.text()).toMatch(text);
  });

  it('has its faults in the log, so that its author finds them, and no value of a row', async () => {
    lines.length = 0;
    const { body } = await ask('GET', '/halls/broken');
    expect(body).toEqual({ status: 500, error: 'Internal Server Error' });
    expect(lines.join()).toContain('column \\"no_such_column\\" does not exist');
    await post({ hallName: 'Ada Lovelace' });
    expect((await post({ hallName: 'Ada Lovelace' })).status).toBe(400);
    expect(lines.join()).toContain('halls_hall_name_key');
    expect(lines.join()).not.toContain('Lovelace');
  });

  it('is told in a line for each handler what its description lacks, and breaks nothing', () => {
    const lacks = 'lacks @Tag of its controller, @ApiOperation, @Returns…';
    const lines = findUndescribed(lanyard.app).filter((line) => !line.includes('/bookings/'));
    expect(lines.sort()).toEqual([
      `GET /halls ${lacks}`,
      `GET /halls/broken ${lacks}`,
      `GET /halls/{id} ${lacks}`,
      `POST /halls ${lacks}, @ApiProperty, or a field of fields/fields.ts, in CreateHallDto`,
      `POST /halls/traced ${lacks}`,
    ]);
    expect(Object.keys(openApiDocument(lanyard.app).paths)).toContain('/halls/{id}');
  });
});
