import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import Table from 'cli-table3';
import { LANYARD, makeOrganization, operator, run } from '../scripts/services.mjs';
import type { CheckResult } from '../src/cli/check/check.service';
import { PostgresNode } from './failover/postgres';
import { type Defer, Program, until } from './failover/programs';
import { RedisGroup } from './failover/redis';
import { Switch } from './failover/switch';
import { type Seen, Writers } from './failover/writers';
import { record } from './results';

const ORGANIZATIONS = 4;
const WRITERS_OF_EACH = 2;
/** Rounds of a result to publish. */
const FULL = 5;

/** An installation without a single point of failure, but on one machine. */
interface Stage {
  primary: PostgresNode;
  standby: PostgresNode;
  database: Switch;
  redis: RedisGroup;
  writers: Writers;
}

/** What clients saw of one failover. */
interface Failover {
  /** milliseconds until the new primary, or the new Redis for every process, did the work */
  took: number;
  answers: number;
  refused: number;
  /** milliseconds from the fault to the last answer that was an error */
  lastError: number;
  slowest: number;
}

interface Round {
  redis: Failover;
  postgres: Failover;
  acknowledged: number;
  lost: number;
  doubled: number;
}

async function prove(rounds: number, defer: Defer): Promise<boolean> {
  const stage = await build(defer);
  const results: Round[] = [];
  for (let round = 1; round <= rounds; round++) {
    const result = await playRound(stage);
    results.push(result);
    process.stdout.write(`${tableOf(result, round)}\n`);
    if (round < rounds) await swap(stage);
  }
  const services = { environment: { DATABASE_URL: urlOf(stage.database.port) }, defer };
  const { documents, lists, words } = (await operator(services, ['check'])) as CheckResult;
  const sum = (of: (round: Round) => number) => results.reduce((total, round) => total + of(round), 0);
  const most = (of: (round: Round) => number) => Math.max(...results.map(of));
  const wrong = documents.wrong + lists.wrong + words.wrong;
  const lost = sum((round) => round.lost);
  const doubled = sum((round) => round.doubled);
  const refused = sum(({ redis }) => redis.refused);
  const kept = lost + doubled + refused + wrong === 0;
  const seconds = (milliseconds: number): string => `${(milliseconds / 1000).toFixed(1)} s`;
  const measured =
    `${rounds} × each: ${stage.writers.markers.length} leads and their PATCHes acknowledged, ${lost} lost, ${doubled} doubled, ` +
    `${wrong} wrong in \`check\`; Redis: ${refused} answers of 5xx, new master in use after ${seconds(most(({ redis }) => redis.took))} at most, ` +
    `slowest answer ${most(({ redis }) => redis.slowest).toFixed(0)} ms; PostgreSQL: promoted within ${seconds(most(({ postgres }) => postgres.took))}, ` +
    `last error ${seconds(most(({ postgres }) => postgres.lastError))} after the kill, slowest answer ${seconds(most(({ postgres }) => postgres.slowest))}`;
  record({ promise: 'failover of PostgreSQL and Redis under load', measured, kept }, rounds >= FULL);
  return kept;
}

async function build(defer: Defer): Promise<Stage> {
  const folder = mkdtempSync(join(tmpdir(), 'lanyard-failover-'));
  chmodSync(folder, 0o755); // for root's PostgreSQL, which runs as somebody else
  defer(async () => rmSync(folder, { recursive: true, force: true }));
  const [primary, standby] = [await PostgresNode.make('one', folder), await PostgresNode.make('two', folder)];
  for (const node of [primary, standby]) defer(() => node.end('SIGKILL'));
  await primary.startEmpty();
  await standby.startFollowing(primary);
  const database = await Switch.start(primary.port);
  defer(() => database.close());
  const redis = await RedisGroup.start(folder, defer);
  const urls = [];
  for (let i = 0; i < 2; i++) urls.push(await startApi(join(folder, 'api.log'), database.port, redis, defer));
  const services = { environment: { DATABASE_URL: urlOf(database.port) }, defer };
  const keys = [];
  for (let i = 0; i < ORGANIZATIONS; i++) keys.push((await makeOrganization(services, 'Failover')).key);
  return { primary, standby, database, redis, writers: new Writers(urls, keys) };
}

async function startApi(log: string, port: number, redis: RedisGroup, defer: Defer): Promise<string> {
  const env = { ...process.env, NODE_ENV: 'production', HOST: '127.0.0.1', PORT: '0', DATABASE_URL: urlOf(port) };
  const start = { command: process.execPath, args: LANYARD, sign: /listens at (\S+)/, log };
  const program = await Program.start({ ...start, env: { ...env, ...redis.settings } });
  defer(() => program.end('SIGTERM'));
  return String(program.match[1]).replace('localhost', '127.0.0.1');
}

const urlOf = (port: number): string => `postgres://lanyard@127.0.0.1:${port}/lanyard`;

