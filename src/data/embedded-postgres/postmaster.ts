import { spawnSync } from 'node:child_process';
import { readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';

/** The setting of a running PostgreSQL that names the process that owns it. */
export const OWNER_SETTING = 'lanyard.owner';

/** The PostgreSQL that runs on the cluster; undefined if none does, even if a killed one left its postmaster.pid. */
export function runningPostmaster(cluster: string) {
  const lines = readIfExists(join(cluster, 'postmaster.pid')).split('\n');
  const pid = Number(lines[0]);
  if (!(pid > 0) || !isPostmaster(pid, cluster)) return undefined;
  // It is not ready while it recovers, starts or stops. Until it is, its postmaster.opts may be from the previous start.
  const isReady = lines[7]?.trim() === 'ready';
  const owner = isReady ? lastSetting(cluster, OWNER_SETTING) : undefined;
  // If its owner was killed, nobody will end it.
  const isOrphan = owner !== undefined && !isAlive(owner);
  return { pid, port: Number(lines[3]), isReady, isOrphan };
}

/** Returns a number among the parameters of the last start of PostgreSQL. */
export function lastSetting(cluster: string, name: string): number | undefined {
  const options = readIfExists(join(cluster, 'postmaster.opts'));
  return Number(new RegExp(`"--${name}=(\\d+)"`).exec(options)?.[1]) || undefined;
}

/**
 * Removes what a killed PostgreSQL left behind if PostgreSQL itself cannot detect it: the file is empty or, as is usual when
 * a container restarts, another process has its ID. Two servers never share the data even then, because they also check the
 * shared memory.
 */
export function removeStaleLock(cluster: string): void {
  if (!runningPostmaster(cluster)) rmSync(join(cluster, 'postmaster.pid'), { force: true });
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM'; // it belongs to another user
  }
}

/** Whether the process is this cluster's PostgreSQL, not another one that was assigned its ID. */
function isPostmaster(pid: number, cluster: string): boolean {
  if (!isAlive(pid)) return false;
  if (process.platform === 'win32') return true;
  // A process that has ended but was not waited for has no command line.
  if (process.platform === 'linux') return readIfExists(`/proc/${pid}/cmdline`).split('\0').includes(cluster);
  return String(spawnSync('ps', ['-o', 'command=', '-p', String(pid)]).stdout).includes(cluster);
}

function readIfExists(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return ''; // the file does not exist
  }
}
