import { setTimeout as pause } from 'node:timers/promises';
import { readOptions } from '../../scripts/services.mjs';
import { ApiClient } from '../support/client';
import type { Cluster, Tenant } from './faults/cluster';
import { play } from './faults/play';
import type { Fault, Stage } from './faults/stage';
import { complaints, Follower, type Habits } from './feed/follower';
import { Transactions } from './feed/transactions';
import { Writer } from './feed/writer';
import type { Tally } from './support/ask';
import { formatCount } from './support/figures';
import { runOperator } from './support/operator';
import { Random } from './support/random';

/**
 * Replicas follow the feed of changes, each in its way, while everything that changes records goes on, and server and
 * PostgreSQL are killed. After each round they must equal the lists.
 */

/** Changes of a result to publish. */
const FULL = 1_000_000;
const ORGANIZATIONS = 2;
const WRITERS = 3;
const IMPORTED = 2000;
/** Of imports, how many are killed, and when: they take longer than the first, and about as long as the second. */
const KILLED_SHARE = 0.4;
const KILLED_AFTER_MS = [1000, 4000] as const;
const LOST_TRANSACTIONS = 20;

const options = readOptions({
  changes: { type: 'string', default: '50000' },
  seed: { type: 'string', default: String(Date.now() % 1_000_000) },
  // of writing in a round
  seconds: { type: 'string', default: '15' },
  // that a transaction lasts
  transaction: { type: 'string', default: '20' },
  keep: { type: 'boolean', default: false },
}) as { changes: number; seed: number; seconds: number; transaction: number; keep: boolean };

const say = (line: string): void => void process.stdout.write(`${line}\n`);

/** What keeps the write-ahead log of transactions that are not committed from the disk, so that a kill loses it. */
const SETTINGS = { wal_writer_delay: `'10s'`, wal_writer_flush_after: `'1GB'`, max_prepared_transactions: '10' };

/** An organization, what writes to it, and what follows it. */
class Organization {
  readonly followers: Follower[] = [];
  imports = 0;
  killedImports = 0;
  private retired = 0;
  private readonly writer: Writer;
  private readonly clients: ApiClient[];

  constructor(
    private readonly tenant: Tenant,
    private readonly cluster: Cluster,
    private readonly random: Random,
    answers: Tally,
  ) {
    const { key } = tenant;
    this.clients = cluster.apis.map(({ port }) => new ApiClient(`http://127.0.0.1:${port}/api/v0`, key));
    this.writer = new Writer(key, () => random.pick(cluster.apis).port, random, answers, IMPORTED);
  }

  get organizationId(): number {
    return this.tenant.organizationId;
  }

  follow(habits: Habits): void {
    this.followers.push(new Follower(this.random.pick(this.clients), this.random, { pauseMs: 50, ...habits }));
  }

  /** The one that began last ends; those of before go on. */
  retire(): void {
    this.retired += this.followers.pop()?.count ?? 0;
  }

  /** Changes that followers were told. */
  get told(): number {
    return this.followers.reduce((sum, { count }) => sum + count, this.retired);
  }

  /** Writes for so long, several things at once, among them an import now and then. */
  async write(isOver: () => boolean): Promise<void> {
    const work = async (_: unknown, n: number): Promise<void> => {
      while (!isOver()) {
        if (n === 0 && this.random.chance(0.3)) await this.import();
        else await this.writer.write();
      }
    };
    await Promise.all(Array.from({ length: WRITERS }, work));
  }

  /** All followers, one after the other: there are few. */
  async restart(): Promise<void> {
    for (const follower of this.followers) await follower.restart();
  }

  async catchUp(): Promise<void> {
    await Promise.all(this.followers.map((follower) => follower.catchUp()));
  }

  complaints(): Promise<string[]> {
    return complaints(this.clients[0] as ApiClient, this.followers);
  }

  /** Imports many records. Now and then the importer is killed, and PostgreSQL undoes what it has written. */
  private async import(): Promise<void> {
    const args = ['import', '-', '--organization', String(this.organizationId), '--json'];
    const killAfterMs = this.random.chance(KILLED_SHARE) ? this.random.between(...KILLED_AFTER_MS) : 0;
    const input = JSON.stringify(this.writer.dataset());
    await runOperator(this.cluster.postgres.url(), args, input, killAfterMs).then(
      () => this.imports++,
      ({ killed }: { killed?: boolean }) => killed && this.killedImports++,
    );
  }
}

const habitsOf = (random: Random): Habits[] => [
  { name: 'in pages of 500', limit: () => 500 },
  { name: 'in pages of 100', limit: () => 100 },
  { name: 'of some resources', limit: () => 500, resources: 'events,eventLeads,leads' },
  { name: 'in small pages', limit: () => (random.chance(0.5) ? random.between(1, 7) : 500) },
  { name: 'that goes back', limit: () => random.between(1, 500), repeats: 0.05 },
];

/** What one run has to do with. */
interface Run {
  stage: Stage;
  cluster: Cluster;
  organizations: Organization[];
  transactions: Transactions;
  /** times that numbers of transactions were given again */
  reused: number;
  kills: number;
}

async function start(stage: Stage): Promise<Run> {
  const cluster = await stage.cluster({ apis: 2 });
  for (const [name, value] of Object.entries(SETTINGS))
    await cluster.postgres.query(`alter system set ${name} = ${value}`);
  await cluster.postgres.stop();
  await cluster.postgres.start();
  const tenants = await cluster.tenants(ORGANIZATIONS);
  const organizations = tenants.map((tenant) => new Organization(tenant, cluster, stage.random, stage.answers));
  const transactions = new Transactions(cluster.postgres, stage.random, options.transaction);
  stage.defer(() => transactions.stop());
  for (const habits of habitsOf(stage.random)) organizations[0]?.follow(habits);
  organizations[1]?.follow({ name: 'of another organization', limit: () => 500 });
  return { stage, cluster, organizations, transactions, reused: 0, kills: 0 };
}

