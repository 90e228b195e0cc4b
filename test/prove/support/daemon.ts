import { type ChildProcess, spawn, type SpawnOptions, spawnSync } from 'node:child_process';
import { closeSync, openSync, readFileSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';

const STOP_TIMEOUT_MS = 10_000;

/** A child process whose output goes to a file, and that a fault may treat badly and start again. */
export class Daemon {
  private child: ChildProcess | undefined;
  /** exit status of the last run; null when a signal ended it */
  exited: Promise<number | null> = Promise.resolve(null);

  /** @param logFile output of every run, one after another */
  constructor(readonly logFile: string) {}

  get pid(): number {
    if (!this.isRunning || this.child?.pid === undefined) throw new Error(`nothing runs: see ${this.logFile}`);
    return this.child.pid;
  }

  get isRunning(): boolean {
    return this.child !== undefined && this.child.exitCode === null && this.child.signalCode === null;
  }

  run(command: string, parameters: string[], options: SpawnOptions): void {
    const log = openSync(this.logFile, 'a');
    const child = spawn(command, parameters, { ...options, stdio: ['ignore', log, log] });
    closeSync(log);
    this.child = child;
    this.exited = new Promise((resolve) => {
      child.once('exit', (status) => resolve(status));
      child.once('error', () => resolve(null));
    });
  }

  signal(name: NodeJS.Signals): void {
    if (this.isRunning) this.child?.kill(name);
  }

  /** SIGKILL to the process and its children, as on a machine that loses power. Returns when all are gone. */
  async kill(): Promise<void> {
    const family = this.isRunning ? familyOf(this.pid) : [];
    for (const pid of family) send(pid, 'SIGKILL');
    await this.exited;
    await until('all processes are gone', () => family.every((pid) => !send(pid, 0)));
  }

  /** SIGTERM, and SIGKILL when that does not end it. */
  async stop(): Promise<void> {
    this.signal('SIGCONT');
    this.signal('SIGTERM');
    const timer = setTimeout(() => this.signal('SIGKILL'), STOP_TIMEOUT_MS);
    await this.exited;
    clearTimeout(timer);
  }
}

export const succeeds = (work: Promise<unknown>): Promise<boolean> => work.then(() => true).catch(() => false);

/** Sends a signal. @returns false when the process is gone */
export function send(pid: number, signal: NodeJS.Signals | 0): boolean {
  try {
    return process.kill(pid, signal);
  } catch {
    return false;
  }
}

/** A process and its children. */
export function familyOf(pid: number): number[] {
  const { stdout } = spawnSync('ps', ['-o', 'pid=', '--ppid', String(pid)], { encoding: 'utf8' });
  return [pid, ...(stdout ?? '').trim().split(/\s+/).filter(Boolean).map(Number)];
}

/** Resident memory of a process in MiB; 0 when it has ended. */
export function memoryOf(pid: number): number {
  try {
    const kibibytes = /VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1];
    return Number(kibibytes ?? 0) / 1024;
  } catch {
    return 0;
  }
}

/**
 * Polls until the condition holds.
 * @returns milliseconds that it took
 * @throws Error that names the condition when it took too long
 */
export async function until(
  what: string,
  holds: () => Promise<boolean> | boolean,
  timeoutMs = 60_000,
): Promise<number> {
  const started = performance.now();
  while (!(await holds())) {
    if (performance.now() - started > timeoutMs) throw new Error(`not within ${timeoutMs} ms: ${what}`);
    await pause(20);
  }
  return performance.now() - started;
}
