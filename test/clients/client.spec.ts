import {
  Lanyard,
  LanyardError,
  type LanyardOptions,
  type LeadUpsertV0Input,
  type MatchBy,
} from '../../clients/typescript/src';

/** What a server would do at one attempt. */
type Attempt = Response | Error | ((init: RequestInit) => Promise<Response>);

const answer = (status: number, body: object, headers: Record<string, string> = {}) =>
  Response.json({ status, ...body }, { status, headers });
const refusal = (status: number, error: string, headers = {}) => answer(status, { error }, headers);
const lead = () => answer(200, { results: { id: 'made' } });
const body = { createdByEmail: 'booth@example.com', firstName: 'Ada', lastName: 'Rowe', companyName: 'Cobalt Systems' };

/** A client whose attempts end as they are given, and that notes its waits in the place of waiting. */
function client(attempts: Attempt[], options: Partial<LanyardOptions> = {}) {
  const sent: { url: string; init: RequestInit; headers: Record<string, string> }[] = [];
  const waits: number[] = [];
  const lanyard = new Lanyard({
    baseUrl: 'http://lanyard.example/api/v0/',
    key: 'lan_key',
    random: () => 0.5,
    sleep: (milliseconds) => {
      waits.push(milliseconds);
      return Promise.resolve();
    },
    fetch: async (url, init) => {
      sent.push({ url, init, headers: Object.fromEntries(new Headers(init.headers)) });
      const next = attempts.shift();
      if (!next) throw new Error('One attempt too many');
      if (next instanceof Error) throw next;
      return next instanceof Response ? next : next(init);
    },
    ...options,
  });
  return { lanyard, sent, waits };
}

const NOT_THE_API = 'The answer is not that of the API: is the baseUrl right, or does a proxy or a login page answer?';

const failureOf = async (call: Promise<unknown>): Promise<LanyardError> => {
  const error: unknown = await call.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  if (!(error instanceof LanyardError)) throw new Error(`No LanyardError but ${String(error)}`);
  return error;
};

/** Takes the request, and answers only when it is given up. */
const silence = ({ signal }: RequestInit): Promise<Response> =>
  new Promise((_, reject) => signal?.addEventListener('abort', () => reject(signal.reason as Error)));

describe('a request', () => {
  it('has the key, the ids in its path and the query', async () => {
    const { lanyard, sent } = client([answer(200, { results: {} }), answer(200, { results: { industryEvents: [] } })]);
    await lanyard.get('/leads/{leadId}', { params: { path: { leadId: 'a/b' } } });
    await lanyard.get('/industryEvents', { params: { query: { q: 'pumps & "valves"', limit: 5 } } });
    expect(sent.map(({ url, init, headers }) => [init.method, url, headers['x-api-key']])).toEqual([
      ['GET', 'http://lanyard.example/api/v0/leads/a%2Fb', 'lan_key'],
      ['GET', 'http://lanyard.example/api/v0/industryEvents?q=pumps%20%26%20%22valves%22&limit=5', 'lan_key'],
    ]);
  });

  it.each([
    ['', 'A Lanyard client needs a key: the operator of the server issues one'],
    [' \n', 'A Lanyard client needs a key: the operator of the server issues one'],
    ['lan_…', /^The key cannot be sent in a header: /],
    ['lan_a\nlan_b', /^The key cannot be sent in a header: /],
    ['lan_\x01', /^The key cannot be sent in a header: /],
  ])('is not made with the key %j, and that is said at once', (key, message) => {
    expect(() => client([], { key })).toThrow(LanyardError);
    expect(() => client([], { key })).toThrow(message);
  });

  it('takes a key with white space around it, as a file has it', async () => {
    const { lanyard, sent } = client([lead()], { key: '\ufefflan_key\r\n' });
    await lanyard.post('/leads', { body });
    expect(sent[0]?.headers['x-api-key']).toBe('lan_key');
  });

  it.each([
    'lanyard.example/api/v0',
    'localhost:3000/api/v0',
    '//lanyard.example/api/v0',
    '/api/v0',
    '',
    'ftp://x/api/v0',
    undefined as unknown as string,
    'http:///',
    'http://x:99999/api/v0',
  ])('is not made to %s, which begins with no scheme and host', (baseUrl) => {
    const message =
      'The baseUrl must begin with http:// or https:// and a host, as in https://lanyard.example.com/api/v0';
    expect(() => client([], { baseUrl })).toThrow(LanyardError);
    expect(() => client([], { baseUrl })).toThrow(message);
  });

  it.each([
    ['http://lanyard.example', 'end with /api/v0'],
    ['http://lanyard.example/api', 'end with /api/v0'],
    ['http://lanyard.example/api/v0/leads', 'end with /api/v0'],
    ['http://lanyard.example/api/v0?key=1', 'end with /api/v0'],
    ['http://ada:secret@lanyard.example/api/v0', 'have no user and no password'],
  ])('is not made to %s: it must %s', (baseUrl, must) => {
    const message = `The baseUrl must ${must}, as in https://lanyard.example.com/api/v0`;
    expect(() => client([], { baseUrl })).toThrow(message);
  });

  it.each(['https://lanyard.example/api/v0', 'HTTP://[::1]:3000/booths/api/v0/'])('may be made to %s', (baseUrl) => {
    expect(client([], { baseUrl }).lanyard).toBeInstanceOf(Lanyard);
  });

  it.each(['', 'scan 17', 'ß', 'x'.repeat(256)])('is not sent under the Idempotency-Key %j', async (idempotencyKey) => {
    const { lanyard, sent } = client([]);
    const error = await failureOf(lanyard.post('/leads', { body, idempotencyKey }));
    expect(error.message).toMatch(/^The idempotencyKey must be 1 to 255 visible characters of ASCII/);
    expect(sent).toEqual([]);
  });
});

