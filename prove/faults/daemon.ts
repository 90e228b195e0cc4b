import { type ChildProcess, spawn, type SpawnOptions } from 'node:child_process';
import { closeSync, openSync, readdirSync, readFileSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';

/** A child process whose output goes to a file, and that a fault may treat badly and start again. */
export class Daemon {
  private child: ChildProcess | undefined;
  /** Exit status of the last run; null when a signal ended it. */
  exited: Promise<number | null> = Promise.resolve(null);

  /** @param logFile output of every run, one after another */
  constructor(readonly logFile: string) {}

  get pid(): number {
    if (!this.isRunning || this.child?.pid === undefined) throw new Error(`${this.logFile}: nothing runs`);
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

  /** SIGKILL, and waits until the process is gone. */
  async kill(): Promise<void> {
    this.signal('SIGKILL');
    await this.exited;
  }

  /** SIGTERM, and SIGKILL ten seconds later. */
  async stop(): Promise<void> {
    this.signal('SIGCONT');
    this.signal('SIGTERM');
    const late = setTimeout(() => this.signal('SIGKILL'), 10_000);
    await this.exited;
    clearTimeout(late);
  }
}

/** A process and its descendants, the process itself first. */
export function familyOf(pid: number): number[] {
  const children = new Map<number, number[]>();
  for (const name of readdirSync('/proc').filter((each) => /^\d+$/.test(each))) {
    const parent = parentOf(name);
    if (parent !== undefined) children.set(parent, [...(children.get(parent) ?? []), Number(name)]);
  }
  const below = (each: number): number[] => [each, ...(children.get(each) ?? []).flatMap(below)];
  return below(pid);
}

function parentOf(pid: string): number | undefined {
  try {
    // The name in parentheses may hold anything; the parent is the second word behind it.
    return Number(
      readFileSync(`/proc/${pid}/stat`, 'utf8')
        .replace(/^.*\) /s, '')
        .split(' ')[1],
    );
  } catch {
    return undefined; // gone meanwhile
  }
}

/** Resident memory of a process in megabytes. */
export function memoryOf(pid: number): number {
  const kilobytes = /VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1];
  return Number(kilobytes ?? 0) / 1024;
}

/**
 * Asks until the answer is true.
 * @returns milliseconds that it took
 * @throws Error when it took longer than `patience` milliseconds
 */
export async function until(what: string, asked: () => Promise<boolean> | boolean, patience = 30_000): Promise<number> {
  const started = performance.now();
  while (!(await asked())) {
    if (performance.now() - started > patience) throw new Error(`not within ${patience} ms: ${what}`);
    await pause(20);
  }
  return performance.now() - started;
}
