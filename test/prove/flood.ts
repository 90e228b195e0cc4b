import { Agent } from 'node:http';
import { setTimeout as pause } from 'node:timers/promises';
import { gzipSync } from 'node:zlib';
import * as services from '../../scripts/services.mjs';
import { FLOODS, type Send } from './flood/floods';
import { type Limits, Watch } from './flood/watch';
import { record } from './results';
import { ask } from './support/ask';

/**
 * Floods a server with requests that cost it far more than their sender, while health checks and another organization are
 * timed: bodies of a kilobyte that unpack to 1 MiB, on many connections, which must be refused cheaply; and valid requests of
 * one default key, which must be answered without that others wait.
 */

const FULL = { seconds: 60, connections: 200 };
const options = services.readOptions({
  seconds: { type: 'string', default: String(FULL.seconds) },
  connections: { type: 'string', default: String(FULL.connections) },
  only: { type: 'string', default: '' },
}) as typeof FULL & { only: string };

const FLOODING_KEYS = 4;
const UNLIMITED = ['--max-tokens', '1000000', '--refill-rate', '1000000'];
/** What a key has without options. */
const BURST = 20;
const EVERY_MS = 1000;
const BODY_BYTES = 1_048_576;
const LEAD = { createdByEmail: 'ada@example.com', firstName: 'Ada', lastName: 'Rowe', companyName: 'Cobalt' };

const LIMITS: Limits = { healthMs: 250, readMs: 500, createMs: 2000, growthMib: 300 };
/** Valid requests are answered, with megabytes; the heap ends at 768 MiB. */
const OF_VALID: Limits = { ...LIMITS, growthMib: 600 };

/** A valid lead of exactly 1 MiB: an unknown field holds 350,000 empty objects. */
function bomb(): Buffer {
  const start = `${JSON.stringify(LEAD).slice(0, -1)},"unknown":[{}`;
  const values = ',{}'.repeat(Math.floor((BODY_BYTES - start.length - 2) / 3));
  return gzipSync(`${start}${values}]}`.padEnd(BODY_BYTES), { level: 9 });
}

/** A server of its own, with an organization that floods it and another one. */
async function stage(defer: (undo: () => Promise<unknown>) => void, limits = LIMITS) {
  const own = await services.startServices(options, defer);
  const server = await services.startServer(own, services.LANYARD);
  const port = Number(new URL(server.url).port);
  const other = await services.makeOrganization(own, 'Other', undefined, UNLIMITED);
  const { id, key: unlimited } = await services.makeOrganization(own, 'Flooding', undefined, UNLIMITED);
  const issue = async (limits: string[] = []) =>
    (await services.operator(own, ['keys', 'issue', '--organization', String(id), ...limits])).key as string;
  // What is compiled and connected at the first requests is not the flood's doing.
  for (const key of [unlimited, other.key]) {
    await ask(port, { method: 'POST', path: '/api/v0/leads', key, body: LEAD });
    await ask(port, { method: 'POST', path: '/api/v0/industryEvents', key, body: { name: 'Expo' } });
    await ask(port, { method: 'GET', path: '/api/v0/leads?limit=50', key });
  }
  return { port, unlimited, issue, watch: new Watch(port, server.pid ?? 0, other.key, limits) };
}

/** Many connections, each of which sends its next request when it has an answer. */
async function floodWithBombs(defer: (undo: () => Promise<unknown>) => void): Promise<boolean> {
  const { port, watch, unlimited, issue } = await stage(defer);
  const keys = [unlimited];
  while (keys.length < FLOODING_KEYS) keys.push(await issue(UNLIMITED));
  const body = bomb();
  const send = async (key: string): Promise<void> => {
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    const headers = { 'content-encoding': 'gzip' };
    while (!watch.isOver) {
      const answer = await ask(port, { method: 'POST', path: '/api/v0/leads', key, headers, body, agent });
      watch.flood.add(answer);
      if (answer.error) await pause(100); // a server that is gone refuses without end
    }
    agent.destroy();
  };
  await watch.during(options.seconds, () =>
    Promise.all(Array.from({ length: options.connections }, (_, n) => send(keys[n % keys.length] as string))),
  );
  const isRefused = (what: string): boolean => what === '413' || what === '503';
  const { measured, kept } = watch.conclude(isRefused);
  const line = `${options.seconds} s, ${options.connections} connections: ${measured}`;
  const isFull = options.seconds >= FULL.seconds && options.connections >= FULL.connections;
  record({ promise: 'compressed bodies of many small values', measured: line, kept }, isFull);
  return kept;
}

/** A burst, and then one request a second, answered or not. */
async function floodWithValid(name: string, defer: (undo: () => Promise<unknown>) => void) {
  const { port, watch, unlimited, issue } = await stage(defer, OF_VALID);
  const key = await issue();
  const prepare: Send = async (asked) => {
    const { status, error, body } = await ask(port, { ...asked, key: unlimited });
    if (status !== 200) throw new Error(`${name}: ${asked.method} ${asked.path}: ${status ?? error}`);
    return body?.results as Record<string, unknown>;
  };
  const next = await FLOODS[name]?.(prepare);
  if (!next) throw new Error(`there is no flood '${name}'`);
  await watch.during(options.seconds, async () => {
    const sent: Promise<void>[] = [];
    while (!watch.isOver) {
      if (sent.length >= BURST) await pause(EVERY_MS);
      sent.push(ask(port, { ...next(), key, isDiscarded: true }).then((answer) => watch.flood.add(answer)));
    }
    await Promise.all(sent);
  });
  const { measured, kept } = watch.conclude((what) => !what.startsWith('5') || what === '503');
  process.stdout.write(`${kept ? 'kept' : 'BROKEN'}: ${name}: ${measured}\n`);
  return { kept, worst: watch.worst() };
}

async function floodWithAll(defer: (undo: () => Promise<unknown>) => void): Promise<boolean> {
  const names = options.only ? [options.only] : Object.keys(FLOODS);
  const results: Awaited<ReturnType<typeof floodWithValid>>[] = [];
  for (const name of names) results.push(await floodWithValid(name, defer));
  const kept = results.every((result) => result.kept);
  const worst = (what: 'health' | 'read' | 'create'): string =>
    Math.max(...results.map((result) => result.worst[what])).toFixed(0);
  const measured =
    `${names.length} floods, each a burst of ${BURST} and then one a second for ${options.seconds} s; the worst of them: p99 ` +
    `of /health/live ${worst('health')} ms, of another organization's reads ${worst('read')} ms, its slowest create ` +
    `${worst('create')} ms; ${results.filter((result) => !result.kept).length} of them broke a promise`;
  const isFull = !options.only && options.seconds >= FULL.seconds;
  record({ promise: 'valid requests of one default key, chosen to be dear', measured, kept }, isFull);
  return kept;
}

void services.run(async (defer: (undo: () => Promise<unknown>) => void) => {
  const areRefused = options.only || (await floodWithBombs(defer));
  const areAnswered = await floodWithAll(defer);
  return areRefused && areAnswered ? 0 : 1;
});
