import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { gzipSync } from 'node:zlib';
import { eventInput, leadInput } from '../support/builders';
import { DIRECT, itDirect, openConnection } from '../support/connection';
import { Lanyard, startLanyard, Tenant } from '../support/lanyard';

const UUID = '0190a1b2-c3d4-7e5f-8a9b-0c1d2e3f4a5b';
const deep = (levels: number): string => `${'{"a":'.repeat(levels)}1${'}'.repeat(levels)}`;
const json = (value: unknown): string => JSON.stringify(value);

describe('malformed requests', () => {
  let lanyard: Lanyard;
  let tenant: Tenant;
  let event: number;
  let lead: string;
  let before: unknown;
  beforeAll(async () => {
    lanyard = await startLanyard();
    tenant = await lanyard.tenant();
    event = (await tenant.api.post('/events', eventInput()).expect(200)).body.results.id;
    lead = (await tenant.api.post('/leads', leadInput()).expect(200)).body.results.id;
    before = await state();
  });
  afterEach(async () => expect(await state()).toEqual(before));

  const state = async () =>
    Promise.all(
      ['/events', '/leads', `/events/${event}/leads`, `/leads/${lead}`].map(
        async (path) => (await tenant.api.get(path)).text,
      ),
    );

  /** Bytes as they stand; what comes back until the server or a second of silence ends it. */
  const raw = (bytes: string | Buffer, isEnded = false): Promise<string> =>
    new Promise((resolve) => {
      const socket = openConnection(lanyard.baseUrl);
      if (isEnded) socket.end(bytes);
      else socket.write(bytes);
      let answer = '';
      socket.setTimeout(1000, () => socket.destroy());
      socket.on('data', (chunk: Buffer) => {
        answer += chunk.toString('latin1');
      });
      socket.on('error', () => undefined);
      socket.on('close', () => resolve(answer));
    });

  /** Statuses of the answers; each answer must be JSON (or have no body), and none a 5xx. */
  const check = (answer: string): number[] => {
    const statuses = [...answer.matchAll(/HTTP\/1\.1 (\d{3})/g)].map(([, status]) => Number(status));
    expect(statuses.filter((status) => status >= 500)).toEqual([]);
    for (const head of answer.split('HTTP/1.1 ').slice(1)) {
      if (!head.startsWith('100')) expect(head).toContain('application/json; charset=utf-8');
    }
    return statuses;
  };

  it.each([
    ['put', '/events/x'],
    ['put', '/events/x/leads'],
    ['patch', '/leads/x'],
    ['put', '/industryEvents/x'],
  ] as const)('%s %s tells of the path before it tells of the body', (method, path) => {
    const body = { eventName: '', eventLeads: {}, email: 0, name: '' };
    return tenant.api.send(method, path, body).expect(400, { status: 400, error: 'Bad Request' });
  });

  it.each(['limit[]=1', '__proto__=1', '=', '%zz=1', `x=${'y'.repeat(8000)}`, Array(1500).fill('a=1').join('&')])(
    'GET /leads?%s is answered',
    (query) => tenant.api.get(`/leads?${query}`).expect(200),
  );

  it.each(['0', '-1', '1e3', '9007199254740993', '%00', '%zz'])('/events/%s is 400', async (id) => {
    const path = `/events/${id}`;
    await tenant.api.get(path).expect(400);
    await tenant.api.put(path, eventInput()).expect(400);
    await tenant.api.delete(path).expect(400);
    await tenant.api.put(`${path}/leads`, { eventLeads: [] }).expect(400);
    await tenant.api.get(`${path}/users`).expect(400);
  });

  it.each(['1', `{${UUID}}`, `${UUID}%00`, 'x'.repeat(4000)])('ids that are no uuid are 400: %s', async (id) => {
    for (const folder of ['leads', 'leadActivityEvents', 'activations', 'tagGroups', 'industryEvents']) {
      const { status } = await tenant.api.get(`/${folder}/${id}`);
      expect([400, 404]).toContain(status);
    }
  });

  const BODIES: [string, string | Buffer][] = [
    ['nothing', ''],
    ['half an object', '{'],
    ['a comma too many', '{"a":1,}'],
    ['an array', '[]'],
    ['null', 'null'],
    ['a string', '"x"'],
    ['true', 'true'],
    ['5,000 levels', deep(5000)],
    ['33 levels', deep(33)],
    ['invalid UTF-8', Buffer.from([0x7b, 0x22, 0x61, 0x22, 0x3a, 0x22, 0xff, 0x22, 0x7d])],
    ['a raw NUL', '{"a":"\0"}'],
  ];
  const WRITES = (): ['post' | 'put' | 'patch', string][] => [
    ['post', '/events'],
    ['put', `/events/${event}`],
    ['put', `/events/${event}/leads`],
    ['post', '/leads'],
    ['patch', `/leads/${lead}`],
    ['post', '/industryEvents'],
    ['put', `/industryEvents/${randomUUID()}`],
  ];
  it.each(BODIES)('a body of %s is 400', async (_, body) => {
    for (const [method, path] of WRITES()) {
      const sent = tenant.api
        .send(method, path)
        .set('content-type', 'application/json')
        .serialize((text: unknown) => text as string);
      await sent.send(body).expect(400, { status: 400, error: 'Bad Request' });
    }
  });

  // Node's own client always says how long a body is; and so may a proxy.
  itDirect.each<[string, string, string]>([
    ['no body', '\r\n', "Missing or invalid 'createdByEmail'"],
    ['a body of the length 0', 'Content-Length: 0\r\n\r\n', 'Bad Request'],
    ['a body of no chunk', 'Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n', 'Bad Request'],
  ])(`%s of the type JSON${DIRECT}`, async (_, rest, error) => {
    const head = `POST /api/v0/leads HTTP/1.1\r\nHost: x\r\nx-api-key: ${tenant.key}\r\nContent-Type: application/json\r\n`;
    const answer = await raw(`${head}Connection: close\r\n${rest}`);
    expect(check(answer)).toEqual([400]);
    expect(answer).toContain(json({ status: 400, error }));
  });

  it('a body is not looked at where none belongs', async () => {
    for (const [method, path, status] of [
      ['get', '/leads', 200],
      ['delete', `/leads/${UUID}`, 404],
      ['post', `/industryEvents/${UUID}/bookmark`, 404],
    ] as const) {
      await tenant.api.send(method, path).set('content-type', 'application/json').send('{').expect(status);
    }
  });

  it('does not let a body reach a prototype', async () => {
    const body = '{"__proto__":{"polluted":1},"constructor":{"prototype":{"polluted":1}}}';
    await tenant.api.send('patch', `/leads/${lead}`).set('content-type', 'application/json').send(body).expect(200);
    expect(({} as Record<string, unknown>).polluted).toBeUndefined();
  });

  it.each<[string, Buffer, number]>([
    ['gzip', gzipSync('{"x":1}'), 400],
    ['Gzip', gzipSync(Buffer.alloc(50 << 20, 32)), 413],
    ['deflate', Buffer.from('x'), 400],
    ['x'.repeat(100), Buffer.from('{}'), 400],
  ])('a body encoded as %s', async (encoding, bytes, status) => {
    const head = `POST /api/v0/leads HTTP/1.1\r\nHost: x\r\nx-api-key: ${tenant.key}\r\nContent-Type: application/json\r\n`;
    const rest = `Content-Encoding: ${encoding}\r\nContent-Length: ${bytes.length}\r\nConnection: close\r\n\r\n`;
    expect(check(await raw(Buffer.concat([Buffer.from(head + rest), bytes])))).toEqual([status]);
  });

  const headed = (more: string): string =>
    `GET /api/v0/leads HTTP/1.1\r\nHost: x\r\nKEY\r\n${more}Connection: close\r\n\r\n`;

  itDirect.each<[string, string, number[]]>([
    ['no Host', 'GET /api/v0/leads HTTP/1.1\r\nKEY\r\n\r\n', [400]],
    ['HTTP/1.0', 'GET /api/v0/leads HTTP/1.0\r\nKEY\r\n\r\n', [200]],
    ['an unknown method', 'LEAD /api/v0/leads HTTP/1.1\r\nHost: x\r\nKEY\r\n\r\n', [400]],
    ['OPTIONS', 'OPTIONS /api/v0/leads HTTP/1.1\r\nHost: x\r\nKEY\r\nConnection: close\r\n\r\n', [404]],
    ['999 headers', headed('A: b\r\n'.repeat(999 - 3)), [200]],
    ['1000 headers', headed('A: b\r\n'.repeat(1000 - 3)), [431]],
    ['a header without a colon', 'GET /api/v0/leads HTTP/1.1\r\nHost: x\r\nKEY\r\nbroken\r\n\r\n', [400]],
    ['32 KiB of header', `GET /api/v0/leads HTTP/1.1\r\nHost: x\r\nKEY\r\nA: ${'b'.repeat(2 ** 15)}\r\n\r\n`, [431]],
    [
      'both lengths',
      'POST /api/v0/leads HTTP/1.1\r\nHost: x\r\nKEY\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n',
      [400],
    ],
    ['a negative length', 'POST /api/v0/leads HTTP/1.1\r\nHost: x\r\nKEY\r\nContent-Length: -1\r\n\r\n', [400]],
    ['not HTTP', '\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03', [400]],
    [
      'two at once',
      `${'GET /api/v0/leads?limit=x HTTP/1.1\r\nHost: x\r\nKEY\r\n\r\n'.repeat(2)}GET /nothing HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`,
      [400, 400, 404],
    ],
  ])(`%s${DIRECT}`, async (_, bytes, statuses) => {
    expect(check(await raw(bytes.replaceAll('KEY', `x-api-key: ${tenant.key}`)))).toEqual(statuses);
  });

  itDirect.each<[string, string, number[]]>([
    [
      'more behind a request that is the last',
      'GET /api/v0/leads?limit=x HTTP/1.1\r\nHost: x\r\nKEY\r\nConnection: close\r\n\r\nGET / HTTP/1.1\r\nHost: x\r\n\r\n',
      [400],
    ],
    [
      'a broken request behind sound ones, which are answered first',
      `${'GET /api/v0/leads HTTP/1.1\r\nHost: x\r\nKEY\r\n\r\n'.repeat(2)}\0`,
      [200, 200, 400],
    ],
    [
      'a request in a body that is not read',
      'POST /api/v0/leads HTTP/1.1\r\nHost: x\r\nContent-Length: 79\r\n\r\nDELETE /api/v0/leads/LEAD HTTP/1.1\r\nHost: x\r\n\r\nGET /nothing HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n',
      [401, 404],
    ],
    [
      'a body of another type, and more behind it',
      'PATCH /api/v0/leads/LEAD HTTP/1.1\r\nHost: x\r\nKEY\r\nContent-Type: text/plain\r\nContent-Length: 5\r\n\r\nhelloGET /api/v0/leads?limit=x HTTP/1.1\r\nHost: x\r\nKEY\r\n\r\n',
      [400, 400],
    ],
  ])(`one answer a request, in order: %s${DIRECT}`, async (_, bytes, statuses) => {
    const sent = bytes.replaceAll('KEY', `x-api-key: ${tenant.key}`).replaceAll('LEAD', lead);
    expect(check(await raw(sent))).toEqual(statuses);
  });

  it.each([
    [2 ** 20, 404],
    [2 ** 20 + 1, 413],
  ])('a body of %d bytes where none is needed', async (length, status) => {
    const { body } = await tenant.api.delete(`/leads/${randomUUID()}`).send('x'.repeat(length)).expect(status);
    expect(body).toMatchObject({ status });
  });

  it.each([
    [0, 200],
    [1, 400],
    [2 ** 20, 400],
    [2 ** 20 + 1, 413],
  ])('a body of %d bytes of another type, where no field is required', async (length, status) => {
    const sent = tenant.api.send('patch', `/leads/${lead}`).set('content-type', 'text/plain');
    const { body } = await sent.send('x'.repeat(length)).expect(status);
    expect(body).toMatchObject({ status });
  });

  it('a body of another type changes nothing, where no field is required', async () => {
    const sent = { jobTitle: 'of another type' };
    const bodyOf = (type: string) =>
      tenant.api.send('patch', `/leads/${lead}`).set('content-type', type).send(json(sent));
    await bodyOf('text/plain').expect(400, { status: 400, error: 'Bad Request' });
    expect((await tenant.api.get(`/leads/${lead}`)).body.results.jobTitle).not.toBe(sent.jobTitle);
    const { body } = await bodyOf('application/merge-patch+json').expect(200);
    expect(body.results.jobTitle).toBe(sent.jobTitle);
    await tenant.api.patch(`/leads/${lead}`, { jobTitle: null }).expect(200);
  });

  const values = (count: number): string =>
    `{"eventLeads":[],"unknown":[${Array(count - 3)
      .fill('{}')
      .join()}]}`;
  it.each<[string, number, number]>([
    ['20,000 values', 20_000, 200],
    ['20,001 values', 20_001, 413],
    ['350,000 values', 350_000, 413],
  ])('a body of %s', async (_, count, status) => {
    for (const encode of [(text: string) => Buffer.from(text), (text: string) => gzipSync(text)]) {
      const bytes = encode(values(count));
      const sent = tenant.api.send('put', `/events/${event}/leads`).set('content-type', 'application/json');
      if (bytes.length !== Buffer.byteLength(values(count))) sent.set('content-encoding', 'gzip');
      await sent
        .serialize((body: unknown) => body as string)
        .send(bytes as never)
        .expect(status);
    }
  });

  itDirect.each([
    ['post', '/leads', 'application/json'],
    ['patch', '/leads/LEAD', 'text/plain'],
    ['delete', '/leads/LEAD', 'text/plain'],
  ])(`a body that is said to be too large is not asked for: %s %s of %s${DIRECT}`, async (method, path, type) => {
    const head = `${method.toUpperCase()} /api/v0${path.replace('LEAD', lead)} HTTP/1.1\r\nHost: x\r\nx-api-key: ${tenant.key}\r\n`;
    const rest = `Content-Type: ${type}\r\nContent-Length: ${2 ** 20 + 1}\r\nExpect: 100-continue\r\n\r\n`;
    const answer = await raw(head + rest);
    expect(check(answer)).toEqual([413]);
    // What follows cannot be told from the body that may come after all.
    expect(answer).toContain('Connection: close\r\n');
  });

  itDirect(`a body that is too large is refused before it ends${DIRECT}`, async () => {
    const head = `PATCH /api/v0/leads/${lead} HTTP/1.1\r\nHost: x\r\nx-api-key: ${tenant.key}\r\nContent-Type: application/json\r\n`;
    const chunk = `${(2 ** 20 + 1).toString(16)}\r\n${' '.repeat(2 ** 20 + 1)}\r\n`;
    expect(check(await raw(`${head}Transfer-Encoding: chunked\r\n\r\n${chunk}`))).toEqual([413]);
    expect(check(await raw(`${head}Content-Length: ${2 ** 20 + 1}\r\n\r\n`))).toEqual([413]);
  });

  itDirect(
    `a client that goes away in the middle of a body that is not needed has deleted nothing${DIRECT}`,
    async () => {
      const socket = openConnection(lanyard.baseUrl);
      socket.write(`DELETE /api/v0/leads/${lead} HTTP/1.1\r\nHost: x\r\nx-api-key: ${tenant.key}\r\n`);
      socket.write('Content-Length: 5\r\nExpect: 100-continue\r\n\r\nab');
      await once(socket, 'data'); // It is asked for the rest.
      socket.destroy();
      await tenant.api.get(`/leads/${lead}`).expect(200);
    },
  );

  it('a body that ends too early leaves nothing behind', async () => {
    const head = `POST /api/v0/leads HTTP/1.1\r\nHost: x\r\nx-api-key: ${tenant.key}\r\nContent-Type: application/json\r\n`;
    check(await raw(`${head}Content-Length: 500\r\n\r\n${json(leadInput())}`));
    await tenant.api.get('/leads').expect(200);
  });
});