/** Kills and long transactions, while others write. */
async function disturb(
  { stage, cluster, organizations, transactions, ...run }: Run,
  isOver: () => boolean,
): Promise<number> {
  const killAt = performance.now() + (options.seconds * 1000) / 2;
  let kills = 0;
  const ids = organizations.map(({ organizationId }) => organizationId);
  await transactions.begin(ids);
  await transactions.prepare(stage.random.pick(ids));
  while (!isOver()) {
    await pause(200);
    await transactions.endDue();
    if (kills > 0 || performance.now() < killAt) continue;
    kills++;
    const victim = stage.random.pick(cluster.apis);
    await victim.kill();
    await victim.start();
    if (stage.random.chance(0.5)) continue;
    kills++;
    await cluster.postgres.kill();
    await cluster.postgres.start();
    await transactions.idleElsewhere();
  }
  return run.kills + kills;
}

/** Loses transactions that readers have seen to be open, and whose numbers PostgreSQL then gives again. */
async function loseNumbers(run: Run): Promise<void> {
  const { cluster, organizations, transactions } = run;
  const ids = organizations.map(({ organizationId }) => organizationId);
  const last = await transactions.begin(Array.from({ length: LOST_TRANSACTIONS }, (_, n) => ids[n % ids.length] ?? 0));
  await Promise.all(organizations.map((each) => each.catchUp()));
  await cluster.postgres.kill();
  await cluster.postgres.start();
  run.kills++;
  const [row] = await cluster.postgres.query<{ next: string }>(
    'select pg_snapshot_xmax(pg_current_snapshot())::text as next',
  );
  if (Number(row?.next) <= last) run.reused++;
}

/** Transaction numbers of the restored log are so much higher, as those of a busier cluster are. */
const FARTHER = 1_000_000_000;
const SECONDS_BEFORE_READERS = 2;

/** Puts a copy of the database in its place, as a restored dump of another cluster is, and writes before anybody reads. */
async function restore({ cluster: { apis, postgres }, organizations, transactions }: Run): Promise<void> {
  await Promise.all(apis.map((api) => api.stop()));
  await transactions.stop();
  await postgres.query('create database restored template lanyard', 'postgres');
  await postgres.query(`update changes set xid = xid + ${FARTHER}`, 'restored');
  await postgres.query('alter database lanyard rename to original', 'postgres');
  await postgres.query('alter database restored rename to lanyard', 'postgres');
  await Promise.all(apis.map((api) => api.start()));
  const end = performance.now() + SECONDS_BEFORE_READERS * 1000;
  await Promise.all(organizations.map((each) => each.write(() => performance.now() > end)));
  await Promise.all(organizations.map((each) => each.restart()));
}

/** @returns what must not be */
async function round(run: Run): Promise<string[]> {
  const { organizations, transactions } = run;
  await transactions.idleElsewhere();
  for (const organization of organizations) {
    organization.follow({ name: 'that begins now', limit: () => 500 });
    for (const follower of organization.followers) follower.start();
  }
  const end = performance.now() + options.seconds * 1000;
  const isOver = (): boolean => performance.now() > end;
  const disturbed = disturb(run, isOver);
  await Promise.all([...organizations.map((each) => each.write(isOver)), disturbed]);
  run.kills = await disturbed;
  await loseNumbers(run);
  await Promise.all(organizations.map((each) => each.catchUp()));
  const found: string[] = [];
  for (const organization of organizations) found.push(...(await organization.complaints()));
  for (const organization of organizations) organization.retire();
  return found;
}

const feed: Fault = {
  name: 'feed',
  promise: 'a replica that follows the feed of changes',
  times: FULL,
  async play(stage) {
    const run = await start(stage);
    const sum = (count: (each: Organization) => number): number =>
      run.organizations.reduce((total, each) => total + count(each), 0);
    let [changes, rounds, told, removed] = [0, 0, 0, 0];
    const broken: string[] = [];
    while (changes < stage.times && broken.length === 0) {
      broken.push(...(await round(run)));
      rounds++;
      const [row] = await run.cluster.postgres.query<{ rows: number }>('select count(*)::integer as rows from changes');
      changes = removed + (row?.rows ?? 0);
      told = sum((each) => each.told);
      say(
        `    round ${rounds}: ${formatCount(changes)} changes, ${formatCount(told)} told, ${broken.length} differences`,
      );
      if (removed > 0 || changes < stage.times / 2) continue;
      // A restored log begins again without rows.
      removed = changes;
      await restore(run);
      say('    restored: all cursors are gone, and all replicas begin anew');
    }
    if (!(await run.cluster.check())) broken.push('operator check finds derived data that is wrong');
    const measured =
      `${formatCount(changes)} changes (seed ${options.seed}), emitted ${formatCount(told)} times to replicas in ${rounds} rounds: ` +
      `${broken.length} missing or wrong; ${sum(({ imports }) => imports)} imports of ${formatCount(IMPORTED)} leads, ` +
      `${sum(({ killedImports }) => killedImports)} more killed, ${run.kills} kills, ${run.transactions.ended} long transactions, ` +
      `transaction numbers reused ${run.reused} times; ${removed > 0 ? 'restored once' : 'never restored'}`;
    return { measured, broken };
  },
};

say(`seed ${options.seed}`);
void play(feed, options.changes / FULL, options.seed, options.keep).then(({ kept }) => {
  process.exitCode = kept ? 0 : 1;
});
