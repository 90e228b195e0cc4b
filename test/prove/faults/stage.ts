import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Tally } from '../support/ask';
import { Random } from '../support/random';
import { Canaries } from './canaries';
import { Cluster, type ClusterOptions, type Database } from './cluster';
import { check, type Damage } from './invariants';
import { Load, type LoadOptions } from './load';

/** What a fault reports; what its load found is added to it. */
export interface Played {
  /** the figures that the promise is about */
  measured: string;
  /** what must not be; empty when the fault did no harm */
  broken: string[];
  /** Milliseconds from each return of a service to the first response. */
  recoveredMs?: number[];
  /** The longest time in milliseconds that the promise is about, where it is not a recovery. */
  slowestMs?: number;
}

export interface Fault {
  name: string;
  promise: string;
  /** how often, at the full count */
  times: number;
  play(stage: Stage): Promise<Played>;
}

/** Where a fault is played: a cluster of its own and a load, which are examined and taken down afterwards. */
export class Stage {
  readonly canaries = new Canaries();
  readonly random: Random;
  readonly answers = new Tally();
  readonly directory = mkdtempSync(join(tmpdir(), 'lanyard-fault-'));
  private started?: Cluster<Database>;
  private working?: Load;
  private readonly deferred: (() => unknown)[] = [];

  constructor(
    readonly times: number,
    seed: number,
    /** whether the logs stay */
    private readonly keep: boolean,
  ) {
    this.random = new Random(seed);
    // Root's PostgreSQL runs as another user, who must be able to pass.
    chmodSync(this.directory, 0o755);
  }

  async cluster(options: ClusterOptions = {}): Promise<Cluster> {
    const cluster = await Cluster.start(join(this.directory, 'cluster'), options);
    this.started = cluster;
    return cluster;
  }

  /** A cluster on another PostgreSQL than one of its own. */
  async clusterOn(postgres: Database, options: ClusterOptions = {}): Promise<Cluster<Database>> {
    this.started = await Cluster.on(postgres, join(this.directory, 'cluster'), options);
    return this.started;
  }

  /** Clients of three organizations, at work. */
  async load(cluster: Cluster<Database>, options: LoadOptions): Promise<Load> {
    const tenants = await cluster.tenants(3);
    for (const { key } of tenants) this.canaries.watch(key);
    const load = new Load(cluster.apis, tenants, this.canaries, this.random, this.answers, options);
    this.working = load;
    await load.start();
    return load;
  }

  /** Undone before the cluster is stopped. */
  defer(undo: () => unknown): void {
    this.deferred.push(undo);
  }

  get acknowledged(): number {
    return this.working?.acknowledged ?? 0;
  }

  /** Stops the load, and reads back what it wrote; undefined when there was none. */
  async damage(): Promise<Damage | undefined> {
    await this.working?.stop();
    return this.started && this.working && check(this.started, this.working);
  }

  /** Lines of any log that hold a canary. The search is first tried on the data itself, where they are. */
  async leaks(): Promise<string[]> {
    const found = this.canaries.foundInFiles(this.started?.logs ?? []);
    if (!this.working) return found;
    const rows = await this.started?.postgres.query<{ row: string }>('select l::text as row from leads l limit 10');
    const isBlind = this.canaries.foundIn(rows?.map(({ row }) => row).join('\n') ?? '').length === 0;
    return isBlind ? [...found, 'the search is blind'] : found;
  }

  async end(): Promise<void> {
    await this.working?.stop();
    for (const undo of this.deferred.reverse()) await undo();
    await this.started?.stop();
    if (this.keep) process.stdout.write(`    logs: ${this.directory}\n`);
    else rmSync(this.directory, { recursive: true, force: true, maxRetries: 3 });
  }
}
