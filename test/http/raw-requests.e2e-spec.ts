import { once } from 'node:events';
import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib';
import { leadInput } from '../support/builders';
import { openConnection, receiveAll } from '../support/connection';
import { Lanyard, startLanyard, Tenant, withTenant } from '../support/lanyard';
import { DIRECT, itDirect } from '../support/skipping';

const json = (value: unknown): string => JSON.stringify(value);

/** A request as it stands: {key} and {lead} are put in when it is sent. */
const request = (line: string, ...more: string[]): string =>
  `${[`${line} HTTP/1.1`, 'Host: x', 'x-api-key: {key}', ...more].join('\r\n')}\r\n\r\n`;
const get = (...more: string[]): string => request('GET /api/v0/leads', ...more);
const post = (...more: string[]): string => request('POST /api/v0/leads', ...more);
const patch = (...more: string[]): string => request('PATCH /api/v0/leads/{lead}', ...more);
const JSON_TYPE = 'Content-Type: application/json';
const CHUNKED = 'Transfer-Encoding: chunked';
const CLOSE = 'Connection: close';
const WAITS = 'Expect: 100-continue';
const length = (bytes: number): string => `Content-Length: ${bytes}`;

/** What HTTP clients do not send, or send otherwise. */
describe('requests as bytes', () => {
  let lanyard: Lanyard;
  let tenant: Tenant;
  let lead: string;
  let before: unknown;
  beforeAll(async () => {
    [lanyard, tenant] = await withTenant(startLanyard());
    lead = (await tenant.api.post('/leads', leadInput()).expect(200)).body.results.id;
    before = await state();
  });
  afterEach(async () => expect(await state()).toEqual(before));

  const state = async () => (await tenant.api.get('/leads').expect(200)).text;

  /** Bytes as they stand; what comes back until the server or a second of silence ends it. */
  const raw = (head: string, { body = '' as string | Buffer, isEnded = false } = {}): Promise<string> => {
    const socket = openConnection(lanyard.baseUrl);
    socket.setTimeout(1000, () => socket.destroy());
    const bytes = Buffer.from(head.replaceAll('{key}', tenant.key).replaceAll('{lead}', lead), 'latin1');
    socket.write(Buffer.concat([bytes, Buffer.from(body)]));
    if (isEnded) socket.end();
    return receiveAll(socket);
  };

  /** Statuses of the answers; each answer must be JSON (or have no body), and none a 5xx. */
  const check = (answer: string): number[] => {
    const statuses = [...answer.matchAll(/HTTP\/1\.1 (\d{3})/g)].map(([, status]) => Number(status));
    expect(statuses.filter((status) => status >= 500)).toEqual([]);
    for (const head of answer.split('HTTP/1.1 ').slice(1)) {
      if (!head.startsWith('100')) expect(head).toContain('application/json; charset=utf-8');
    }
    return statuses;
  };

  // Node's own client always says how long a body is; and so may a proxy.
  itDirect.each<[string, string, string]>([
    ['no body', post(JSON_TYPE, CLOSE), "Missing or invalid 'createdByEmail'"],
    ['a body of the length 0', post(JSON_TYPE, CLOSE, length(0)), 'Bad Request'],
    ['a body of no chunk', `${post(JSON_TYPE, CLOSE, CHUNKED)}0\r\n\r\n`, 'Bad Request'],
  ])(`%s of the type JSON${DIRECT}`, async (_, bytes, error) => {
    const answer = await raw(bytes);
    expect(check(answer)).toEqual([400]);
    expect(answer).toContain(json({ status: 400, error }));
  });

  it.each([
    ['text/plain', "Missing or invalid 'createdByEmail'"],
    ['application/x-www-form-urlencoded', "Missing or invalid 'createdByEmail'"],
    ['multipart/form-data; boundary=x', "Missing or invalid 'createdByEmail'"],
    ['application/xml', "Missing or invalid 'createdByEmail'"],
    ['json', "Missing or invalid 'createdByEmail'"],
    [';;;', "Missing or invalid 'createdByEmail'"],
    ['application/json; charset=', ''],
    ['application/vnd.api+json', 'Bad Request'],
    ['APPLICATION/JSON', 'Bad Request'],
  ])('a body of the type %s', async (type, error) => {
    const answer = await raw(`${post(`Content-Type: ${type}`, length(1), CLOSE)}{`);
    expect(check(answer)).toEqual([400]);
    if (error) expect(answer).toContain(json({ status: 400, error }));
  });

  it.each<[string, Buffer, number]>([
    ['gzip', gzipSync('{"x":1}'), 400],
    ['GZIP', Buffer.from('not gzip'), 400],
    ['Gzip', gzipSync(Buffer.alloc(50 << 20, 32)), 413],
    ['deflate', Buffer.from('x'), 400],
    ['br', Buffer.from('x'), 400],
    ['zstd', Buffer.from('x'), 400],
    ['x'.repeat(100), Buffer.from('{}'), 400],
  ])('a body encoded as %s', async (encoding, body, status) => {
    const head = post(JSON_TYPE, `Content-Encoding: ${encoding}`, length(body.length), CLOSE);
    expect(check(await raw(head, { body }))).toEqual([status]);
  });

  const LAST = 'GET /nothing HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n';
  const HIDDEN = 'DELETE /api/v0/leads/{lead} HTTP/1.1\r\nHost: x\r\n\r\n';
  const refused = (...more: string[]): string => request('GET /api/v0/leads?limit=x', ...more);

  itDirect.each<[string, string, number[]]>([
    ['a third one at once, which is not handled', `${refused()}${refused()}${LAST}`, [400, 400]],
    ['no Host', 'GET /api/v0/leads HTTP/1.1\r\nx-api-key: {key}\r\n\r\n', [400]],
    ['two hosts', get('host: b'), [400]],
    ['HTTP/0.9', get().replace(' HTTP/1.1', ''), [400]],
    ['HTTP/1.0', get().replace('HTTP/1.1', 'HTTP/1.0'), [200]],
    ['HTTP/2.0', get().replace('HTTP/1.1', 'HTTP/2.0'), [400]],
    ['HTTP/9', get().replace('HTTP/1.1', 'HTTP/9.9'), [400]],
    ['not HTTP', '\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03', [400]],
    ['a lower-case method', request('get /api/v0/leads'), [400]],
    ['an unknown method', request('LEAD /api/v0/leads'), [400]],
    ['a method of no meaning here', request('PROPFIND /api/v0/leads', CLOSE), [404]],
    ['TRACE', request('TRACE /api/v0/leads', CLOSE), [404]],
    ['CONNECT', request('CONNECT evil.example:443'), [400]],
    ['OPTIONS', request('OPTIONS /api/v0/leads', CLOSE), [404]],
    ['OPTIONS *', request('OPTIONS *', CLOSE), [404]],
    ['another host', request('GET http://evil.example/api/v0/leads', CLOSE), [200]],
    ['a target that is not a URL', request('GET http://[/', CLOSE), [400]],
    ['a NUL in the line', request('GET /api/v0/\0'), [400]],
    ['a space in the path', request('GET /api/v0/a b'), [400]],
    ['a path of 32 KiB', request(`GET /api/v0/${'b'.repeat(2 ** 15)}`), [431]],
    ['another header of four letters', get('From: a@b.example', CLOSE), [200]],
    ['999 headers', get(...Array<string>(996).fill('A: b'), CLOSE), [200]],
    ['1000 headers', get(...Array<string>(997).fill('A: b'), CLOSE), [431]],
    ['32 KiB of header', get(`A: ${'b'.repeat(2 ** 15)}`), [431]],
    ['a header without a colon', get('broken'), [400]],
    ['a folded header', get('A: b\r\n c'), [400]],
    ['a NUL in a header', get('A: b\0'), [400]],
    ['a bad Expect', get('Expect: tea', CLOSE), [200]],
    ['an upgrade', get('Upgrade: websocket', 'Connection: Upgrade, close'), [200]],
    ['both lengths', `${post(length(5), CHUNKED)}0\r\n\r\n`, [400]],
    ['two lengths', `${post(length(5), length(6))}{}`, [400]],
    ['a negative length', post(length(-1)), [400]],
    ['two codings', `${post(`${CHUNKED}, identity`)}0\r\n\r\n`, [400]],
    ['two at once', `${refused()}${LAST}`, [400, 404]],
    ['an offer of another protocol, and more', `${refused('Connection: Upgrade', 'Upgrade: h2c')}${LAST}`, [400]],
    ['more after a request that is the last', `${refused(CLOSE)}${LAST}`, [400]],
    ['a broken request after sound ones, which are answered first', `${get()}${get()}\0`, [200, 200, 400]],
    ['a broken body of a request that reads none', `${request('DELETE /api/v0/leads/{lead}', CHUNKED)}zz\r\n`, [400]],
    [
      'a request in a body that is not read',
      `POST /api/v0/leads HTTP/1.1\r\nHost: x\r\n${length(HIDDEN.length + 30)}\r\n\r\n${HIDDEN}${LAST}`,
      [401, 404],
    ],
    [
      'a body of another type, and more after it',
      `${patch('Content-Type: text/plain', length(5))}hello${refused()}`,
      [400, 400],
    ],
  ])(`one answer a request, in order: %s${DIRECT}`, async (_, bytes, statuses) => {
    expect(check(await raw(bytes))).toEqual(statuses);
  });

  itDirect.each<[string, string, number[]]>([
    ['once it has sent its request', get(), [200]],
    ['in the middle of the headers', get().trimEnd(), [400]],
    ['in the middle of the body', `${post(JSON_TYPE, length(5))}{`, [400]],
  ])(`answers a client that closes its side %s${DIRECT}`, async (_, bytes, statuses) => {
    expect(check(await raw(bytes, { isEnded: true }))).toEqual(statuses);
  });

  itDirect(`reads the whole body of a client that closes its side once it has sent it${DIRECT}`, async () => {
    const body = json({ jobTitle: 5 });
    const bytes = `${patch(JSON_TYPE, length(body.length))}${body}`;
    // A key that is met for the first time is looked up, and the client's end is there before its body is read.
    const keys = await Promise.all(Array.from({ length: 5 }, () => tenant.issueKey({})));
    const answers = await Promise.all(keys.map(({ key }) => raw(bytes.replace('{key}', key), { isEnded: true })));
    for (const answer of answers) expect(answer).toContain("Missing or invalid 'jobTitle'");
  });

  itDirect(`says that it closes the connection of who would change to another protocol${DIRECT}`, async () => {
    const answer = await raw(get('Connection: Upgrade', 'Upgrade: websocket'));
    expect(check(answer)).toEqual([200]);
    expect(answer).toContain('Connection: close\r\n');
  });

  itDirect(`says how long the answer to HTTP/1.0 is${DIRECT}`, async () => {
    const answer = await raw('GET /api/v0/leads HTTP/1.0\r\nx-api-key: {key}\r\n\r\n');
    const [head = '', body = ''] = answer.split('\r\n\r\n');
    expect(head).toContain(`Content-Length: ${Buffer.byteLength(body, 'latin1')}`);
  });

  itDirect.each(['zz\r\n{}\r\n', '-1\r\n', 'fffffffffffffffff\r\n', '2;x=y\r\n{}XX'])(
    `a bad chunk %j${DIRECT}`,
    async (chunk) => {
      const statuses = check(await raw(`${post(JSON_TYPE, CHUNKED)}${chunk}`));
      expect(statuses.filter((status) => status !== 400)).toEqual([]);
    },
  );

  itDirect.each([
    ['POST /api/v0/leads', 'application/json'],
    ['PATCH /api/v0/leads/{lead}', 'text/plain'],
    ['DELETE /api/v0/leads/{lead}', 'text/plain'],
  ])(`a body that is said to be too large is not asked for: %s of %s${DIRECT}`, async (line, type) => {
    const answer = await raw(request(line, `Content-Type: ${type}`, length(2 ** 20 + 1), WAITS));
    expect(check(answer)).toEqual([413]);
    // What follows cannot be told from the body that may come after all.
    expect(answer).toContain('Connection: close\r\n');
  });

  itDirect(`a body that is large only as it is compressed is asked for${DIRECT}`, async () => {
    const { length: bytes } = gzipSync(Buffer.alloc(2 ** 20, ' '), { level: 0 });
    expect(check(await raw(patch(JSON_TYPE, 'Content-Encoding: gzip', length(bytes), WAITS)))).toEqual([100]);
  });

  itDirect(`a body that is too large is refused before it ends${DIRECT}`, async () => {
    const chunk = `${(2 ** 20 + 1).toString(16)}\r\n${' '.repeat(2 ** 20 + 1)}\r\n`;
    expect(check(await raw(`${patch(JSON_TYPE, CHUNKED)}${chunk}`))).toEqual([413]);
    expect(check(await raw(patch(JSON_TYPE, length(2 ** 20 + 1))))).toEqual([413]);
  });

  itDirect.each([
    ['deflate', deflateSync, 'junk'],
    ['br', brotliCompressSync, 'junk'],
    ['gzip', gzipSync, '\0\0'],
  ] as const)(
    `a body of %s that ends before its request does is not obeyed before that has ended${DIRECT}`,
    async (encoding, compress, more) => {
      const bytes = Buffer.concat([compress('{"jobTitle":"too early"}'), Buffer.from(more)]);
      const head = `${patch(JSON_TYPE, `Content-Encoding: ${encoding}`, CHUNKED)}${bytes.length.toString(16)}\r\n`;
      const statusesOf = async (rest: string) =>
        check(await raw(head, { body: Buffer.concat([bytes, Buffer.from(rest)]) }));
      expect(await statusesOf('\r\n')).toEqual([]);
      expect(await statusesOf('\r\nbroken')).toEqual([400]);
      expect(await statusesOf(`\r\n${(2 ** 21).toString(16)}\r\n${'x'.repeat(2 ** 21)}`)).toEqual([413]);
    },
  );

  itDirect(`a body of a GET is not waited for${DIRECT}`, async () => {
    expect(check(await raw(get(length(5))))).toEqual([200]);
  });

  itDirect(
    `a client that goes away in the middle of a body that is not needed has deleted nothing${DIRECT}`,
    async () => {
      const socket = openConnection(lanyard.baseUrl);
      const head = request('DELETE /api/v0/leads/{lead}', length(5), WAITS);
      socket.write(`${head.replace('{lead}', lead).replace('{key}', tenant.key)}ab`);
      await once(socket, 'data'); // It is asked for the rest.
      socket.destroy();
      await tenant.api.get(`/leads/${lead}`).expect(200);
    },
  );

  it('a body that ends too early leaves nothing behind', async () => {
    check(await raw(`${post(JSON_TYPE, length(500))}${json(leadInput())}`));
    await tenant.api.get('/leads').expect(200);
  });
});
