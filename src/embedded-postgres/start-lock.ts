import { execFileSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { existsSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { codeOf } from './embedded-postgres-error';
import { content, EMPTY_FOR_TOO_LONG } from './postmaster';

/**
 * Lets one process at a time start PostgreSQL on a data directory: two that find the same left-over postmaster.pid
 * could each remove the other's new one. The lock is a file that names its holder, so it ends with the holder, also by
 * kill -9; should two ever hold it, PostgreSQL still refuses to run twice on the same data.
 *
 * @returns what releases the lock; undefined when another process holds it.
 */
export function tryStartLock(dataDir: string): (() => void) | undefined {
  const path = join(dataDir, 'start.lock');
  removeLeftOver(path);
  try {
    writeFileSync(path, identify(process.pid) ?? '', { flag: 'wx', mode: 0o644 });
    return () => rmSync(path, { force: true });
  } catch (error) {
    if (codeOf(error) === 'EEXIST') return undefined;
    throw error;
  }
}

function removeLeftOver(path: string): void {
  const holder = content(path);
  if (holder === undefined || isHeld(path, holder)) return;
  // Another process may have done the same and taken the lock meanwhile: look at what was moved away.
  const aside = `${path}.${randomUUID()}`;
  try {
    renameSync(path, aside);
  } catch {
    return; // it was faster
  }
  if (content(aside) !== holder && !existsSync(path)) renameSync(aside, path);
  else rmSync(aside, { force: true });
}

function isHeld(path: string, holder: string): boolean {
  if (holder === '') return existsSync(path) && Date.now() - statSync(path).mtimeMs < EMPTY_FOR_TOO_LONG;
  return identify(Number.parseInt(holder, 10)) === holder;
}

/** Process id and start time, because ids are used again; undefined when there is no such process. */
function identify(pid: number): string | undefined {
  try {
    return `${pid} ${startTime(pid)}`;
  } catch {
    return undefined;
  }
}

function startTime(pid: number): string {
  if (process.platform === 'win32') return process.kill(pid, 0) ? 'running' : '';
  if (process.platform !== 'linux')
    return execFileSync('ps', ['-o', 'lstart=', '-p', String(pid)], { encoding: 'utf8' });
  // Fields from the third on; the second is the name of the program in parentheses, which may hold anything.
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8')
    .replace(/^.*\) /s, '')
    .split(' ');
  if (fields[0] === 'Z') throw new Error(`Process ${pid} has ended`);
  // In clock ticks since the machine started.
  return `${fields[19]} ${readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim()}`;
}
