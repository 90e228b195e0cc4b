import { execFileSync } from 'node:child_process';
import { readFileSync, readlinkSync, statSync, unlinkSync } from 'node:fs';
import { join } from 'node:path';
import { codeOf } from './embedded-postgres-error';

/** What PostgreSQL's first process tells about itself in postmaster.pid. */
export interface Postmaster {
  readonly pid: number;
  /** TCP port; undefined as long as it does not listen yet. */
  readonly port: number | undefined;
  /** starting, ready or stopping; undefined when it has not said yet. */
  readonly status: string | undefined;
}

/** Milliseconds after which a lock without content is left over: its holder died between making and filling it. */
export const EMPTY_FOR_TOO_LONG = 2000;

/** What postmaster.pid says, true or left over; undefined when there is none. */
export function readPostmaster(cluster: string): Postmaster | undefined {
  const lines = content(join(cluster, 'postmaster.pid'))?.split('\n') ?? [];
  const pid = Number(lines[0]);
  if (!Number.isInteger(pid) || pid <= 0) return undefined;
  return { pid, port: Number(lines[3]) || undefined, status: lines[7]?.trim() || undefined };
}

/** Whether process `pid` exists and is the postmaster of `cluster`, and not another that got the same number. */
export function isPostmaster(pid: number, cluster: string): boolean {
  try {
    process.kill(pid, 0);
    if (process.platform === 'linux') return runsOnLinux(pid, cluster);
    if (process.platform === 'win32') return commandOutput('tasklist', '/FI', `PID eq ${pid}`).includes('postgres');
    return commandOutput('ps', '-o', 'command=', '-p', String(pid)).includes(cluster);
  } catch {
    return false; // no such process, or another user's
  }
}

function commandOutput(program: string, ...parameters: string[]): string {
  return execFileSync(program, parameters, { encoding: 'utf8', windowsHide: true });
}

/** A process that ended and that nobody waits for (in a container) has no command line, so it does not count. */
function runsOnLinux(pid: number, cluster: string): boolean {
  if (readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0').includes(cluster)) return true;
  return readlinkSync(`/proc/${pid}/cwd`) === cluster;
}

/**
 * Removes a postmaster.pid that is empty or unreadable: PostgreSQL wrote its own at once, or died between making and
 * filling it, and then refuses to start until somebody removes it. Any other left-over it handles itself.
 */
export function removeEmptyLock(cluster: string): void {
  const path = join(cluster, 'postmaster.pid');
  const found = content(path);
  if (found === undefined || Number(found.split('\n')[0]) > 0) return;
  if (Date.now() - statSync(path).mtimeMs > EMPTY_FOR_TOO_LONG) unlinkSync(path);
}

/** @returns undefined when there is no such file */
export function content(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return undefined;
    throw error;
  }
}
