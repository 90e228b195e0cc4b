import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { makeOrganization, operator, readOptions, run } from '../scripts/services.mjs';
import type { CheckResult } from '../src/cli/check/check.service';
import { freePort } from '../src/embedded-postgres/free-port';
import { PostgresNode } from './failover/postgres';
import { RedisGroup } from './failover/redis';
import { Writers } from './failover/writers';
import { record } from './results';
import { Api } from './support/api';
import { until } from './support/daemon';
import { seconds } from './support/figures';
import { Proxy } from './support/proxy';

/** Fails PostgreSQL and Redis over, under writers that remember, and looks up every acknowledged write. */

const ORGANIZATIONS = 4;
const WRITERS_OF_EACH = 2;
const PROCESSES = 2;
/** Rounds of a result to publish. */
const FULL = 5;

type Defer = (undo: () => Promise<unknown>) => void;

interface Stage {
  primary: PostgresNode;
  standby: PostgresNode;
  /** the one address of both: what a proxy with a check is in production */
  database: Proxy;
  redis: RedisGroup;
  writers: Writers;
}

/** What clients saw of one failover. */
interface Failover {
  /** until the new server did the work */
  tookMs: number;
  errors: number;
  /** from the fault to the last error */
  lastErrorMs: number;
  slowestMs: number;
}

const urlOf = (port: number): string => `postgres://lanyard@127.0.0.1:${port}/lanyard`;

async function build(defer: Defer): Promise<Stage> {
  const folder = mkdtempSync(join(tmpdir(), 'lanyard-failover-'));
  chmodSync(folder, 0o755); // for root's PostgreSQL, which runs as another user
  defer(async () => rmSync(folder, { recursive: true, force: true }));
  const [primary, standby] = [await PostgresNode.make('one', folder), await PostgresNode.make('two', folder)];
  for (const node of [primary, standby]) defer(() => node.kill());
  await primary.startEmpty();
  await standby.startFollowing(primary);
  const database = await Proxy.to(primary.port);
  defer(async () => database.close());
  const redis = new RedisGroup(folder);
  defer(() => redis.stop());
  await redis.start();
  const settings = { DATABASE_URL: urlOf(database.port), ...redis.settings };
  const ports: number[] = [];
  while (ports.length < PROCESSES) {
    const api = new Api(join(folder, 'api.log'), await freePort(), settings);
    defer(() => api.stop());
    await api.start();
    ports.push(api.port);
  }
  const keys: string[] = [];
  const services = { environment: settings, defer };
  while (keys.length < ORGANIZATIONS) keys.push((await makeOrganization(services, 'Failover')).key as string);
  return { primary, standby, database, redis, writers: new Writers(ports, keys) };
}

/** @param fault resolves when the work goes on, with what makes the stage whole again */
async function failOver({ seen }: Writers, fault: () => Promise<() => Promise<void>>): Promise<Failover> {
  const begun = performance.now();
  const restore = await fault();
  const tookMs = performance.now() - begun;
  await restore();
  await pause(2000);
  const since = seen.filter(({ at }) => at >= begun);
  const errors = since.filter(({ status }) => status >= 500 || status === 0);
  return {
    tookMs,
    errors: errors.length,
    lastErrorMs: Math.max(0, ...errors.map(({ at }) => at - begun)),
    slowestMs: Math.max(...since.map((each) => each.tookMs)),
  };
}

const failRedisOver = ({ redis, writers }: Stage): Promise<Failover> =>
  failOver(writers, async () => {
    const killed = await redis.killMaster();
    await redis.untilUsed(PROCESSES, killed);
    return () => redis.startAgain(killed);
  });

const failPostgresOver = ({ primary, standby, database, writers }: Stage): Promise<Failover> =>
  failOver(writers, async () => {
    await primary.kill();
    await standby.promote();
    database.switchTo(standby.port);
    const promoted = performance.now();
    const isWritten = () => writers.seen.some(({ at, tookMs, status }) => status === 200 && at - tookMs > promoted);
    await until('a write after the promotion', isWritten);
    return async () => undefined;
  });

/** Looks every acknowledged write up. */
async function compare({ written }: Writers, node: PostgresNode): Promise<{ lost: number; doubled: number }> {
  const rows = await node.query<{ last_name: string; job_title: string | null }>(
    'select last_name, job_title from leads',
  );
  const copies = new Map<string, number[]>();
  for (const { last_name: marker, job_title: title } of rows) {
    copies.set(marker, [...(copies.get(marker) ?? []), Number(title ?? 0)]);
  }
  const lost = written.filter(({ marker, acknowledged, attempted }) => {
    const [title = -1] = copies.get(marker) ?? [];
    return title < acknowledged || title > attempted;
  });
  return { lost: lost.length, doubled: [...copies.values()].filter(({ length }) => length > 1).length };
}

async function prove(rounds: number, defer: Defer): Promise<number> {
  const stage = await build(defer);
  const ofRedis: Failover[] = [];
  const ofPostgres: Failover[] = [];
  let lost = 0;
  let doubled = 0;
  for (let round = 1; round <= rounds; round++) {
    stage.writers.start(WRITERS_OF_EACH);
    await pause(2000);
    ofRedis.push(await failRedisOver(stage));
    ofPostgres.push(await failPostgresOver(stage));
    await stage.writers.stop();
    const found = await compare(stage.writers, stage.standby);
    lost += found.lost;
    doubled += found.doubled;
    process.stdout.write(`round ${round}: ${JSON.stringify([ofRedis.at(-1), ofPostgres.at(-1), found])}\n`);
    // The standby is the primary now; the other one becomes its standby, from a fresh copy.
    if (round < rounds) await stage.primary.startFollowing(stage.standby);
    [stage.primary, stage.standby] = [stage.standby, stage.primary];
  }
  const services = { environment: { DATABASE_URL: urlOf(stage.database.port) }, defer };
  const { documents, lists, words } = (await operator(services, ['check'])) as CheckResult;
  const wrong = documents.wrong + lists.wrong + words.wrong;
  const errors = ofRedis.reduce((sum, each) => sum + each.errors, 0);
  const max = (all: Failover[], of: keyof Failover): string => seconds(Math.max(...all.map((each) => each[of])));
  const kept = lost + doubled + errors + wrong === 0;
  const measured =
    `${rounds} × each: ${stage.writers.written.length} leads and their PATCHes acknowledged, ${lost} lost, ` +
    `${doubled} doubled, ${wrong} wrong in \`check\`; Redis: ${errors} answers of 5xx, new master in use after ` +
    `${max(ofRedis, 'tookMs')} at most, slowest answer ${max(ofRedis, 'slowestMs')}; PostgreSQL: promoted within ` +
    `${max(ofPostgres, 'tookMs')}, last error ${max(ofPostgres, 'lastErrorMs')} after the kill, ` +
    `slowest answer ${max(ofPostgres, 'slowestMs')}`;
  record({ promise: 'failover of PostgreSQL and Redis under load', measured, kept }, rounds >= FULL);
  return kept ? 0 : 1;
}

const { rounds } = readOptions({ rounds: { type: 'string', default: String(FULL) } }) as { rounds: number };
void run((defer: Defer) => prove(rounds, defer));