describe('an empty bucket', () => {
  afterEach(() => jest.useRealTimers());

  it('is waited for as long as it takes: Retry-After, and each time up to twice as much more', async () => {
    const full = () => refusal(429, 'Too Many Requests', { 'retry-after': '3' });
    const { lanyard, waits } = client([...Array.from({ length: 7 }, full), lead()], { retries: 0 });
    expect(await lanyard.post('/leads', { body })).toEqual({ id: 'made' });
    expect(waits).toEqual([3250, 3500, 4000, 5000, 7000, 7000, 7000]);
  });

  it('is not waited for when that is longer than allowed', async () => {
    const { lanyard, waits } = client([refusal(429, 'Too Many Requests', { 'retry-after': '61' })]);
    expect(await failureOf(lanyard.get('/leads'))).toMatchObject({ status: 429, retryAfter: 61, attempts: 1 });
    expect(waits).toEqual([]);
  });
});

describe('a failure that may pass', () => {
  it.each<[string, () => Attempt]>([
    ['no connection', () => new TypeError('fetch failed')],
    ['408', () => refusal(408, 'Request Timeout')],
    ['409', () => refusal(409, 'The first request with this Idempotency-Key is still running')],
    ['500', () => refusal(500, 'Internal Server Error')],
    ['502 of a proxy', () => new Response('<h1>Bad Gateway</h1>', { status: 502 })],
    ['503', () => refusal(503, 'Service Unavailable')],
    ['an answer that breaks off', () => new Response(new ReadableStream({ start: (s) => s.error(new Error('cut')) }))],
  ])('is met by another try: %s', async (_, failure) => {
    const { lanyard, waits } = client([failure(), failure(), answer(200, { results: { total: 0 } })]);
    expect(await lanyard.get('/leads')).toEqual({ total: 0 });
    expect(waits).toEqual([250, 500]);
  });

  it('is met by four, the first after up to half a second, each later one after twice as long; then it is the result', async () => {
    const { lanyard, waits } = client(Array.from({ length: 5 }, () => new TypeError('fetch failed')));
    const error = await failureOf(lanyard.delete('/leads/{leadId}', { params: { path: { leadId: 'x' } } }));
    expect(error).toMatchObject({
      message: 'No answer from http://lanyard.example',
      method: 'DELETE',
      path: '/api/v0/leads/x',
      attempts: 5,
    });
    expect(error.status).toBeUndefined();
    expect(error.cause).toBeInstanceOf(TypeError);
    expect(waits).toEqual([250, 500, 1000, 2000]);
  });

  it('is sent again with the same Idempotency-Key and the same body', async () => {
    const { lanyard, sent } = client([new TypeError('fetch failed'), refusal(500, 'Internal Server Error'), lead()]);
    await lanyard.post('/leads', { body });
    const [first, ...others] = sent.map(({ headers, init }) => ({ headers, body: init.body }));
    expect(first?.body).toBe(JSON.stringify(body));
    expect(first?.headers['idempotency-key']).toMatch(/^[\da-f-]{36}$/);
    expect(others).toEqual([first, first]);
  });
});

