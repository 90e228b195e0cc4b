import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, statfsSync } from 'node:fs';
import { delimiter, dirname, join } from 'node:path';
import { refuse } from '../../../scripts/services.mjs';
import type { IDataObject } from '../../../clients/n8n/nodes/Lanyard/n8n-workflow';
import { Daemon, until } from '../support/daemon';

/** A version that can be installed: some need packages that are not there. */
export const N8N_VERSION = '2.40.7';
const NEEDED_BYTES = 3e9;
const NODE_MAJOR = 24;
const START_TIMEOUT_MS = 180_000;
const OWNER = { email: 'owner@example.com', firstName: 'Ada', lastName: 'Rowe', password: 'Proof-of-n8n-1' };

export interface Credential {
  name: string;
  type: string;
  data: object;
}

export interface CredentialReference {
  id: string;
  name: string;
}

/** A workflow as a file has it. */
export interface WorkflowFile {
  nodes: { name: string; parameters: IDataObject; credentials?: Record<string, CredentialReference> }[];
}

/** A workflow as n8n's own API has it. */
export interface StoredWorkflow {
  id: string;
  versionId: string;
  nodes: { name: string; webhookId?: string }[];
}

/** Ends the program with what it needs, unless that is there: a Node.js that n8n runs on, and space to install n8n. */
export function requireN8n(node: string, folder: string): void {
  const { stdout } = spawnSync(node, ['--version'], { encoding: 'utf8' });
  if (!stdout?.startsWith(`v${NODE_MAJOR}.`))
    refuse(
      `n8n ${N8N_VERSION} needs Node.js ${NODE_MAJOR}: name one with --node PATH. This is ${stdout?.trim() || 'none'}.`,
    );
  if (existsSync(programOf(folder))) return;
  mkdirSync(folder, { recursive: true });
  const { bavail, bsize } = statfsSync(folder);
  if (bavail * bsize < NEEDED_BYTES)
    refuse(`n8n ${N8N_VERSION} needs 3 GB in ${folder}. Name another folder with --folder PATH.`);
  process.stdout.write(`installing n8n ${N8N_VERSION} into ${folder}, which takes some minutes\n`);
  npm(node, ['install', '--prefix', folder, '--ignore-scripts', '--no-audit', '--no-fund', `n8n@${N8N_VERSION}`]);
}

const programOf = (folder: string): string => join(folder, 'node_modules/n8n/bin/n8n');