async function playRound({ primary, standby, database, redis, writers }: Stage): Promise<Round> {
  writers.start(WRITERS_OF_EACH);
  await pause(2000);
  const ofRedis = await failOver(writers, async () => {
    const killed = await redis.killMaster();
    await redis.inUse(2, killed);
    return () => redis.startAgain(killed);
  });
  const ofPostgres = await failOver(writers, async () => {
    await primary.end('SIGKILL');
    await standby.promote();
    database.switchTo(standby.port);
    await until('a write after the promotion', async () => {
      const since = performance.now() - 100;
      return writers.seen.some(({ at, took, status }) => status === 200 && at - took > since);
    });
    return () => Promise.resolve();
  });
  await writers.stop();
  return { redis: ofRedis, postgres: ofPostgres, ...(await compare(writers, standby)) };
}

/** @param fault resolves when the work goes on, with what makes the round's stage whole again */
async function failOver(writers: Writers, fault: () => Promise<() => Promise<void>>): Promise<Failover> {
  const begun = performance.now();
  const mend = await fault();
  const took = performance.now() - begun;
  await mend();
  await pause(2000);
  const since = writers.seen.filter(({ at }) => at >= begun);
  const errors = since.filter(({ status }) => status >= 500 || status === 0);
  process.stdout.write(`${timeline(since, begun)}\n`);
  return {
    took,
    answers: since.length,
    refused: errors.length,
    lastError: Math.max(0, ...errors.map(({ at }) => at - begun)),
    slowest: Math.max(...since.map(({ took }) => took)),
  };
}

/** What was answered in each half second after the fault: `0.5 s 200×41 500×3`. */
function timeline(seen: readonly Seen[], begun: number): string {
  const halves: Map<number, number>[] = [];
  for (const { at, status } of seen) {
    const counts = (halves[Math.floor((at - begun) / 500)] ??= new Map<number, number>());
    counts.set(status, (counts.get(status) ?? 0) + 1);
  }
  const texts = [...halves].map((counts, half) => {
    const parts = [...(counts ?? [])].sort(([a], [b]) => a - b).map(([status, count]) => `${status}×${count}`);
    return `${((half + 1) / 2).toFixed(1)} s ${parts.join(' ') || 'no answer'}`;
  });
  return `  ${texts.join('; ')}`;
}

/** Looks every acknowledged write up, one by one. */
async function compare(
  writers: Writers,
  node: PostgresNode,
): Promise<Pick<Round, 'acknowledged' | 'lost' | 'doubled'>> {
  const rows = await node.query<{ id: string; last_name: string; job_title: string | null }>(
    'select id, last_name, job_title from leads',
  );
  const copies = new Map<string, number>();
  for (const { last_name: marker } of rows) copies.set(marker, (copies.get(marker) ?? 0) + 1);
  const titles = new Map(rows.map(({ id, job_title: title }) => [id, Number(title ?? 0)]));
  const undone = writers.patched.filter(({ id, acknowledged, attempted }) => {
    const found = titles.get(id) ?? -1;
    return found < acknowledged || found > attempted;
  });
  const absent = writers.markers.filter((marker) => !copies.has(marker));
  return {
    acknowledged: writers.markers.length + writers.patched.reduce((sum, { acknowledged }) => sum + acknowledged, 0),
    lost: absent.length + undone.length,
    doubled: [...copies.values()].filter((count) => count > 1).length,
  };
}

/** The standby has become the primary; the other one becomes its standby, from a fresh copy. */
async function swap(stage: Stage): Promise<void> {
  await stage.primary.startFollowing(stage.standby);
  [stage.primary, stage.standby] = [stage.standby, stage.primary];
}

function tableOf({ redis, postgres, ...writes }: Round, round: number): string {
  const table = new Table({
    head: [`round ${round}`, 'goes on after', 'answers', '5xx or none', 'last error after', 'slowest'],
    style: { head: [], border: [] },
  });
  const ms = (value: number): string => `${value.toFixed(0)} ms`;
  for (const [name, found] of Object.entries({ Redis: redis, PostgreSQL: postgres })) {
    table.push([name, ms(found.took), found.answers, found.refused, ms(found.lastError), ms(found.slowest)]);
  }
  return `${table.toString()}\nacknowledged writes so far: ${writes.acknowledged}, lost ${writes.lost}, doubled ${writes.doubled}`;
}

async function main(): Promise<void> {
  const { values } = parseArgs({ options: { rounds: { type: 'string', default: String(FULL) } } });
  const rounds = Number(values.rounds);
  if (!(Number.isInteger(rounds) && rounds > 0)) {
    process.stderr.write(`--rounds N, an integer above 0 (${FULL} is the full count)\n`);
    process.exit(2);
  }
  await run(async (defer: Defer) => ((await prove(rounds, defer)) ? 0 : 1));
}

void main();
