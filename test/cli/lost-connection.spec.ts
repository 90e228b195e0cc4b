import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Server } from 'node:net';
import { query } from '../support/embedded-fixtures';
import { install, Installation, Operator, remove } from '../support/operator';

/** PostgreSQL's answer to the statement that begins a transaction. */
const BEGUN = Buffer.from('START TRANSACTION\0');

/**
 * PostgreSQL for one who hears at the same moment that the first transaction has begun, and that the connection is ended:
 * by then no statement is under way, and the next one has not been sent.
 */
async function endingAtTheFirstTransaction(url: string): Promise<{ url: string; close: () => Promise<void> }> {
  const { hostname, port } = new URL(url);
  const server: Server = createServer((client) => {
    const postgres = connect(Number(port), hostname);
    let held: Buffer | undefined;
    client.pipe(postgres);
    for (const socket of [client, postgres]) socket.on('error', () => undefined);
    postgres.on('data', (chunk: Buffer) => {
      if (held) {
        client.end(Buffer.concat([held, chunk]));
      } else if (chunk.includes(BEGUN)) {
        held = chunk;
        const ofTheTransaction = `state = 'idle in transaction' and datname = current_database()`;
        void query(url, `select pg_terminate_backend(pid) from pg_stat_activity where ${ofTheTransaction}`);
      } else {
        client.write(chunk);
      }
    });
    postgres.on('end', () => client.end());
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const through = new URL(url);
  through.host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  return { url: through.href, close: async () => void (await once(server.close(), 'close')) };
}

describe('a command whose connection is ended between two statements', () => {
  let installation: Installation;
  let organizationId: number;
  beforeAll(async () => {
    installation = await install();
    const tenant = await installation.server.tenant();
    organizationId = tenant.organizationId;
    await tenant.import({ leads: [{ id: randomUUID() }] });
    await query(installation.database.url, `set session_replication_role = replica; update leads set document = '{}'`);
  });
  afterAll(() => remove(installation));

  it.each([
    [['import', '-', '--organization', 'its'], 'terminating connection due to administrator command'],
    [['check', '--repair'], 'the connection was lost'],
  ])('%j says so in a line', async (args, why) => {
    const postgres = await endingAtTheFirstTransaction(installation.database.url);
    const given = args.map((arg) => (arg === 'its' ? String(organizationId) : arg));
    const input = `${JSON.stringify({ section: 'leads', record: { id: randomUUID() } })}\n`;
    const outcome = await new Operator({ DATABASE_URL: postgres.url }).run(given, input);
    await postgres.close();
    expect(outcome).toEqual({ status: 1, stdout: '', stderr: `the database failed: ${why}\n` });
  });
});
