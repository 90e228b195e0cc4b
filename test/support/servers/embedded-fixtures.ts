import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  type EmbeddedPostgres,
  type EmbeddedPostgresOptions,
  startEmbeddedPostgres,
} from '../../../src/data/embedded-postgres/embedded-postgres';
import { runningPostmaster } from '../../../src/data/embedded-postgres/postmaster';
import { waitForOutput, typescript } from '../program';
import { waitUntil } from '../wait';

/** What one test makes: directories, servers and processes, all gone after clean(). */
export class EmbeddedFixtures {
  private readonly folders: string[] = [];
  private readonly clusters: string[] = [];
  private readonly running: EmbeddedPostgres[] = [];
  private readonly processes: ChildProcess[] = [];
  /** What the servers of this process said. */
  readonly said: string[] = [];

  /** A directory that only its owner may enter. */
  folder(): string {
    const folder = realpathSync(mkdtempSync(join(tmpdir(), 'lanyard-embedded-')));
    this.folders.push(folder);
    return folder;
  }

  /** A data directory that is not there yet, on the way to which nothing is closed (for root's PostgreSQL). */
  dataDir(): string {
    const folder = this.folder();
    chmodSync(folder, 0o755);
    const dataDir = join(folder, 'data');
    this.clusters.push(join(dataDir, 'postgresql'));
    return dataDir;
  }

  async start(options: Partial<EmbeddedPostgresOptions> & { dataDir: string }): Promise<EmbeddedPostgres> {
    const log = (line: string) => void this.said.push(line);
    const postgres = await startEmbeddedPostgres({ log, ...options });
    this.running.push(postgres);
    return postgres;
  }

  /** Another Node process on the same data directory, from the moment when it uses PostgreSQL. */
  async member(dataDir: string, settings: Partial<EmbeddedPostgresOptions> = {}): Promise<Member> {
    const script = typescript('test/support/servers/embedded-member-process.ts');
    const options = JSON.stringify({ dataDir, ...settings });
    const child = spawn(process.execPath, [...script, options], { stdio: ['pipe', 'pipe', 'inherit'] });
    this.processes.push(child);
    const ended = once(child, 'exit');
    return {
      pid: child.pid as number,
      url: (await waitForOutput(child, '\n')).trim(),
      async stop() {
        child.stdin.write('stop\n');
        await ended;
      },
      async kill() {
        child.kill('SIGKILL');
        await ended;
      },
    };
  }

  /** Stops what start() started. */
  async stop(): Promise<void> {
    await Promise.all(this.running.splice(0).map((postgres) => postgres.stop()));
  }

  async clean(): Promise<void> {
    for (const child of this.processes) child.kill('SIGKILL');
    await this.stop();
    for (const cluster of this.clusters) await killPostmaster(cluster);
    for (const folder of this.folders) rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
  }
}

export interface Member {
  readonly pid: number;
  readonly url: string;
  stop(): Promise<void>;
  kill(): Promise<void>;
}

/** kill -9; returns when the process is gone. */
export async function killPostmaster(cluster: string): Promise<void> {
  const pid = postmasterOf(cluster);
  if (!pid) return;
  process.kill(pid, 'SIGKILL');
  await waitUntil(() => postmasterOf(cluster) !== pid);
}

/** Process id of the PostgreSQL that runs on the cluster; undefined when none does. */
export function postmasterOf(cluster: string): number | undefined {
  return runningPostmaster(cluster)?.pid;
}
