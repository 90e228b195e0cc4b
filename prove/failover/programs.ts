import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createWriteStream } from 'node:fs';
import { createInterface } from 'node:readline';
import { setTimeout as pause } from 'node:timers/promises';
import { promisify } from 'node:util';

/** Has something undone at the end, also after an error or Ctrl-C. */
export type Defer = (undo: () => Promise<unknown>) => void;

interface Start {
  command: string;
  args: readonly string[];
  /** what the program prints when it is ready */
  sign: RegExp;
  /** where its output goes */
  log: string;
  env?: NodeJS.ProcessEnv;
  /** the account that runs it, and from where */
  as?: { cwd?: string; uid?: number; gid?: number };
}

/** A program that runs, from the moment when it said that it is ready. */
export class Program {
  private constructor(
    readonly child: ChildProcess,
    /** what the sign matched */
    readonly match: RegExpExecArray,
  ) {}

  static async start({ command, args, sign, log, env, as }: Start): Promise<Program> {
    const child = spawn(command, args, { env, stdio: ['ignore', 'pipe', 'pipe'], ...as });
    const file = createWriteStream(log, { flags: 'a' });
    child.stderr.pipe(file, { end: false });
    child.stdout.pipe(file, { end: false });
    const match = await new Promise<RegExpExecArray | undefined>((found) => {
      const look = (line: string): void => {
        const result = sign.exec(line);
        if (result) found(result);
      };
      createInterface(child.stdout).on('line', look);
      createInterface(child.stderr).on('line', look);
      child.once('close', () => found(undefined));
    });
    if (match) return new Program(child, match);
    throw new Error(`${command} ended before it was ready: see ${log}`);
  }

  /** Ends it, and with SIGKILL its children too, as a machine that loses power would. */
  async end(signal: NodeJS.Signals): Promise<void> {
    const { child } = this;
    if (child.exitCode !== null || child.signalCode !== null) return;
    const ended = once(child, 'exit');
    const children = signal === 'SIGKILL' ? await childrenOf(child.pid ?? 0) : [];
    child.kill(signal);
    for (const pid of children) tryToKill(pid);
    await ended;
  }
}

async function childrenOf(pid: number): Promise<number[]> {
  const { stdout } = await promisify(execFile)('ps', ['-o', 'pid=', '--ppid', String(pid)]).catch(() => ({
    stdout: '', // there are none
  }));
  return stdout.split('\n').map(Number).filter(Boolean);
}

function tryToKill(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // It was faster.
  }
}

/** Polls until the condition holds. @throws Error that names it when that takes more than a minute */
export async function until(what: string, condition: () => Promise<boolean>): Promise<void> {
  const deadline = Date.now() + 60_000;
  while (!(await condition().catch(() => false))) {
    if (Date.now() > deadline) throw new Error(`a minute has passed, and not: ${what}`);
    await pause(20);
  }
}
