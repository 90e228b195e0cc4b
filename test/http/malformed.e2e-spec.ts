import { randomUUID } from 'node:crypto';
import { gzipSync } from 'node:zlib';
import { eventInput, leadInput } from '../support/builders';
import { startLanyard, Tenant, withTenant } from '../support/lanyard';

const UUID = '0190a1b2-c3d4-7e5f-8a9b-0c1d2e3f4a5b';
const deep = (levels: number): string => `${'{"a":'.repeat(levels)}1${'}'.repeat(levels)}`;
const json = (value: unknown): string => JSON.stringify(value);

describe('malformed requests', () => {
  let tenant: Tenant;
  let event: number;
  let lead: string;
  let before: unknown;
  beforeAll(async () => {
    [, tenant] = await withTenant(startLanyard());
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

  it.each([
    ['put', '/events/x'],
    ['put', '/events/x/leads'],
    ['patch', '/leads/x'],
    ['put', '/industryEvents/x'],
  ] as const)('%s %s names the path before the body', (method, path) => {
    const body = { eventName: '', eventLeads: {}, email: 0, name: '' };
    return tenant.api.send(method, path, body).expect(400, { status: 400, error: 'Bad Request' });
  });

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
    '1.5',
    '1e3',
    '0x10',
    '+1',
    'abc',
    '9007199254740992',
    '9007199254740993',
    '9223372036854775808',
    '%20',
    '%00',
    '%zz',
    '%ff',
    '1%2F2',
    encodeURIComponent('😀'),
    "1'--",
  ];
  it.each(IDS)('/events/%s is 400', async (id) => {
    const path = `/events/${id}`;
    await tenant.api.get(path).expect(400, { status: 400, error: 'Bad Request' });
    await tenant.api.put(path, eventInput()).expect(400);
    await tenant.api.delete(path).expect(400);
    await tenant.api.put(`${path}/leads`, { eventLeads: [] }).expect(400);
    await tenant.api.get(`${path}/users`).expect(400);
  });

  describe.each(['leads', 'leadActivityEvents', 'activations', 'tagGroups', 'industryEvents'])('/%s', (folder) => {
    it.each(['1', `{${UUID}}`, `${UUID}%00`, '%c3%28', 'x'.repeat(4000), '..%2f..%2fhealth'])(
      'an id that is no uuid is 400: %s',
      (id) => tenant.api.get(`/${folder}/${id}`).expect(400, { status: 400, error: 'Bad Request' }),
    );
  });

  it.each([
    ['put', `/industryEvents/1`],
    ['post', '/industryEvents/1/bookmark'],
    ['delete', '/industryEvents/1/bookmark'],
  ] as const)('%s %s is 400', (method, path) => tenant.api.send(method, path, {}).expect(400));

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
});
