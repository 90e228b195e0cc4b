import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { leadInput } from '../support/builders';
import { startLanyard, type Tenant, withTenant } from '../support/lanyard';
import { agentOf } from '../support/mcp';

const ROOT = join(__dirname, '../..');
const PACKAGE = join(ROOT, 'clients/mcp');
const run = promisify(execFile);

interface Manifest {
  bin: Record<string, string>;
  dependencies: Record<string, string>;
  devDependencies: Record<string, string>;
}
const manifest = (folder: string) => JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as Manifest;

it('is tested with the dependencies that it has', () => {
  expect(manifest(ROOT).devDependencies).toMatchObject(manifest(PACKAGE).dependencies);
});

describe('the built program', () => {
  const project = mkdtempSync(join(tmpdir(), 'lanyard-mcp-'));
  const installed = join(project, 'node_modules/lanyard-mcp');
  const program = join(installed, manifest(PACKAGE).bin['lanyard-mcp'] ?? '');
  const children: ChildProcess[] = [];
  let tenant: Tenant;
  let env: Record<string, string>;
  beforeAll(async () => {
    mkdirSync(installed, { recursive: true });
    await run('npm', ['run', '--silent', '--prefix', join(ROOT, 'clients/typescript'), 'generate']);
    const tsc = require.resolve('typescript/bin/tsc');
    await run(process.execPath, [tsc, '--project', PACKAGE, '--outDir', join(installed, 'dist')]).catch(
      ({ stdout }: { stdout: string }) => {
        throw new Error(stdout);
      },
    );
    cpSync(join(PACKAGE, 'package.json'), join(installed, 'package.json'));
    // Beside the package, where npm puts them.
    for (const name of ['@modelcontextprotocol', 'openapi-fetch', 'zod', 'hono', '@hono']) {
      symlinkSync(join(ROOT, 'node_modules', name), join(project, 'node_modules', name));
    }
    const [lanyard, ownTenant] = await withTenant(startLanyard());
    tenant = ownTenant;
    env = { PATH: process.env.PATH ?? '', LANYARD_URL: lanyard.baseUrl, LANYARD_KEY: tenant.key };
  }, 120_000);
  afterAll(() => {
    for (const child of children) child.kill('SIGKILL');
    rmSync(project, { recursive: true });
  });

  /** Starts it with --http on a free port. */
  async function listen(): Promise<{ child: ChildProcess; url: string }> {
    const child = spawn(process.execPath, [program, '--http', '0'], { env });
    children.push(child);
    const [line] = (await once(child.stderr, 'data')) as [Buffer];
    return { child, url: /http:\S+/.exec(String(line))?.[0] ?? '' };
  }

  it.each([{ pin: '2026-07-28' }, 'legacy' as const])('serves standard input and output: %j', async (mode) => {
    const client = new Client({ name: 'test', version: '1.0.0' }, { versionNegotiation: { mode } });
    await client.connect(new StdioClientTransport({ command: process.execPath, args: [program], env }));
    const agent = agentOf(client);
    expect(await agent.toolNames()).toContain('create_lead');
    expect(await agent.call('create_lead', leadInput())).toMatchObject({ isError: false });
    await agent.close();
  });

  it.each([{ pin: '2026-07-28' }, 'legacy' as const])('serves HTTP, and ends on SIGTERM: %j', async (mode) => {
    const { child, url } = await listen();
    const client = new Client({ name: 'test', version: '1.0.0' }, { versionNegotiation: { mode } });
    await client.connect(new StreamableHTTPClientTransport(new URL(url)));
    const agent = agentOf(client);
    expect(await agent.call('list_events')).toMatchObject({ isError: false });
    await agent.close();
    child.kill('SIGTERM');
    expect(await once(child, 'exit')).toEqual([0, null]);
  });

  it('rejects web pages and other host names', async () => {
    const { url } = await listen();
    const statusOf = async (headers: Record<string, string>, path = url): Promise<number | undefined> => {
      const sent = request(path, { method: 'POST', headers: { 'content-type': 'application/json', ...headers } });
      sent.end('{}');
      const [response] = (await once(sent, 'response')) as [{ statusCode?: number; resume(): void }];
      response.resume();
      return response.statusCode;
    };
    expect(await statusOf({ origin: 'https://attacker.example' })).toBe(403);
    expect(await statusOf({ host: 'attacker.example' })).toBe(403);
    expect(await statusOf({ origin: 'null' })).toBe(403);
    expect(await statusOf({}, url.replace('/mcp', '/'))).toBe(404);
    expect(await statusOf({})).toBe(400);
  });

  it.each([
    [[], { LANYARD_KEY: '' }, 'LANYARD_KEY is not set. The operator of the server issues keys: lanyard keys issue\n'],
    [[], { LANYARD_URL: '' }, 'LANYARD_URL is not set. Set it to the URL of the API: http://localhost:3000/api/v0\n'],
    [[], { LANYARD_URL: 'localhost' }, /^LANYARD_URL or LANYARD_KEY is wrong\. The baseUrl must begin with http:/],
    [['--http', 'x'], {}, '"x" is not a valid port for --http. Use a number from 0 to 65535.\n'],
    [['--alow-deletes'], {}, /^Unknown option '--alow-deletes'/],
  ])('says what is wrong with %j %j', async (args, settings, message) => {
    const failure = run(process.execPath, [program, ...args], { env: { ...env, ...settings } });
    await expect(failure).rejects.toMatchObject({ code: 2, stderr: expect.stringMatching(message) as string });
  });

  it('prints its help and its version', async () => {
    expect((await run(process.execPath, [program, '--help'], { env })).stdout).toMatch(/^Usage: LANYARD_URL=/);
    expect((await run(process.execPath, [program, '--version'], { env })).stdout).toBe('0.1.0\n');
  });
});
