import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import type { INestApplicationContext } from '@nestjs/common';
import { readOptions, run } from '../../scripts/services.mjs';
import { WebhooksService } from '../../src/feed/webhooks/webhooks.service';
import { leadInput } from '../support/builders';
import { ApiClient } from '../support/client';
import { freePort } from '../support/servers/free-port';
import { operatorServices } from '../support/operator-services';
import { typescript } from '../support/program';
import { rejectWith, Receiver, ACKNOWLEDGED } from '../support/servers/receiver';
import { createTenants, type Tenant } from './faults/cluster';
import { Postgres } from './faults/postgres';
import { record } from './results';
import { Api } from './support/api';
import { ask } from './support/ask';
import { until } from './support/daemon';
import { formatCount, percentile } from './support/figures';
import { runOperator } from './support/operator';
import { Random } from './support/random';
import { Writers } from './webhooks/writers';

/**
 * Receivers of webhooks and of a method with `@OnChanges` misbehave, while clients write, imports run, and servers and
 * PostgreSQL are killed: in the end each receiver has what the lists show. And reads are timed while all receivers hang.
 */

/** Rounds of a result to publish; in each a server is killed, and in every fifth PostgreSQL, too. */
const FULL = 20;
const ORGANIZATIONS = 6;
const WEBHOOKS_EACH = 2;
/** Of the clock of the waits, in a round. */
const ROUND_MS = 15 * 60_000;
const READS = 1500;
const READERS = 3;
const PATIENCE_MS = 180_000;
/** Webhooks and methods to which a server delivers at once, when all of them hang. */
const HANGING = 8;
/** With every receiver hanging p99 may be so many times that without; what is below the noise is as good as equal. */
const MAX_RATIO = 1.5;
const NOISE_MS = 10;

/** How often a receiver that misbehaves does what. */
const MISDEEDS: (readonly [weight: number, answer: Receiver['answer']])[] = [
  [8, ACKNOWLEDGED],
  [2, rejectWith(500)],
  [1, rejectWith(503, { 'retry-after': '60' })],
  [1, rejectWith(302, { location: 'http://127.0.0.1:9/' })],
  [2, (response) => void response.destroy()],
  [2, () => undefined],
  [2, (response) => void response.writeHead(200).end('x'.repeat(1 << 20))],
];

const { rounds, seed } = readOptions({
  rounds: { type: 'string', default: String(FULL) },
  seed: { type: 'string', default: String((Date.now() % 1_000_000) + 1) },
}) as { rounds: number; seed: number };
const random = new Random(seed);
const directory = mkdtempSync(join(tmpdir(), 'lanyard-webhooks-'));
let ahead = 0;
const goAhead = (milliseconds: number): void =>
  writeFileSync(join(directory, 'clock'), String((ahead += milliseconds)));

interface World {
  postgres: Postgres;
  servers: Api[];
  tenants: Tenant[];
  /** Receivers of webhooks, some for each tenant. */
  webhooks: Receiver[];
  /** Receivers of the servers' method, one for each tenant. */
  methods: Receiver[];
}

/** Milliseconds of reads, some at once, at the 99th percentile. */
async function p99OfReads({ servers, tenants }: World): Promise<number> {
  const times: number[] = [];
  const read = async (): Promise<void> => {
    while (times.length < READS) {
      const { key } = random.pick(tenants);
      const { status, tookMs } = await ask(random.pick(servers).port, {
        method: 'GET',
        path: '/api/v0/leads?limit=20',
        key,
      });
      if (status !== 200) throw new Error(`a read was answered by ${status}`);
      times.push(tookMs);
    }
  };
  await Promise.all(Array.from({ length: READERS }, read));
  return percentile(times, 0.99);
}

/** Two servers, organizations with some leads, and receivers, of which the servers know nothing yet. */
async function begin(
  defer: (undo: () => Promise<unknown>) => void,
): Promise<World & { operator: INestApplicationContext }> {
  chmodSync(directory, 0o755); // root's PostgreSQL runs as another user
  defer(async () => rmSync(directory, { recursive: true, force: true, maxRetries: 3 }));
  goAhead(0);
  const postgres = await Postgres.make(join(directory, 'data'), join(directory, 'postgresql.log'));
  defer(() => postgres.stop());
  await runOperator(postgres.url(), ['migrate']);
  const servers: Api[] = [];
  const settings = { DATABASE_URL: postgres.url(), REDIS_URL: '', PROOF_DIRECTORY: directory };
  const program = typescript('test/prove/webhooks/server.ts');
  for (let n = 0; n < 2; n++) {
    const server = new Api(join(directory, `server-${n}.log`), await freePort(), settings, program);
    servers.push(server);
    defer(() => server.stop());
    await server.start();
  }
  const operator = await operatorServices(postgres.url(), { webhookPrivate: 'on' });
  defer(() => operator.close());
  const tenants = await createTenants(operator, ORGANIZATIONS);
  const [webhooks, methods]: [Receiver[], Receiver[]] = [[], []];
  for (const [n, { key }] of tenants.entries()) {
    const api = new ApiClient(`http://127.0.0.1:${servers[n % 2]!.port}/api/v0`, key);
    for (let made = 0; made < 30; made++) await api.post('/leads', leadInput()).expect(200);
    for (let made = 0; made < WEBHOOKS_EACH; made++) webhooks.push(await new Receiver(api).listen());
    methods.push(await new Receiver(api).listen());
  }
  for (const receiver of [...webhooks, ...methods]) defer(() => receiver.close());
  return { postgres, servers, tenants, webhooks, methods, operator };
}

