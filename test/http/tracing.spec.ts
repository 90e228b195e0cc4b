import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { json } from 'node:stream/consumers';
import { leadInput } from '../support/builders';
import { ApiClient } from '../support/client';
import { TestDatabase, testDatabase } from '../support/database';
import { Operator } from '../support/operator';
import { NO_REDIS, RedisServer, unless } from '../support/redis-server';

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
  let redis: RedisServer | undefined;
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
    if (!process.env.REDIS_URL) redis = await RedisServer.start();
  });
  afterAll(async () => {
    program.kill('SIGKILL');
    collector.close();
    await redis?.kill();
  });

  const spans = () =>
    exports
      .flatMap(({ resourceSpans }) => resourceSpans.flatMap(({ scopeSpans }) => scopeSpans))
      .flatMap(({ scope, spans: some }) =>
        some.map((span) => ({ ...span, kind: scope.name.replace('@opentelemetry/instrumentation-', '') })),
      );

  /** @returns where the program listens */
  async function started(to: Server): Promise<string> {
    const runner = join(__dirname, '../../scripts/run-typescript.mjs');
    program = spawn(process.execPath, [runner, join(__dirname, '../../src/main.ts')], {
      env: {
        ...process.env,
        HOST: '127.0.0.1',
        PORT: '0',
        DATABASE_URL: database.url,
        REDIS_URL: process.env.REDIS_URL ?? redis?.url,
        OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${(to.address() as AddressInfo).port}`,
      },
    });
    let said = '';
    for await (const chunk of program.stdout?.iterator({ destroyOnReturn: false }) ?? []) {
      said += String(chunk);
      if (said.includes('listens at')) break;
    }
    program.stdout?.resume();
    return /http:\S+/.exec(said)?.[0] ?? '';
  }

  async function stopped(): Promise<unknown[]> {
    const exited = once(program, 'exit');
    program.kill('SIGTERM');
    return exited;
  }

  it('go from HTTP to Redis and SQL in one trace, and hold nothing that a client sent', async () => {
    const baseUrl = await started(collector);
    const operator = new Operator({ DATABASE_URL: database.url });
    const { id } = await operator.json<{ id: number }>(['organizations', 'create', '--name', 'Traced']);
    const { key } = await operator.json<{ key: string }>(['keys', 'issue', '--organization', String(id)]);
    const api = new ApiClient(baseUrl, key);
    const canary = 'canary-51c2';
    await api.get('/industryEvents', { q: canary }).set('x-request-id', 'r-1').expect(200);
    await api.post('/leads', leadInput({ firstName: canary })).expect(200);
    await api.get(`/leads/${canary}@example.com`).set('user-agent', canary).expect(400);
    await api.get(`/${key}`).expect(404);
    expect(await stopped()).toEqual([0, null]);

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
