import { spawnSync } from 'node:child_process';
import { readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';

/** The setting by which a running PostgreSQL tells which process owns it. */
export const OWNER_SETTING = 'lanyard.owner';

/** The PostgreSQL that runs on the cluster; undefined when none does, even if a killed one left its postmaster.pid. */
export function runningPostmaster(cluster: string) {
  const lines = readIfExists(join(cluster, 'postmaster.pid')).split('\n');
  const pid = Number(lines[0]);
  if (!(pid > 0) || !isPostmaster(pid, cluster)) return undefined;
  // Not while it recovers, starts or stops; before, its postmaster.opts may be the last one's.
  const isReady = lines[7]?.trim() === 'ready';
  const owner = isReady ? lastSetting(cluster, OWNER_SETTING) : undefined;
  // Its owner was killed, and will not end it.
  const isOrphan = owner !== undefined && !isAlive(owner);
  return { pid, port: Number(lines[3]), isReady, isOrphan };
}

/** A number among the parameters with which PostgreSQL was started last. */
export function lastSetting(cluster: string, name: string): number | undefined {
  const options = readIfExists(join(cluster, 'postmaster.opts'));
  return Number(new RegExp(`"--${name}=(\\d+)"`).exec(options)?.[1]) || undefined;
}

/**
 * Removes what a killed PostgreSQL left when PostgreSQL itself cannot know: the file is empty or, as is usual when a container
 * starts again, another process has its id. Two servers never share the data even so: they also look at the shared memory.
 */
export function removeStaleLock(cluster: string): void {
  if (!runningPostmaster(cluster)) rmSync(join(cluster, 'postmaster.pid'), { force: true });
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM'; // it is another user's
  }
}

/** Whether the process is this cluster's PostgreSQL, not another one that got its id. */
function isPostmaster(pid: number, cluster: string): boolean {
  if (!isAlive(pid)) return false;
  if (process.platform === 'win32') return true;
  // A process that ended and was not waited for has no command line.
  if (process.platform === 'linux') return readIfExists(`/proc/${pid}/cmdline`).split('\0').includes(cluster);
  return String(spawnSync('ps', ['-o', 'command=', '-p', String(pid)]).stdout).includes(cluster);
}

function readIfExists(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return ''; // there is none
  }
}