describe('an Idempotency-Key', () => {
  it('is one of its own for each POST and PATCH, a given one when there is one, and none of other methods', async () => {
    const done = () => answer(200, { results: {} });
    const { lanyard, sent } = client([done(), done(), done(), done(), done()]);
    const params = { path: { leadId: 'x' } };
    await lanyard.post('/leads', { body });
    await lanyard.patch('/leads/{leadId}', { params, body: {} });
    await lanyard.post('/leads', { body, idempotencyKey: 'scan-17' });
    await lanyard.get('/leads/{leadId}', { params });
    await lanyard.delete('/leads/{leadId}', { params });
    const keys = sent.map(({ headers }) => headers['idempotency-key']);
    expect(new Set(keys.slice(0, 2)).size).toBe(2);
    expect(keys.slice(2)).toEqual(['scan-17', undefined, undefined]);
  });
});

describe('a dry run', () => {
  const applied = { 'preference-applied': 'tx=rollback, handling=strict' };
  const params = { path: { leadId: 'x' } };

  it('asks for one, has no Idempotency-Key, and is sent again when its answer was lost', async () => {
    const { lanyard, sent } = client([
      new TypeError('fetch failed'),
      answer(200, { results: {} }, applied),
      answer(200, { results: {} }),
    ]);
    await lanyard.patch('/leads/{leadId}', { params, body: {}, dryRun: true });
    await lanyard.patch('/leads/{leadId}', { params, body: {} });
    const asked = sent.map(({ headers }) => [headers.prefer, 'idempotency-key' in headers]);
    const dry = ['tx=rollback, handling=strict', false];
    expect(asked).toEqual([dry, dry, ['handling=strict', true]]);
  });

  it('that was none is an error, at once: a server that knows none has written', async () => {
    const { lanyard, waits } = client([answer(200, { results: {} })]);
    const error = await failureOf(lanyard.delete('/leads/{leadId}', { params, dryRun: true }));
    expect([error.status, error.message]).toEqual([
      200,
      expect.stringMatching(/^This was no dry run, and the write may/),
    ]);
    expect(waits).toEqual([]);
  });
});

describe('an error', () => {
  it('tells the status, the field, the request and what to wait for, and is not tried again', async () => {
    const { lanyard } = client([refusal(400, "Missing or invalid 'phoneNumbers[0].type'", { 'x-request-id': 'r-1' })]);
    const error = await failureOf(lanyard.post('/leads', { body }));
    expect({ ...error, message: error.message }).toEqual({
      name: 'LanyardError',
      message: "Missing or invalid 'phoneNumbers[0].type' (400)",
      text: "Missing or invalid 'phoneNumbers[0].type'",
      status: 400,
      field: 'phoneNumbers[0].type',
      requestId: 'r-1',
      method: 'POST',
      path: '/api/v0/leads',
      attempts: 1,
    });
  });

  it('names the part at fault where its text does not', async () => {
    const { lanyard } = client([refusal(400, 'Bad Request', { 'lanyard-fault': 'query limit' })]);
    expect(await failureOf(lanyard.get('/leads'))).toMatchObject({
      message: 'Bad Request (400, query limit)',
      text: 'Bad Request',
      fault: 'query limit',
    });
  });

  it('has the status, the fault and the reason in its message and its properties', async () => {
    const headers = {
      'lanyard-fault': 'body leads[1].email',
      'lanyard-fault-reason': 'duplicate',
      'lanyard-fault-detail': 'repeats leads[0].email',
    };
    const { lanyard } = client([refusal(400, "Missing or invalid 'leads[1].email'", headers)]);
    expect(await failureOf(lanyard.post('/leads', { body }))).toMatchObject({
      message: "Missing or invalid 'leads[1].email' (400, body leads[1].email: duplicate, repeats leads[0].email)",
      field: 'leads[1].email',
      fault: 'body leads[1].email',
      reason: 'duplicate',
      detail: 'repeats leads[0].email',
    });
  });

  it.each([
    [
      301,
      { location: 'https://elsewhere.example/' },
      'Redirected to https://elsewhere.example/: the baseUrl should be there',
    ],
    [200, {}, NOT_THE_API],
    [404, {}, 'HTTP 404'],
  ])('says what it can of a %s that is not the API', async (status, headers: Record<string, string>, message) => {
    const { lanyard, sent } = client([new Response('<h1>Hello</h1>', { status, headers })]);
    expect(await failureOf(lanyard.get('/leads'))).toMatchObject({ message, status });
    expect(sent[0]?.init.redirect).toBe('manual');
  });
});

