import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib';
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
  afterAll(() => lanyard.stop());
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

  const QUERIES = [
    ...['', ' 5', '1e1', '0x10', '-1', '%2B1', '1.5', 'NaN', 'Infinity', '0', 'null', '1%00', '%F0%9F%98%80'].map(
      (v) => `limit=${v}`,
    ),
    ...['', '-1', '2147483648', '9223372036854775808', '1e400', '%00'].map((v) => `offset=${v}`),
    'limit=1&limit=2',
    'offset=1&offset=1',
  ];
  it.each(QUERIES)('GET /leads?%s is 400', (query) =>
    tenant.api.get(`/leads?${query}`).expect(400, { status: 400, error: 'Bad Request' }),
  );

  it.each([
    'limit[]=1',
    'limit[a]=1',
    '__proto__=1',
    'constructor[prototype]=1',
    'toString=x',
    '=',
    '&&&',
    '%zz=1',
    '?',
    'x=%ff%fe',
    `x=${'y'.repeat(8000)}`,
    Array(1500).fill('a=1').join('&'),
  ])('GET /leads?%s is answered', (query) => tenant.api.get(`/leads?${query}`).expect(200));

  const IDS = [
    '0',
    '-1',
    '1e3',
    '0x10',
    '9007199254740993',
    '9223372036854775808',
    '%20',
    '%00',
    '%zz',
    '%ff',
    '1%2F2',
    '😀',
    "1'--",
  ];
  it.each(IDS)('/events/%s is 400', async (id) => {
    const path = `/events/${id === '😀' ? encodeURIComponent(id) : id}`;
    await tenant.api.get(path).expect(400);
    await tenant.api.put(path, eventInput()).expect(400);
    await tenant.api.delete(path).expect(400);
    await tenant.api.put(`${path}/leads`, { eventLeads: [] }).expect(400);
    await tenant.api.get(`${path}/users`).expect(400);
  });

  it.each(['1', `{${UUID}}`, `${UUID}%00`, '%c3%28', 'x'.repeat(4000), '..%2f..%2fhealth', '%2e%2e'])(
    'ids that are no uuid are 400: %s',
    async (id) => {
      for (const folder of ['leads', 'leadActivityEvents', 'activations', 'tagGroups', 'industryEvents']) {
        const { status } = await tenant.api.get(`/${folder}/${id}`);
        expect([400, 404]).toContain(status);
      }
    },
  );

  const BODIES: [string, string | Buffer][] = [
    ['nothing', ''],
    ['half an object', '{'],
    ['a comma too many', '{"a":1,}'],
    ['an array', '[]'],
    ['an array of objects', '[{}]'],
    ['null', 'null'],
    ['a number', '1'],
    ['a string', '"x"'],
    ['true', 'true'],
    ['NaN', '{"a":NaN}'],
    ['single quotes', "{'a':1}"],
    ['a comment', '{}//x'],
    ['two objects', '{}{}'],
    ['5,000 levels', deep(5000)],
    ['33 levels', deep(33)],
    ['5,000 arrays', `{"a":${'['.repeat(5000)}${']'.repeat(5000)}}`],
    ['invalid UTF-8', Buffer.from([0x7b, 0x22, 0x61, 0x22, 0x3a, 0x22, 0xff, 0x22, 0x7d])],
    ['overlong UTF-8', Buffer.from([0x7b, 0x22, 0xc0, 0xaf, 0x22, 0x3a, 0x31, 0x7d])],
    ['UTF-16', Buffer.from('{"a":1}', 'utf16le')],
    ['a raw NUL', '{"a":"\0"}'],
    ['a raw newline in a string', '{"a":"\n"}'],
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

  it.each<[string, string]>([
    ['lone surrogates', '{"firstName":"\\ud800","eventName":"\\ud800","name":"\\udc00x","eventLeads":"\\ud800"}'],
    ['NUL', '{"firstName":"a\\u0000","eventName":"\\u0000","name":"\\u0000","eventLeads":"\\u0000"}'],
    ['numbers', json({ firstName: 1e308, eventName: 5, name: -0, eventLeads: 1 })],
    ['objects', json({ firstName: {}, eventName: {}, name: {}, eventLeads: {} })],
    ['arrays', json({ firstName: [], eventName: [[]], name: [null], eventLeads: [[]] })],
    ['booleans', json({ firstName: true, eventName: false, name: true, eventLeads: false })],
    [
      'objects that look like dates and buffers',
      json({
        firstName: { toJSON: 1 },
        eventName: { $date: 1 },
        name: { type: 'Buffer', data: [1] },
        eventLeads: { length: 1 },
      }),
    ],
    ['promises', json({ firstName: { then: 1 }, eventName: { then: 1 }, name: { then: 1 }, eventLeads: { then: 1 } })],
    [
      'prototypes',
      '{"firstName":{"__proto__":{}},"eventName":{"constructor":1},"name":{"prototype":1},"eventLeads":{"__proto__":[]}}',
    ],
  ])('fields that are %s are named', async (_, body) => {
    for (const [method, path] of WRITES()) {
      const { body: answer } = await tenant.api
        .send(method, path)
        .set('content-type', 'application/json')
        .send(body)
        .expect(400);
      expect(answer.error).toMatch(
        /^Missing or invalid '(eventName|eventLeads(\[0\])?|createdByEmail|firstName|name)'$/,
      );
    }
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

  it.each([
    ['text/plain', "Missing or invalid 'createdByEmail'"],
    ['application/x-www-form-urlencoded', "Missing or invalid 'createdByEmail'"],
    ['multipart/form-data; boundary=x', "Missing or invalid 'createdByEmail'"],
    ['application/xml', "Missing or invalid 'createdByEmail'"],
    ['json', "Missing or invalid 'createdByEmail'"],
    [';;;', "Missing or invalid 'createdByEmail'"],
    ['application/json; charset=', 'Bad Request'],
    ['application/vnd.api+json', 'Bad Request'],
    ['APPLICATION/JSON', 'Bad Request'],
  ])('a body of the type %s', async (type, error) => {
    const answer = await raw(
      `POST /api/v0/leads HTTP/1.1\r\nHost: x\r\nx-api-key: ${tenant.key}\r\nContent-Type: ${type}\r\nContent-Length: 1\r\nConnection: close\r\n\r\n{`,
    );
    expect(check(answer)).toEqual([400]);
    if (type !== 'application/json; charset=') expect(answer).toContain(json({ status: 400, error }));
  });

  it.each<[string, Buffer, number]>([
    ['gzip', gzipSync('{"x":1}'), 400],
    ['GZIP', Buffer.from('not gzip'), 400],
    ['Gzip', gzipSync(Buffer.alloc(50 << 20, 32)), 413],
    ['deflate', Buffer.from('x'), 400],
    ['br', Buffer.from('x'), 400],
    ['zstd', Buffer.from('x'), 400],
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
    ['HTTP/9', 'GET /api/v0/leads HTTP/9.9\r\nHost: x\r\nKEY\r\n\r\n', [400]],
    ['a lower-case method', 'get /api/v0/leads HTTP/1.1\r\nHost: x\r\nKEY\r\n\r\n', [400]],
    ['an unknown method', 'LEAD /api/v0/leads HTTP/1.1\r\nHost: x\r\nKEY\r\n\r\n', [400]],
    [
      'a method of no meaning here',
      'PROPFIND /api/v0/leads HTTP/1.1\r\nHost: x\r\nKEY\r\nConnection: close\r\n\r\n',
      [404],
    ],
    ['TRACE', 'TRACE /api/v0/leads HTTP/1.1\r\nHost: x\r\nKEY\r\nConnection: close\r\n\r\n', [404]],
    ['OPTIONS', 'OPTIONS /api/v0/leads HTTP/1.1\r\nHost: x\r\nKEY\r\nConnection: close\r\n\r\n', [404]],
    ['OPTIONS *', 'OPTIONS * HTTP/1.1\r\nHost: x\r\nKEY\r\nConnection: close\r\n\r\n', [404]],
    [
      'another host',
      'GET http://evil.example/api/v0/leads HTTP/1.1\r\nHost: x\r\nKEY\r\nConnection: close\r\n\r\n',
      [200],
    ],
    ['another header of four letters', headed('From: a@b.example\r\n'), [200]],
    ['999 headers', headed('A: b\r\n'.repeat(999 - 3)), [200]],
    ['1000 headers', headed('A: b\r\n'.repeat(1000 - 3)), [431]],
    ['a target that is not a URL', 'GET http://[/ HTTP/1.1\r\nHost: x\r\nKEY\r\nConnection: close\r\n\r\n', [400]],
    ['a NUL in the line', 'GET /api/v0/\0 HTTP/1.1\r\nHost: x\r\nKEY\r\n\r\n', [400]],
    ['a space in the path', 'GET /api/v0/a b HTTP/1.1\r\nHost: x\r\nKEY\r\n\r\n', [400]],
    ['a header without a colon', 'GET /api/v0/leads HTTP/1.1\r\nHost: x\r\nKEY\r\nbroken\r\n\r\n', [400]],
    ['a folded header', 'GET /api/v0/leads HTTP/1.1\r\nHost: x\r\nKEY\r\nA: b\r\n c\r\n\r\n', [400]],
    ['a NUL in a header', 'GET /api/v0/leads HTTP/1.1\r\nHost: x\r\nKEY\r\nA: b\0\r\n\r\n', [400]],
    ['32 KiB of header', `GET /api/v0/leads HTTP/1.1\r\nHost: x\r\nKEY\r\nA: ${'b'.repeat(2 ** 15)}\r\n\r\n`, [431]],
    ['a path of 32 KiB', `GET /api/v0/${'b'.repeat(2 ** 15)} HTTP/1.1\r\nHost: x\r\nKEY\r\n\r\n`, [431]],
    [
      'both lengths',
      'POST /api/v0/leads HTTP/1.1\r\nHost: x\r\nKEY\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n',
      [400],
    ],
    [
      'two lengths',
      'POST /api/v0/leads HTTP/1.1\r\nHost: x\r\nKEY\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\n{}',
      [400],
    ],
    ['a negative length', 'POST /api/v0/leads HTTP/1.1\r\nHost: x\r\nKEY\r\nContent-Length: -1\r\n\r\n', [400]],
    [
      'two codings',
      'POST /api/v0/leads HTTP/1.1\r\nHost: x\r\nKEY\r\nTransfer-Encoding: chunked, identity\r\n\r\n0\r\n\r\n',
      [400],
    ],
    ['a bad Expect', 'GET /api/v0/leads HTTP/1.1\r\nHost: x\r\nKEY\r\nExpect: tea\r\nConnection: close\r\n\r\n', [200]],
    [
      'an upgrade',
      'GET /api/v0/leads HTTP/1.1\r\nHost: x\r\nKEY\r\nUpgrade: websocket\r\nConnection: Upgrade, close\r\n\r\n',
      [200],
    ],
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
    ['CONNECT', 'CONNECT evil.example:443 HTTP/1.1\r\nHost: x\r\nKEY\r\n\r\n', [400]],
    ['two hosts', 'GET /api/v0/leads HTTP/1.1\r\nHost: a\r\nhost: b\r\nKEY\r\n\r\n', [400]],
    ['HTTP/0.9', 'GET /api/v0/leads\r\nHost: x\r\nKEY\r\n\r\n', [400]],
    ['HTTP/2.0', 'GET /api/v0/leads HTTP/2.0\r\nHost: x\r\nKEY\r\n\r\n', [400]],
    [
      'more headers than are read',
      `GET /api/v0/leads HTTP/1.1\r\nHost: x\r\nKEY\r\n${'a: b\r\n'.repeat(1000)}\r\n`,
      [431],
    ],
    [
      'an offer of another protocol, and more behind it',
      'GET /api/v0/leads?limit=x HTTP/1.1\r\nHost: x\r\nKEY\r\nConnection: Upgrade\r\nUpgrade: h2c\r\n\r\nGET / HTTP/1.1\r\nHost: x\r\n\r\n',
      [400],
    ],
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
      'a broken body of a request that reads none',
      'DELETE /api/v0/leads/LEAD HTTP/1.1\r\nHost: x\r\nKEY\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n',
      [400],
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

  itDirect.each<[string, string, number[]]>([
    ['once it has sent its request', 'GET /api/v0/leads HTTP/1.1\r\nHost: x\r\nKEY\r\n\r\n', [200]],
    ['in the middle of the headers', 'GET /api/v0/leads HTTP/1.1\r\nHost: x\r\nKEY', [400]],
    [
      'in the middle of the body',
      'POST /api/v0/leads HTTP/1.1\r\nHost: x\r\nKEY\r\nContent-Type: application/json\r\nContent-Length: 5\r\n\r\n{',
      [400],
    ],
  ])(`answers a client that closes its side %s${DIRECT}`, async (_, bytes, statuses) => {
    expect(check(await raw(bytes.replaceAll('KEY', `x-api-key: ${tenant.key}`), true))).toEqual(statuses);
  });

  itDirect(`reads the whole body of a client that closes its side once it has sent it${DIRECT}`, async () => {
    const body = json({ jobTitle: 5 });
    // A key that is met for the first time is looked up, and the client's end is there before its body is read.
    const keys = await Promise.all(Array.from({ length: 5 }, () => tenant.issueKey({})));
    const answers = await Promise.all(
      keys.map(({ key }) => {
        const head = `PATCH /api/v0/leads/${lead} HTTP/1.1\r\nHost: x\r\nx-api-key: ${key}\r\nContent-Type: application/json\r\n`;
        return raw(`${head}Content-Length: ${body.length}\r\n\r\n${body}`, true);
      }),
    );
    for (const answer of answers) expect(answer).toContain("Missing or invalid 'jobTitle'");
  });

  itDirect(`says that it closes the connection of who would change to another protocol${DIRECT}`, async () => {
    const upgrade = 'Connection: Upgrade\r\nUpgrade: websocket\r\n';
    const answer = await raw(`GET /api/v0/leads HTTP/1.1\r\nHost: x\r\nx-api-key: ${tenant.key}\r\n${upgrade}\r\n`);
    expect(check(answer)).toEqual([200]);
    expect(answer).toContain('Connection: close\r\n');
  });

  itDirect(`says how long the answer to HTTP/1.0 is${DIRECT}`, async () => {
    const answer = await raw(`GET /api/v0/leads HTTP/1.0\r\nx-api-key: ${tenant.key}\r\n\r\n`);
    const [head = '', body = ''] = answer.split('\r\n\r\n');
    expect(head).toContain(`Content-Length: ${Buffer.byteLength(body, 'latin1')}`);
  });

  itDirect.each(['zz\r\n{}\r\n', '-1\r\n', 'fffffffffffffffff\r\n', '2;x=y\r\n{}XX'])(
    `a bad chunk %j${DIRECT}`,
    async (chunk) => {
      const head = `POST /api/v0/leads HTTP/1.1\r\nHost: x\r\nx-api-key: ${tenant.key}\r\nContent-Type: application/json\r\n`;
      const statuses = check(await raw(`${head}Transfer-Encoding: chunked\r\n\r\n${chunk}`));
      expect(statuses.filter((status) => status !== 400)).toEqual([]);
    },
  );

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

  itDirect(`a body that is large only as it is compressed is asked for${DIRECT}`, async () => {
    const bytes = gzipSync(Buffer.alloc(2 ** 20, ' '), { level: 0 });
    const head = `PATCH /api/v0/leads/${lead} HTTP/1.1\r\nHost: x\r\nx-api-key: ${tenant.key}\r\nContent-Type: application/json\r\n`;
    const rest = `Content-Encoding: gzip\r\nContent-Length: ${bytes.length}\r\nExpect: 100-continue\r\n\r\n`;
    expect(check(await raw(head + rest))).toEqual([100]);
  });

  itDirect(`a body that is too large is refused before it ends${DIRECT}`, async () => {
    const head = `PATCH /api/v0/leads/${lead} HTTP/1.1\r\nHost: x\r\nx-api-key: ${tenant.key}\r\nContent-Type: application/json\r\n`;
    const chunk = `${(2 ** 20 + 1).toString(16)}\r\n${' '.repeat(2 ** 20 + 1)}\r\n`;
    expect(check(await raw(`${head}Transfer-Encoding: chunked\r\n\r\n${chunk}`))).toEqual([413]);
    expect(check(await raw(`${head}Content-Length: ${2 ** 20 + 1}\r\n\r\n`))).toEqual([413]);
  });

  itDirect.each([
    ['deflate', deflateSync, 'junk'],
    ['br', brotliCompressSync, 'junk'],
    ['gzip', gzipSync, '\0\0'],
  ] as const)(
    `a body of %s that ends before its request does is not obeyed before that has ended${DIRECT}`,
    async (encoding, compress, more) => {
      const head = `PATCH /api/v0/leads/${lead} HTTP/1.1\r\nHost: x\r\nx-api-key: ${tenant.key}\r\nContent-Type: application/json\r\n`;
      const bytes = Buffer.concat([compress('{"jobTitle":"too early"}'), Buffer.from(more)]);
      const start = `${head}Content-Encoding: ${encoding}\r\nTransfer-Encoding: chunked\r\n\r\n${bytes.length.toString(16)}\r\n`;
      expect(check(await raw(Buffer.concat([Buffer.from(start), bytes, Buffer.from('\r\n')])))).toEqual([]);
      expect(check(await raw(Buffer.concat([Buffer.from(start), bytes, Buffer.from('\r\nbroken')])))).toEqual([400]);
      const junk = Buffer.alloc(2 ** 21, 'x');
      const long = Buffer.from(`\r\n${junk.length.toString(16)}\r\n`);
      expect(check(await raw(Buffer.concat([Buffer.from(start), bytes, long, junk])))).toEqual([413]);
    },
  );

  itDirect(`a body of a GET is not waited for${DIRECT}`, async () => {
    const head = `GET /api/v0/leads HTTP/1.1\r\nHost: x\r\nx-api-key: ${tenant.key}\r\n`;
    expect(check(await raw(`${head}Content-Length: 5\r\n\r\n`))).toEqual([200]);
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
