import { chmodSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { PROMISES } from '../results';
import { Canaries } from './canaries';
import { Cluster, type ClusterOptions } from './cluster';
import { check, type Checked } from './invariants';
import { Load, type LoadOptions } from './load';
import { Random } from './random';

/** What a fault says about itself afterwards; what the loads found is added to it. */
export interface Played {
  /** answers that no load counted, by status or by the network's error */
  answers?: Map<string, number>;
  /** milliseconds from each return of what was away to the first answer */
  recovered?: number[];
  /** the figures that the promise is about */
  measured: string;
  /** what must not be; none when the fault did no harm */
  broken: string[];
  /** why the fault could not be played here */
  skipped?: string;
}

/** One way in which things go wrong. */
export interface Fault {
  name: string;
  promise?: keyof typeof PROMISES;
  /** how often, at the full count */
  times: number;
  play(stage: Stage): Promise<Played>;
}

/** Where a fault is played: clusters and loads of its own, which are looked at and taken down afterwards. */
export class Stage {
  readonly canaries = new Canaries();
  readonly random: Random;
  private readonly directory: string;
  private readonly clusters: Cluster[] = [];
  private readonly loads: { load: Load; cluster: Cluster }[] = [];
  private readonly deferred: (() => unknown)[] = [];
  private readonly last: (() => unknown)[] = [];

  constructor(
    readonly times: number,
    seed: number,
    /** whether the logs are left where they are */
    private readonly keep = false,
  ) {
    this.random = new Random(seed);
    this.directory = mkdtempSync(join(tmpdir(), 'lanyard-fault-'));
    // Root's PostgreSQL runs as somebody else, who must be able to pass.
    chmodSync(this.directory, 0o755);
  }

  async cluster(options: ClusterOptions = {}): Promise<Cluster> {
    const directory = join(this.directory, `cluster-${this.clusters.length}`);
    const cluster = await Cluster.start(directory, options);
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

  /** Undone in reverse order, before the clusters are stopped. */
  defer(undo: () => unknown): void {
    this.deferred.push(undo);
  }

  /** Undone in reverse order, when nothing runs any more. */
  atEnd(undo: () => unknown): void {
    this.last.push(undo);
  }

  get answers(): Map<string, number>[] {
    return this.loads.map(({ load }) => load.answers);
  }

  /** Stops the loads, and reads back what they wrote. */
  async checks(): Promise<Checked[]> {
    await Promise.all(this.loads.map(({ load }) => load.stop()));
    const checked: Checked[] = [];
    for (const { load, cluster } of this.loads) checked.push(await check(cluster, load));
    return checked;
  }

  /** Lines of any log in which a canary stands; the search is tried on the data itself, where they are. */
  async leaks(): Promise<string[]> {
    const found: string[] = [];
    for (const cluster of this.clusters) found.push(...this.canaries.foundInFiles(cluster.logs));
    for (const { cluster } of this.loads) {
      const rows = await cluster.postgres.query<{ row: string }>('select l::text as row from leads l limit 10');
      if (this.canaries.foundIn(rows.map(({ row }) => row).join('\n')).length === 0) found.push('the search is blind');
    }
    return found;
  }

  /** What a process of the API said before it ended, when none should have. */
  lastWords(): string[] {
    const ended = this.clusters.flatMap(({ apis }) => apis.filter(({ isRunning }) => !isRunning));
    return ended.flatMap(({ logFile }) => readFileSync(logFile, 'utf8').trimEnd().split('\n').slice(-30));
  }

  async end(): Promise<void> {
    for (const { load } of this.loads) await load.stop().catch(() => undefined);
    for (const undo of this.deferred.reverse()) await undo();
    await Promise.all(this.clusters.map((cluster) => cluster.stop()));
    for (const undo of this.last.reverse()) await undo();
    if (this.keep) process.stdout.write(`    logs: ${this.directory}\n`);
    else rmSync(this.directory, { recursive: true, force: true, maxRetries: 3 });
  }
}
