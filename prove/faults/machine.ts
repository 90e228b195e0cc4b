import { execFileSync } from 'node:child_process';
import { closeSync, existsSync, mkdtempSync, openSync, readdirSync, rmSync, writeFileSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { until } from './daemon';
import { ask } from './http';
import { untilWritten } from './killed';
import type { Fault, Played, Stage } from './stage';

export const postgresRestarted: Fault = {
  name: 'postgres-restart',
  times: 10,
  async play(stage: Stage) {
    const cluster = await stage.cluster();
    const load = await stage.load(cluster, { workers: 16, think: 5 });
    const { postgres } = cluster;
    const recovered: number[] = [];
    for (let n = 0; n < stage.times; n++) {
      await pause(500);
      await postgres.fastShutdown();
      await postgres.start();
      recovered.push(await untilWritten(load));
      await pause(500);
      await postgres.query(`select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'lanyard'`);
      recovered.push(await untilWritten(load));
    }
    return { recovered, measured: `${stage.times} restarts, ${stage.times} times all connections cut`, broken: [] };
  },
};

export const apiStopped: Fault = {
  name: 'api-stopped',
  times: 5,
  async play(stage: Stage) {
    const cluster = await stage.cluster();
    const load = await stage.load(cluster, { workers: 16, think: 5 });
    const recovered: number[] = [];
    for (let n = 0; n < stage.times; n++) {
      const api = stage.random.pick(cluster.apis);
      api.signal('SIGSTOP');
      await pause(stage.random.integer(500, 5_000));
      api.signal('SIGCONT');
      recovered.push(await untilWritten(load));
    }
    return { recovered, measured: `${stage.times} processes stopped and continued`, broken: [] };
  },
};

/** Megabytes of a disk on which PostgreSQL has just room to begin. */
const DISK = 260;

export const diskFull: Fault = {
  name: 'disk-full',
  times: 2,
  async play(stage: Stage) {
    const disk = mkdtempSync(join(tmpdir(), 'lanyard-disk-'));
    stage.atEnd(() => rmSync(disk, { recursive: true, force: true }));
    try {
      execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${DISK}m,mode=755`, 'tmpfs', disk], { stdio: 'ignore' });
    } catch {
      return { measured: '', broken: [], skipped: 'a small disk cannot be mounted here' };
    }
    stage.atEnd(() => execFileSync('umount', ['-l', disk]));
    return fill(stage, disk);
  },
};

async function fill(stage: Stage, disk: string): Promise<Played> {
  const postgres = { min_wal_size: '32MB', max_wal_size: '32MB' };
  const cluster = await stage.cluster({ apis: 2, data: disk, postgres });
  const load = await stage.load(cluster, { workers: 16, think: 5 });
  const recovered: number[] = [];
  const broken: string[] = [];
  const ballast = join(disk, 'ballast');
  for (let n = 0; n < stage.times; n++) {
    const errors = load.serverErrors;
    await until('writes fail', () => {
      takeRest(ballast);
      return load.serverErrors > errors + 20;
    });
    await pause(2_000);
    rmSync(ballast);
    // Without room for its log PostgreSQL ends, and an operator starts it again.
    await cluster.postgres.start();
    recovered.push(await untilWritten(load));
    if (cluster.apis.some(({ isRunning }) => !isRunning)) broken.push('a process of the API ended');
  }
  return { recovered, measured: `${stage.times} times no byte left`, broken };
}

/** Lets a file grow until its disk has no byte left, as PostgreSQL may give some back meanwhile. */
function takeRest(file: string): void {
  const opened = openSync(file, 'a');
  const block = Buffer.alloc(2 ** 20);
  try {
    while (writeSync(opened, block) > 0);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error;
  } finally {
    closeSync(opened);
  }
}

/** Seconds by which clocks jump. */
const JUMPS = ['+3600', '-3600', '+0'];
const LIMITS = { maxTokens: 5, refillRate: 0.001 };

export const clockJumps: Fault = {
  name: 'clock-jumps',
  times: 2,
  async play(stage: Stage) {
    const library = faketime();
    if (!library) return { measured: '', broken: [], skipped: 'libfaketime is not installed' };
    const folder = mkdtempSync(join(tmpdir(), 'lanyard-clock-'));
    stage.defer(() => rmSync(folder, { recursive: true, force: true }));
    const clock = join(folder, 'offset');
    writeFileSync(clock, '+0');
    const cluster = await stage.cluster({
      settings: {
        ...{ LD_PRELOAD: library, FAKETIME_TIMESTAMP_FILE: clock, FAKETIME_CACHE_DURATION: '1' },
        FAKETIME_DONT_FAKE_MONOTONIC: '1',
      },
    });
    const load = await stage.load(cluster, { workers: 8, think: 10 });
    const { key } = await cluster.tenant(LIMITS);
    let admitted = 0;
    const askAll = async (): Promise<void> => {
      for (const { port } of cluster.apis) {
        for (let n = 0; n < 4; n++) {
          const { status } = await ask(port, { method: 'GET', path: '/api/v0/tagGroups', key });
          admitted += status === 200 ? 1 : 0;
        }
      }
    };
    await askAll();
    for (let n = 0; n < stage.times; n++) {
      for (const jump of JUMPS) {
        writeFileSync(clock, jump);
        await pause(2_500);
        await askAll();
      }
    }
    const broken = load.serverErrors > 0 ? [`${load.serverErrors} answers of 5xx`] : [];
    // The bucket goes by Redis's clock: nobody gains or loses a token by another one's.
    if (admitted !== LIMITS.maxTokens) broken.push(`${admitted} requests admitted in place of ${LIMITS.maxTokens}`);
    return { measured: `${JUMPS.length * stage.times} jumps of an hour, ${admitted} of 5 tokens given`, broken };
  },
};

function faketime(): string | undefined {
  const folders = ['/usr/lib', '/usr/lib64'].filter((folder) => existsSync(folder));
  const inner = folders.flatMap((folder) => readdirSync(folder).map((name) => join(folder, name, 'faketime')));
  return [...folders.map((folder) => join(folder, 'faketime')), ...inner]
    .map((folder) => join(folder, 'libfaketimeMT.so.1'))
    .find((file) => existsSync(file));
}