describe('a 200 that is not the contract', () => {
  const page = (over: object) => ({ pagination: { limit: 50, offset: 0 }, results: { leads: [], total: 0 }, ...over });
  const listed = async (api: Lanyard) => {
    for await (const _ of api.list('/leads')) void _;
  };
  const upserted = async (api: Lanyard) => {
    for await (const _ of api.upsertLeads([body], { matchBy: 'none' })) void _;
  };
  const get = (api: Lanyard) => api.get('/leads');
  const found = (api: Lanyard) => api.findLead({ email: 'ada@example.com' });

  it.each<[string, (api: Lanyard) => Promise<unknown>, unknown]>([
    ...['null', [], 'text', 5, {}, { status: 200 }, { status: 200, results: null }, { results: {} }].map(
      (each): [string, typeof get, unknown] => ['get', get, each],
    ),
    ['get', get, { status: 500, results: {} }],
    ['get', get, { error: 'Please log in' }],
    ['list', listed, { status: 200, ...page({ results: {} }) }],
    ['list', listed, { status: 200, ...page({ results: { leads: [] } }) }],
    ['list', listed, { status: 200, ...page({ pagination: undefined }) }],
    ['list', listed, { status: 200, ...page({ pagination: { limit: 0 } }) }],
    ['findLead', found, { status: 200, results: {} }],
    ['upsertLeads', upserted, { status: 200, results: { leads: 'none' } }],
  ])('is a LanyardError at once, of %s', async (_, call, answered) => {
    const { lanyard, waits } = client([Response.json(answered, { headers: { 'x-request-id': 'r-1' } })]);
    const error = await failureOf(call(lanyard));
    expect(error).toMatchObject({ message: NOT_THE_API, status: 200, attempts: 1, requestId: 'r-1' });
    expect(waits).toEqual([]);
  });
});

describe('a call', () => {
  it('gives up an attempt after its timeout, and tries again', async () => {
    const { lanyard, waits } = client([silence, silence], { timeout: 1, retries: 1 });
    const error = await failureOf(lanyard.get('/leads'));
    expect(error).toMatchObject({
      message: 'No answer from http://lanyard.example within 1 ms',
      attempts: 2,
      cause: { name: 'TimeoutError' },
    });
    expect(waits).toEqual([250]);
    const patient = client([silence], { retries: 0 });
    expect(await failureOf(patient.lanyard.get('/leads', { timeout: 2 }))).toMatchObject({
      message: 'No answer from http://lanyard.example within 2 ms',
    });
  });

  it.each<[string, number, Attempt]>([
    ['before it begins', 0, silence],
    ['during an attempt', 1, silence],
    ['during a wait', 1, refusal(429, 'Too Many Requests', { 'retry-after': '60' })],
  ])('ends with the reason of its signal: aborted %s', async (_, requests, attempt) => {
    const controller = new AbortController();
    const reason = new Error('Closing time');
    const { lanyard, sent } = client([attempt], { sleep: undefined });
    if (requests === 0) controller.abort(reason);
    const call = lanyard.get('/leads', { signal: controller.signal });
    setImmediate(() => controller.abort(reason));
    await expect(call).rejects.toBe(reason);
    expect(sent).toHaveLength(requests);
  });
});

