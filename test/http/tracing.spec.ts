import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { json } from 'node:stream/consumers';
import { leadInput } from '../support/builders';
import { ApiClient } from '../support/client';
import { TestDatabase, testDatabase } from '../support/database';
import { Operator } from '../support/operator';
import { saysUntil, startProgram, stopped } from '../support/program';
import { NO_REDIS, redisUrl } from '../support/redis-server';
import { unless } from '../support/skipping';

interface Span {
  traceId: string;
  spanId: string;
  parentSpanId?: string;
  name: string;
  attributes: { key: string; value: Record<string, unknown> }[];
}

interface Export {
  resourceSpans: { resource: object; scopeSpans: { scope: { name: string }; spans: Span[] }[] }[];
}

/** The program in a process of its own, since what is traced must be loaded after the tracing; and a collector for it. */
unless(NO_REDIS)(`traces${NO_REDIS}`, () => {
  const exports: Export[] = [];
  let collector: Server;
  let database: TestDatabase;
  let program: ChildProcess;
  beforeAll(async () => {
    collector = createServer((request, response) => {
      void json(request).then((body) => {
        if (request.url === '/v1/traces') exports.push(body as Export);
        response.end('{}');
      });
    }).listen(0, '127.0.0.1');
    await once(collector, 'listening');
    database = await testDatabase();
  });
  afterAll(() => {
    program.kill('SIGKILL');
    collector.close();
  });

  const spans = () =>
    exports
      .flatMap(({ resourceSpans }) => resourceSpans.flatMap(({ scopeSpans }) => scopeSpans))
      .flatMap(({ scope, spans: some }) =>
        some.map((span) => ({ ...span, kind: scope.name.replace('@opentelemetry/instrumentation-', '') })),
      );

  it('go from HTTP to Redis and SQL in one trace, and hold nothing that a client sent', async () => {
    program = startProgram({
      DATABASE_URL: database.url,
      REDIS_URL: await redisUrl(),
      OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${(collector.address() as AddressInfo).port}`,
    });
    const [baseUrl = ''] = /http:\S+/.exec(await saysUntil(program, 'To issue a key')) ?? [];
    const operator = new Operator({ DATABASE_URL: database.url });
    const { id } = await operator.json<{ id: number }>(['organizations', 'create', '--name', 'Traced']);
    const { key } = await operator.json<{ key: string }>(['keys', 'issue', '--organization', String(id)]);
    const api = new ApiClient(baseUrl, key);
    const canary = 'canary-51c2';
    await api.get('/industryEvents', { q: canary }).set('x-request-id', 'r-1').expect(200);
    await api.post('/leads', leadInput({ firstName: canary })).expect(200);
    await api.get(`/leads/${canary}@example.com`).set('user-agent', canary).expect(400);
    await api.get(`/${key}`).expect(404);
    expect(await stopped(program, 'SIGTERM')).toBe(0);

    const [server] = spans().filter(({ name }) => name === 'GET /api/v0/industryEvents');
    expect(server).toBeDefined();
    expect(server?.attributes).toContainEqual({ key: 'lanyard.request_id', value: { stringValue: 'r-1' } });
    expect(server?.attributes).toContainEqual({ key: 'lanyard.organization_id', value: { intValue: id } });
    const within = spans().filter(({ traceId }) => traceId === server?.traceId);
    expect(new Set(within.map(({ kind }) => kind))).toEqual(new Set(['http', 'ioredis', 'pg']));
    // Everything hangs together below the request.
    const ids = within.map(({ spanId }) => spanId);
    for (const span of within) if (span.spanId !== server?.spanId) expect(ids).toContain(span.parentSpanId);
    const text = JSON.stringify(exports);
    expect(text).toContain('"lanyard"');
    expect(text).not.toContain(canary);
    expect(text).not.toContain(key);
    // Nor where the client is.
    expect(spans().flatMap(({ attributes }) => attributes.map((one) => one.key))).not.toContain('client.address');
    expect(text).not.toContain('network.peer.address');
  }, 60_000);
});
