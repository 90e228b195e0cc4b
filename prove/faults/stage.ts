import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Tally } from '../support/ask';
import { Random } from '../support/random';
import { Canaries } from './canaries';
import { Cluster, type ClusterOptions } from './cluster';
import { check, type Damage } from './invariants';
import { Load, type LoadOptions } from './load';

/** What a fault reports; what the loads found is added to it. */
export interface Played {
  /** the figures that the promise is about */
  measured: string;
  /** what must not be; empty when the fault did no harm */
  broken: string[];
  /** answers that no load counted */
  answers?: Tally;
  /** milliseconds from each return of a service to the first answer */
  recoveredMs?: number[];
}

export interface Fault {
  name: string;
  promise: string;
  /** how often, at the full count */
  times: number;
  play(stage: Stage): Promise<Played>;
}

/** Where a fault is played: clusters and loads of its own, which are examined and taken down afterwards. */
export class Stage {
  readonly canaries = new Canaries();
  readonly random: Random;
  readonly directory = mkdtempSync(join(tmpdir(), 'lanyard-fault-'));
  private readonly clusters: Cluster[] = [];
  private readonly loads: { load: Load; cluster: Cluster }[] = [];
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
    const cluster = await Cluster.start(join(this.directory, `cluster-${this.clusters.length}`), options);
    this.clusters.push(cluster);
    return cluster;
  }

  /** Clients of three organizations, at work. */
  async load(cluster: Cluster, options: LoadOptions): Promise<Load> {
    const tenants = await cluster.tenants(3);
    for (const { key } of tenants) this.canaries.watch(key);
    const load = new Load(cluster.apis, tenants, this.canaries, this.random, options);
    this.loads.push({ load, cluster });
    await load.start();
    return load;
  }

  /** Undone before the clusters are stopped. */
  defer(undo: () => unknown): void {
    this.deferred.push(undo);
  }

  get answers(): Tally[] {
    return this.loads.map(({ load }) => load.answers);
  }

  get acknowledged(): number {
    return this.loads.reduce((sum, { load }) => sum + load.acknowledged, 0);
  }

  /** Stops the loads, and reads back what they wrote. */
  async damage(): Promise<Damage[]> {
    await Promise.all(this.loads.map(({ load }) => load.stop()));
    const found: Damage[] = [];
    for (const { load, cluster } of this.loads) found.push(await check(cluster, load));
    return found;
  }

  /** Lines of any log that hold a canary. The search is first tried on the data itself, where they are. */
  async leaks(): Promise<string[]> {
    const found = this.clusters.flatMap(({ logs }) => this.canaries.foundInFiles(logs));
    for (const { cluster } of this.loads) {
      const rows = await cluster.postgres.query<{ row: string }>('select l::text as row from leads l limit 10');
      if (this.canaries.foundIn(rows.map(({ row }) => row).join('\n')).length === 0) found.push('the search is blind');
    }
    return found;
  }

  async end(): Promise<void> {
    for (const { load } of this.loads) await load.stop();
    for (const undo of this.deferred.reverse()) await undo();
    await Promise.all(this.clusters.map((cluster) => cluster.stop()));
    if (this.keep) process.stdout.write(`    logs: ${this.directory}\n`);
    else rmSync(this.directory, { recursive: true, force: true, maxRetries: 3 });
  }
}