/** A round: receivers misbehave and one is away, an import runs, and a server is killed, or PostgreSQL. */
async function play({ postgres, servers, tenants, webhooks, methods }: World, round: number): Promise<void> {
  const away = random.pick([...webhooks, ...methods]);
  await away.close();
  const leads = Array.from({ length: 150 }, () => ({ id: random.uuid(), firstName: random.text(8) }));
  const { organizationId } = random.pick(tenants);
  // PostgreSQL may be killed under it, and all of it is undone then.
  const importing = runOperator(
    postgres.url(),
    ['import', '-', '--organization', String(organizationId)],
    JSON.stringify({ leads }),
  );
  const imported = importing.catch(() => undefined);
  await pause(random.between(500, 3000));
  if (round % 5 === 4) {
    // Both servers are there, so that either may deliver afterwards.
    await postgres.kill();
    await postgres.start();
    await pause(random.between(500, 3000));
  }
  const victim = servers[round % servers.length]!;
  await victim.kill();
  goAhead(random.between(0, ROUND_MS));
  await pause(random.between(1000, 3000));
  await victim.start();
  await away.listen();
  await imported;
}

/** How often receivers got a page, and how many changes they acknowledged. */
function figuresOf(receivers: Receiver[], kind: string): string {
  const sum = (count: (receiver: Receiver) => number): string =>
    formatCount(receivers.reduce((total, each) => total + count(each), 0));
  const acknowledged = sum(({ copy }) => copy.changes.length);
  return `${sum(({ deliveries }) => deliveries.length)} ${kind} that acknowledged ${acknowledged} changes`;
}

async function main(defer: (undo: () => Promise<unknown>) => void): Promise<number> {
  process.stdout.write(`seed ${seed}, ${rounds} rounds\n`);
  const world = await begin(defer);
  const { webhooks, methods, tenants, servers, operator } = world;
  const receivers = [...webhooks, ...methods];
  await p99OfReads(world); // so that both have the same warm servers
  const without = await p99OfReads(world);

  for (const receiver of receivers) receiver.answer = () => undefined;
  for (const [n, receiver] of webhooks.entries()) {
    const { organizationId } = tenants[Math.floor(n / WEBHOOKS_EACH)]!;
    receiver.secrets = [(await operator.get(WebhooksService).create(organizationId, receiver.url)).secret];
  }
  for (const [n, { organizationId }] of tenants.entries())
    writeFileSync(join(directory, `receiver-${organizationId}`), methods[n]!.url);
  goAhead(ROUND_MS); // the method has thrown until now
  const held = (): number => receivers.reduce((sum, { atOnce }) => sum + atOnce, 0);
  await until('receivers hang', () => held() >= HANGING);
  const hanging = await p99OfReads(world);

  for (const receiver of receivers) receiver.answer = (...given) => random.weighted(MISDEEDS)(...given);
  const writers = new Writers(servers, tenants, random);
  for (let round = 0; round < rounds; round++) await play(world, round);
  await writers.stop();

  for (const receiver of receivers) receiver.answer = ACKNOWLEDGED;
  let different: string[] = [];
  const agree = async (): Promise<boolean> => {
    goAhead(ROUND_MS);
    await pause(1500);
    different = (await Promise.all(receivers.map(({ copy }) => copy.differences()))).flat();
    return different.length === 0;
  };
  const begun = performance.now();
  await until('the copies equal the lists', agree, PATIENCE_MS).catch(() => undefined);
  const agreedS = ((performance.now() - begun) / 1000).toFixed(0);
  const mostAtOnce = Math.max(...receivers.map((receiver) => receiver.mostAtOnce));
  const kept = different.length === 0 && mostAtOnce === 1 && hanging <= without * MAX_RATIO + NOISE_MS;
  for (const difference of different.slice(0, 20)) process.stdout.write(`    ${difference}\n`);
  process.stdout.write(`    ${writers.answers.toString()}\n`);
  const measured =
    `${rounds} rounds (seed ${seed}), ${rounds} kills of a server and ${Math.floor(rounds / 5)} of PostgreSQL: ` +
    `${formatCount(writers.answers.countOf((what) => what === '200'))} writes, ` +
    `${figuresOf(webhooks, `requests to ${webhooks.length} webhooks`)} and ` +
    `${figuresOf(methods, `calls of a method for ${methods.length} organizations`)}, ${different.length} records different ${agreedS} s after the last write, at ` +
    `most ${mostAtOnce} page at a time for each; p99 of a read ${hanging.toFixed(1)} ms with all receivers hanging, ` +
    `${without.toFixed(1)} ms without webhooks`;
  record({ promise: 'webhooks and methods with `@OnChanges` that misbehave', measured, kept }, rounds >= FULL);
  return kept ? 0 : 1;
}

void run(main);
