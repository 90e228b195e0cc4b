import { ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { setFlagsFromString } from 'node:v8';
import type { Extension } from '../../src/extensions/extension';
import { operatorProgram } from '../../src/operator/commands';
import { reportOf } from '../../src/operator/run';
import { printStatus } from '../../src/operator/terminal/terminal';
import { serve } from '../../src/start/serve';
import type { TestDatabase } from '../../src/testing/test-database';
import { createTestDatabase } from './database';
import { InProcess, startInProcess } from './lanyard';
import { typescript } from './program';
import { withoutStorages } from './jest/storages';

/** What a command left behind. */
export interface Outcome {
  status: number | null;
  stdout: string;
  stderr: string;
}

/** The operator's command line on one database. */
export class Operator {
  /** The end of the last command within this process: they share its streams. */
  private static last: Promise<unknown> = Promise.resolve();

  /** @param extension what the program adds to Lanyard; only commands within this process have it */
  constructor(
    private readonly environment: NodeJS.ProcessEnv,
    private readonly extension: Extension = {},
  ) {}

  /**
   * Runs a command within this process: a process of its own takes a second.
   * @param input what the command finds on standard input
   */
  run(args: string[], input = ''): Promise<Outcome> {
    return this.runNext(async () => {
      const program = await operatorProgram(this.extension);
      await program.parseAsync(args, { from: 'user' });
    }, input);
  }

  /**
   * Runs a command at a terminal, within this process.
   * @param answer called when the command asks something
   */
  runAtTerminal(args: string[], columns: number, answer: () => string): Promise<Outcome> {
    const work = async () => {
      const program = await operatorProgram(this.extension);
      await program.parseAsync(args, { from: 'user' });
    };
    return this.runNext(work, { columns, answer });
  }

  /**
   * Runs the server within this process until it ends, as it does when its start is rejected: a process of its own takes
   * two seconds.
   */
  serve(): Promise<Outcome> {
    const work = () => serve(this.extension).finally(() => setFlagsFromString('--allocation-site-pretenuring'));
    return this.runNext(work);
  }

  private runNext(work: () => Promise<void>, input: string | Person = ''): Promise<Outcome> {
    const run = () => runHere(work, input, Operator.environment(this.environment));
    const outcome = Operator.last.then(() => withoutStorages(run));
    Operator.last = outcome.catch(() => undefined);
    return outcome;
  }

  /** Runs a command in a process of its own. */
  async spawn(args: string[], input = ''): Promise<Outcome> {
    const child = this.start(args);
    child.stdin?.on('error', () => undefined); // a command that is refused does not read it
    child.stdin?.end(input);
    return waitForOutcome(child);
  }

  /** The result of a command that succeeds: one JSON value, and nothing else on either stream. */
  async json<T>(args: string[], input = ''): Promise<T> {
    const { status, stdout, stderr } = await this.run([...args, '--json'], input);
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
    return JSON.parse(stdout) as T;
  }

  start(args: string[]): ChildProcess {
    const [node = '', ...rest] = Operator.command(args);
    return spawn(node, rest, { env: Operator.environment(this.environment), stdio: 'pipe' });
  }

  /**
   * The environment of a command: this process's, without the database and without all that speaks for or against
   * colours, so that a test meets the same ones in a terminal, under jest (FORCE_COLOR) and in CI.
   */
  static environment(settings: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
    const inherited = { ...process.env };
    for (const name of ['DATABASE_URL', 'FORCE_COLOR', 'NO_COLOR', 'NODE_DISABLE_COLORS', 'CLICOLOR_FORCE', 'CI']) {
      delete inherited[name];
    }
    for (const name of Object.keys(inherited)) if (name.startsWith('LANYARD_TEST')) delete inherited[name];
    return { ...inherited, ...settings };
  }

  /** The program and its arguments. */
  static command(args: string[]): string[] {
    return [process.execPath, ...typescript('src/main.ts'), ...args];
  }
}

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

/** Thrown where work would end the process. */
class ProcessExit extends Error {
  constructor(readonly status: number) {
    super();
  }
}

/** Who sits at a terminal. */
interface Person {
  /** How wide the terminal is. */
  columns: number;
  answer: () => string;
}

const standardInput = (input: string | Person): Readable =>
  typeof input === 'string'
    ? Readable.from(partsOf(Buffer.from(input)))
    : Object.assign(Readable.from(answersOf(input)), { isTTY: true });

/** A terminal has a line when somebody has written it. */
function* answersOf({ answer }: Person): Generator<string> {
  yield `${answer()}\n`;
}

async function runHere(
  work: () => Promise<void>,
  input: string | Person,
  environment: NodeJS.ProcessEnv,
): Promise<Outcome> {
  const outcome: Outcome = { status: 0, stdout: '', stderr: '' };
  const listeners = SIGNALS.map((signal) => [signal, process.listeners(signal)] as const);
  const restored = [
    replace(process, 'env', environment),
    replace(process, 'stdin', standardInput(input)),
    replace(process, 'exit', (status: number) => {
      throw new ProcessExit(status);
    }),
    ...(['stdout', 'stderr'] as const).flatMap((name) => [
      replace(process[name], 'isTTY', name === 'stdout' && typeof input !== 'string'),
      replace(process[name], 'columns', typeof input === 'string' ? undefined : input.columns),
      replace(process[name], 'write', (text: string, done?: () => void) => {
        outcome[name] += text;
        done?.();
        return true;
      }),
    ]),
  ];
  try {
    await work();
  } catch (error) {
    const { message, status } = error instanceof ProcessExit ? error : reportOf(error);
    if (message) printStatus(message);
    outcome.status = status;
  } finally {
    for (const restore of restored.reverse()) restore();
    for (const [signal, before] of listeners) {
      const added = process.listeners(signal).filter((listener) => !before.includes(listener));
      for (const listener of added) process.removeListener(signal, listener);
    }
  }
  return outcome;
}

/** A pipe hands out 64 KiB at a time. */
function* partsOf(input: Buffer): Generator<Buffer> {
  for (let start = 0; start < input.length; start += 65_536) yield input.subarray(start, start + 65_536);
}

/** @returns what puts the former value back */
function replace(of: object, name: string, value: unknown): () => void {
  const before = Object.getOwnPropertyDescriptor(of, name);
  Object.defineProperty(of, name, { value, configurable: true, writable: true });
  return () => {
    if (before) Object.defineProperty(of, name, before);
    else Reflect.deleteProperty(of, name);
  };
}

export async function waitForOutcome(child: ChildProcess): Promise<Outcome> {
  const [stdout, stderr, [status]] = await Promise.all([
    child.stdout ? text(child.stdout) : '',
    child.stderr ? text(child.stderr) : '',
    once(child, 'close') as Promise<[number | null]>,
  ]);
  return { status, stdout, stderr };
}

/** An installation: a database, a server on it, and the operator's command line. */
export interface Installation {
  database: TestDatabase;
  operator: Operator;
  server: InProcess;
}

export async function install(): Promise<Installation> {
  const database = await createTestDatabase();
  const operator = new Operator({ DATABASE_URL: database.url });
  return { database, operator, server: await startInProcess({ databaseUrl: database.url }) };
}
