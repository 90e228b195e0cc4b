import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestDatabase } from '../../src/testing/test-database';
import { migrate } from '../support/contexts';
import { createTestDatabase } from '../support/database';
import { freePort } from '../support/servers/free-port';
import { describeUnless, missingProgramReason } from '../support/skipping';
import { waitUntil } from '../support/wait';

const NO_PGBOUNCER = missingProgramReason('pgbouncer');

/** test/database/direct-connection.spec.ts has the same with a pooler of our own. */
describeUnless(NO_PGBOUNCER)(`a start through PgBouncer in session mode${NO_PGBOUNCER}`, () => {
  const folder = mkdtempSync(join(tmpdir(), 'lanyard-pgbouncer-'));
  const running: ChildProcess[] = [];
  let database: TestDatabase;
  beforeAll(async () => {
    chmodSync(folder, 0o755);
    database = await createTestDatabase();
  });
  afterAll(async () => {
    for (const child of running) {
      child.kill('SIGKILL');
      if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
    }
    rmSync(folder, { recursive: true, force: true });
  });

  /** @returns the URL of the database through a PgBouncer with these settings */
  async function through(settings: string): Promise<string> {
    const { hostname, port, pathname, username, password } = new URL(database.url);
    const listening = await freePort();
    const file = join(folder, `${listening}.ini`);
    const target = [`host=${hostname}`, `port=${port || 5432}`, `user=${username}`];
    if (password) target.push(`password=${decodeURIComponent(password)}`);
    writeFileSync(
      file,
      `[databases]\n${pathname.slice(1)} = ${target.join(' ')}\n[pgbouncer]\nlisten_addr = 127.0.0.1\n` +
        `listen_port = ${listening}\nunix_socket_dir =\nauth_type = any\npool_mode = session\n${settings}\n`,
    );
    // It does not run as root.
    const user = process.getuid?.() === 0 ? ['-u', 'nobody'] : [];
    running.push(spawn('pgbouncer', [...user, file], { stdio: 'ignore' }));
    await waitUntil(() => isListening(listening), { what: 'PgBouncer listens' });
    return Object.assign(new URL(database.url), { host: `127.0.0.1:${listening}` }).href;
  }

  const lineOf = async (start: Promise<unknown>): Promise<string> => {
    const error = await start.then(
      () => new Error('It started.'),
      (reason: unknown) => reason as Error,
    );
    return error.message;
  };

  it('ends with one line, because it rejects the settings of sessions', async () => {
    expect(await lineOf(migrate(await through('')))).toMatch(/^[^\n]*unsupported startup parameter: options[^\n]*$/);
  });

  it('ends with one line if it is to ignore them, because then timeouts would not hold', async () => {
    expect(await lineOf(migrate(await through('ignore_startup_parameters = options')))).toBe(
      'DATABASE_URL: the settings of sessions are ignored. Connect to PostgreSQL directly, not through a pooler such as ' +
        'PgBouncer in transaction mode.',
    );
  });
});

function isListening(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1');
    socket.once('connect', () => resolve(true)).once('error', () => resolve(false));
    socket.once('connect', () => socket.destroy());
  });
}
