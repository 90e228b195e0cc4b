import { execFileSync } from 'node:child_process';
import { chmodSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { Operator } from '../support/operator';
import { waitForOutput, waitForExit } from '../support/program';
import { waitUntil } from '../support/wait';

describe('sandbox', () => {
  const folder = mkdtempSync(join(tmpdir(), 'lanyard-sandbox-'));
  // The account that runs PostgreSQL for root must get to its data.
  chmodSync(folder, 0o755);
  afterAll(() => rmSync(folder, { recursive: true, force: true }));
  // Settings of a server that is in use have no effect.
  const settings = {
    TMPDIR: folder,
    DATABASE_URL: 'postgres://127.0.0.1:1/lanyard',
    PORT: '1',
    NODE_ENV: 'production',
  };
  const operator = new Operator(settings);

  /** Whether a process has the folder in its command line, as PostgreSQL has that of its data. */
  const isUsed = (): boolean => execFileSync('ps', ['-A', '-o', 'args='], { encoding: 'utf8' }).includes(folder);

  const isGone = (): boolean => readdirSync(folder).length === 0 && !isUsed();

  it('prints a URL and a key of a server with data and simulated faults, and leaves nothing behind after SIGKILL', async () => {
    const child = operator.start(['sandbox', '--json']);
    const printed = JSON.parse(await waitForOutput(child, '\n')) as {
      url: string;
      key: string;
      organizationId: number;
    };
    expect(printed).toEqual({
      url: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+\/api\/v0$/) as string,
      key: expect.stringMatching(/^lan_/) as string,
      organizationId: 1,
    });
    const headers = { 'x-api-key': printed.key };
    const response = await fetch(`${printed.url}/leads?limit=1`, { headers });
    expect(response.status).toBe(200);
    expect(Number(response.headers.get('x-ratelimit-limit'))).toBe(1_000_000);
    expect(((await response.json()) as { results: { total: number } }).results.total).toBeGreaterThan(0);
    const faulty = await fetch(`${printed.url}/leads`, { headers: { ...headers, 'Lanyard-Simulate': 'status=503' } });
    expect(faulty.status).toBe(503);
    expect(isUsed()).toBe(true);
    expect(readdirSync(folder)).toHaveLength(1);
    expect(await waitForExit(child, 'SIGKILL')).toBe(null);
    await waitUntil(isGone, { deadlineMs: 60_000 });
  }, 120_000);

  it('leaves nothing behind after SIGKILL while it starts', async () => {
    const child = operator.start(['sandbox', '--json']);
    await waitUntil(() => readdirSync(folder).length > 0, { deadlineMs: 60_000 });
    expect(await waitForExit(child, 'SIGKILL')).toBe(null);
    await waitUntil(isGone, { deadlineMs: 60_000 });
  }, 120_000);

  it.each(['SIGINT', 'SIGTERM'] as const)(
    'prints lines for people, with a first request, and leaves nothing behind after %s',
    async (signal) => {
      const child = operator.start(['sandbox']);
      const stderr = text(child.stderr as Readable);
      expect(await waitForOutput(child, 'LANYARD_KEY=')).toMatch(
        /^export LANYARD_URL=http:\/\/127\.0\.0\.1:\d+\/api\/v0\nexport LANYARD_KEY=lan_\w+\n/,
      );
      expect(await waitForExit(child, signal)).toBe(0);
      expect(readdirSync(folder)).toEqual([]);
      expect(await stderr).toMatch(/^Try: curl -H "x-api-key: \$LANYARD_KEY" "\$LANYARD_URL\/leads\?limit=1"\n/);
      await waitUntil(() => !isUsed());
    },
    120_000,
  );

  it('says that a port is in use, and leaves nothing behind', async () => {
    const server = createServer().listen(0, '127.0.0.1');
    await new Promise((resolve) => server.once('listening', resolve));
    const { port } = server.address() as { port: number };
    const { status, stdout, stderr } = await operator.spawn(['sandbox', '--port', String(port)]);
    server.close();
    expect({ status, stdout }).toEqual({ status: 1, stdout: '' });
    expect(stderr).toBe(`--port ${port} is already in use. Stop the other program or choose a different --port.\n`);
    expect(readdirSync(folder)).toEqual([]);
  }, 120_000);
});
