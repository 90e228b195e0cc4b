import { ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync } from 'node:fs';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { TestDatabase, testDatabase } from './database';
import { InProcess, startInProcess } from './lanyard';

/** What a command left behind. */
export interface Outcome {
  status: number | null;
  stdout: string;
  stderr: string;
}

/** The operator's command line, each command in a process of its own, on one database. */
export class Operator {
  constructor(private readonly environment: NodeJS.ProcessEnv) {}

  /** @param input what the command finds on standard input */
  async run(args: string[], input = '', stdout: 'pipe' | number = 'pipe'): Promise<Outcome> {
    const child = this.start(args, stdout);
    child.stdin?.on('error', () => undefined); // a command that is refused does not read it
    child.stdin?.end(input);
    return outcomeOf(child);
  }

  /** The same with a full disk behind standard output. */
  async runOntoFullDisk(args: string[], input = ''): Promise<Outcome> {
    const full = openSync('/dev/full', 'w');
    try {
      return await this.run(args, input, full);
    } finally {
      closeSync(full);
    }
  }

  /** The result of a command that succeeds: one JSON value, and nothing else on either stream. */
  async json<T>(args: string[], input = ''): Promise<T> {
    const { status, stdout, stderr } = await this.run([...args, '--json'], input);
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
    return JSON.parse(stdout) as T;
  }

  start(args: string[], stdout: 'pipe' | number = 'pipe'): ChildProcess {
    const [node = '', ...rest] = Operator.command(args);
    return spawn(node, rest, { env: Operator.environment(this.environment), stdio: ['pipe', stdout, 'pipe'] });
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
    return { ...inherited, ...settings };
  }

  /** The program and its arguments. */
  static command(args: string[]): string[] {
    const runner = join(__dirname, '../../scripts/run-typescript.mjs');
    return [process.execPath, runner, join(__dirname, '../../src/cli/main.ts'), ...args];
  }
}

export async function outcomeOf(child: ChildProcess): Promise<Outcome> {
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
  const database = await testDatabase();
  const operator = new Operator({ DATABASE_URL: database.url });
  return { database, operator, server: await startInProcess({ databaseUrl: database.url }) };
}

export async function remove({ server, database }: Installation): Promise<void> {
  await server.stop();
  await database.drop();
}
