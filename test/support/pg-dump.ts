import { execFile, spawnSync } from 'node:child_process';
import { promisify } from 'node:util';

/** Major version of a program of PostgreSQL's; 0 when it is not on the PATH. */
function major(program: string): number {
  const { stdout } = spawnSync(program, ['--version'], { encoding: 'utf8' });
  return Number(/\d+/.exec(stdout ?? '')?.[0] ?? 0);
}

/** pg_dump reads no server that is newer than itself. */
function reason(): string {
  const server = Number(process.env.LANYARD_TEST_SERVER_MAJOR);
  const program = Math.min(major('pg_dump'), major('pg_restore'));
  if (program === 0) return ' (skipped: no pg_dump and pg_restore on the PATH)';
  return program < server ? ` (skipped: pg_dump ${program} cannot read a PostgreSQL ${server})` : '';
}

export const NO_PG_DUMP = reason();

/** The commands of docs/operations.md, from one database into another that is empty. */
export async function dumpAndRestore(from: string, to: string, file: string): Promise<void> {
  const run = promisify(execFile);
  await run('pg_dump', ['-Fc', '-f', file, from]);
  await run('pg_restore', ['--no-owner', '--exit-on-error', '--single-transaction', '-d', to, file]);
}