describe('a list', () => {
  const page = (total: number, offset: number, limit = 50) => {
    const leads = Array.from({ length: Math.min(limit, total - offset * limit) }, (_, n) => ({
      id: offset * limit + n,
    }));
    return answer(200, { pagination: { limit, offset }, results: { leads, total } });
  };

  it.each([
    [0, 1],
    [49, 1],
    [50, 1],
    [51, 2],
    [120, 3],
  ])('of %d entries takes %d requests', async (total, requests) => {
    const { lanyard, sent } = client(Array.from({ length: requests }, (_, offset) => page(total, offset)));
    const met: unknown[] = [];
    for await (const { id } of lanyard.list('/leads')) met.push(id);
    expect(met).toEqual(Array.from({ length: total }, (_, n) => n));
    expect(sent.map(({ url }) => new URL(url).search)).toEqual(
      Array.from({ length: requests }, (_, offset) => `?limit=50&offset=${offset}`),
    );
  });

  it('begins at a page, has pages of another size, and asks for no page that is not needed', async () => {
    const { lanyard, sent } = client([page(9, 2, 2), page(9, 3, 2)]);
    const met: unknown[] = [];
    for await (const { id } of lanyard.list('/leads', { params: { query: { limit: 2, offset: 2 } } })) {
      met.push(id);
      if (met.length === 3) break;
    }
    expect(met).toEqual([4, 5, 6]);
    expect(sent.map(({ url }) => new URL(url).search)).toEqual(['?limit=2&offset=2', '?limit=2&offset=3']);
  });
});

describe('many leads', () => {
  const outcomes = ({ body: sent }: RequestInit) => {
    const { leads } = JSON.parse(String(sent)) as { leads: { email?: string }[] };
    return Promise.resolve(
      answer(200, { results: { leads: leads.map((entry) => ({ outcome: 'created', lead: entry })) } }),
    );
  };
  const written = async (leads: LeadUpsertV0Input[], matchBy: MatchBy) => {
    const { lanyard, sent } = client(Array<Attempt>(9).fill(outcomes));
    const all: unknown[] = [];
    for await (const { lead: each } of lanyard.upsertLeads(leads, { matchBy })) all.push(each);
    expect(all).toEqual(leads);
    return sent.map(({ init }) => {
      const { leads: entries } = JSON.parse(String(init.body)) as { leads: unknown[] };
      return entries.length;
    });
  };
  const some = (count: number, over: object = {}): LeadUpsertV0Input[] =>
    Array.from({ length: count }, (_, n) => ({ ...body, email: `lead${n}@example.com`, ...over }));

  it('are cut into batches of 200', async () => {
    expect(await written(some(401), 'email')).toEqual([200, 200, 1]);
    expect(await written([], 'email')).toEqual([]);
  });

  it('are cut where a body would have more than 1 MiB, or 20,000 values', async () => {
    expect(await written(some(5, { description: 'é'.repeat(200_000) }), 'none')).toEqual([2, 2, 1]);
    const phoneNumbers = Array(50).fill({ number: '1', type: 'HQ', preferred: true });
    expect(await written(some(100, { phoneNumbers }), 'none')).toEqual([96, 4]);
    expect(await written(some(1, { description: 'x'.repeat(2_000_000) }), 'none')).toEqual([1]);
  });

  it('are cut where one has the value of another in its batch', async () => {
    const twice = [...some(3), ...some(2, { email: 'LEAD1@example.com' })];
    expect(await written(twice, 'email')).toEqual([3, 1, 1]);
    expect(await written(twice, 'none')).toEqual([5]);
    const remoteId = { id: '1', integrationType: 'ZOHO' } as const;
    expect(await written(some(2, { remoteId }), 'remoteId')).toEqual([1, 1]);
  });

  it('end with the batch that is refused', async () => {
    const { lanyard } = client([outcomes, refusal(400, "Missing or invalid 'leads[3].email'")]);
    const all: unknown[] = [];
    const loop = async () => {
      for await (const each of lanyard.upsertLeads(some(250), { matchBy: 'email' })) all.push(each);
    };
    expect(await failureOf(loop())).toMatchObject({ status: 400, field: 'leads[3].email' });
    expect(all).toHaveLength(200);
  });

  it('are not looked for without a filter', async () => {
    const { lanyard } = client([]);
    const nothing = { email: undefined } as unknown as { email: string };
    await expect(lanyard.findLead(nothing)).rejects.toThrow('findLead needs a filter');
  });
});