/** Runs npm with a Node.js. @returns what it printed */
function npm(node: string, args: string[], cwd?: string): string {
  const env = { ...process.env, PATH: `${dirname(node)}${delimiter}${process.env.PATH}` };
  const { status, stdout } = spawnSync('npm', args, {
    cwd,
    env,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  if (status !== 0) throw new Error(`npm ${args.join(' ')}: exit status ${status}`);
  return stdout;
}

/** Packs the nodes as their README says. @returns the file */
export function packNodes(directory: string): string {
  const package_ = join(__dirname, '../../../clients/n8n');
  return join(directory, npm(process.execPath, ['pack', '--silent', '--pack-destination', directory], package_).trim());
}

/** A real n8n in a process of its own, with an owner, whose session these requests have. */
export class N8n extends Daemon {
  /** The names and values of the owner's cookies. */
  cookies: [name: string, value: string][] = [];

  /**
   * @param home Where n8n keeps its files.
   * @param settings What n8n reads of the environment.
   */
  constructor(
    private readonly node: string,
    private readonly folder: string,
    private readonly home: string,
    readonly port: number,
    private readonly settings: NodeJS.ProcessEnv,
  ) {
    super(join(home, 'n8n.log'));
  }

  get url(): string {
    return `http://127.0.0.1:${this.port}`;
  }

  /** Installs a package of nodes as their README says. */
  install(file: string): void {
    const folder = join(this.home, '.n8n/nodes');
    mkdirSync(folder, { recursive: true });
    npm(this.node, ['install', '--no-audit', '--no-fund', file], folder);
  }

  async start(): Promise<void> {
    const env = {
      ...process.env,
      N8N_USER_FOLDER: this.home,
      N8N_LISTEN_ADDRESS: '127.0.0.1',
      N8N_PORT: String(this.port),
      WEBHOOK_URL: `${this.url}/`,
      N8N_SECURE_COOKIE: 'false',
      N8N_DIAGNOSTICS_ENABLED: 'false',
      N8N_VERSION_NOTIFICATIONS_ENABLED: 'false',
      N8N_TEMPLATES_ENABLED: 'false',
      N8N_PERSONALIZATION_ENABLED: 'false',
      N8N_ENCRYPTION_KEY: 'proof',
      ...this.settings,
    };
    this.run(this.node, [programOf(this.folder), 'start'], { cwd: this.home, env });
    const isReady = async (): Promise<boolean> => {
      if (!this.isRunning) throw new Error(`n8n has ended:\n${readFileSync(this.logFile, 'utf8').slice(-3000)}`);
      const response = await fetch(`${this.url}/healthz/readiness`).catch(() => undefined);
      return response?.status === 200;
    };
    await until('n8n is ready', isReady, START_TIMEOUT_MS);
    if (this.cookies.length === 0) await this.setUpOwner();
    // The editor is ready a moment after the database.
    await until(
      'the editor is ready',
      async () => (await this.fetch('GET', '/rest/login')).status === 200,
      START_TIMEOUT_MS,
    );
  }

  private async setUpOwner(): Promise<void> {
    await until('n8n has an owner', async () => {
      const response = await this.fetch('POST', '/rest/owner/setup', OWNER);
      this.cookies = response.headers.getSetCookie().map((cookie) => {
        const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(cookie) ?? [];
        return [name, value];
      });
      return response.status === 200;
    });
  }

  private fetch(method: string, path: string, body?: unknown): Promise<Response> {
    return fetch(`${this.url}${path}`, {
      method,
      headers: { 'content-type': 'application/json', cookie: this.cookies.map((pair) => pair.join('=')).join('; ') },
      body: body === undefined ? undefined : JSON.stringify(body),
    });
  }

  /** A request of n8n's editor. */
  async ask<T>(method: string, path: string, body?: unknown): Promise<T> {
    const response = await this.fetch(method, path, body);
    const text = await response.text();
    if (!response.ok) throw new Error(`n8n: ${method} ${path}: ${response.status} ${text}`);
    return (JSON.parse(text) as { data: T }).data;
  }

  /** @returns the ID of the credential */
  async addCredential(credential: Credential): Promise<string> {
    return (await this.ask<{ id: string }>('POST', '/rest/credentials', credential)).id;
  }

  async updateCredential(id: string, credential: Credential): Promise<void> {
    await this.ask('PATCH', `/rest/credentials/${id}`, credential);
  }

  /**
   * Imports a file as the editor does, and chooses the credentials by their types.
   * @param change What a person changes in it before it is switched on.
   */
  async importWorkflow(
    file: string,
    credentials: Map<string, CredentialReference>,
    change: (workflow: WorkflowFile) => void = () => undefined,
  ): Promise<StoredWorkflow> {
    const workflow = JSON.parse(readFileSync(file, 'utf8')) as WorkflowFile;
    for (const node of workflow.nodes) {
      for (const type of Object.keys(node.credentials ?? {})) node.credentials![type] = credentials.get(type)!;
    }
    change(workflow);
    return this.ask<StoredWorkflow>('POST', '/rest/workflows', workflow);
  }

  async switchOn({ id, versionId }: StoredWorkflow): Promise<void> {
    await this.ask('POST', `/rest/workflows/${id}/activate`, { versionId });
  }

  async switchOff({ id }: StoredWorkflow): Promise<void> {
    await this.ask('POST', `/rest/workflows/${id}/deactivate`, {});
  }

  /** Fills in the form of a workflow whose first node is one. n8n has it a moment after the workflow is switched on. */
  async submitForm({ nodes }: StoredWorkflow, values: string[]): Promise<void> {
    const url = `${this.url}/form/${nodes[0]!.webhookId}`;
    await until('n8n has the form', async () => (await fetch(url)).ok);
    const body = new FormData();
    for (const [n, value] of values.entries()) body.append(`field-${n}`, value);
    const response = await fetch(url, { method: 'POST', body });
    if (!response.ok) throw new Error(`n8n: the form: ${response.status}`);
  }

  /** The number of runs of a workflow that have ended well. */
  async countRuns({ id }: StoredWorkflow): Promise<number> {
    const filter = encodeURIComponent(JSON.stringify({ workflowId: id, status: ['success'] }));
    return (await this.ask<{ count: number }>('GET', `/rest/executions?filter=${filter}`)).count;
  }
}
