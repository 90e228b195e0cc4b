import { Agent } from 'node:http';
import { setTimeout as pause } from 'node:timers/promises';
import type { Api } from './cluster';
import { ask } from './http';
import { startHaproxy } from './haproxy';
import { seconds } from './report';
import type { Fault, Played, Stage } from './stage';

/** Clients that keep their connection, and open a new one when they are told to. */
const CLIENTS = 32;
/** Milliseconds that a process may take to end. */
const EXIT_WITHIN = 10_000;

class Clients {
  readonly answers = new Map<string, number>();
  /** requests whose bytes went out on an open connection and that were not answered */
  readonly lost: string[] = [];
  readonly acknowledged: string[] = [];
  private isStopping = false;
  private readonly running: Promise<void>[];

  constructor(
    private readonly port: number,
    private readonly key: string,
    private readonly stage: Stage,
    /** whether a refused connection is a loss too: behind a load balancer there is always somebody */
    private readonly isRefusalLost: boolean,
  ) {
    this.running = Array.from({ length: CLIENTS }, () => this.work());
  }

  async stop(): Promise<void> {
    this.isStopping = true;
    await Promise.all(this.running);
  }

  private async work(): Promise<void> {
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    while (!this.isStopping) {
      const { error, status } = await this.create(agent);
      const isRefused = error === 'ECONNREFUSED';
      if ((error && !isRefused) || (this.isRefusalLost && status !== 200)) this.lost.push(String(error ?? status));
      else if (!isRefused && status !== 200) this.lost.push(String(status));
      await pause(isRefused ? 50 : this.stage.random.integer(0, 10));
    }
    agent.destroy();
  }

  private async create(agent: Agent): Promise<{ status?: number; error?: string }> {
    const { canaries } = this.stage;
    const email = canaries.email();
    const name = { firstName: canaries.text(), lastName: canaries.text(), companyName: canaries.text() };
    const body = { ...name, email, createdByEmail: email };
    const answer = await ask(this.port, { method: 'POST', path: '/api/v0/leads', key: this.key, body, agent });
    const what = String(answer.status ?? answer.error);
    this.answers.set(what, (this.answers.get(what) ?? 0) + 1);
    if (answer.status === 200) this.acknowledged.push(email);
    return answer;
  }
}

/** Ends a process in the way of an orchestrator, and starts it again. @returns milliseconds until it had ended */
async function terminate(api: Api, broken: string[], settings: NodeJS.ProcessEnv): Promise<number> {
  const begun = performance.now();
  api.signal('SIGTERM');
  const status = await Promise.race([api.exited, pause(EXIT_WITHIN, 'late')]);
  const took = performance.now() - begun;
  if (status !== 0) broken.push(`exit status ${status}`);
  if (status === 'late') await api.kill();
  api.launch(settings);
  await api.untilReady();
  return took;
}

export const sigterm: Fault = {
  name: 'sigterm',
  promise: 'SIGTERM at load',
  times: 20,
  play: (stage) => terminated(stage, {}, false),
};

export const sigtermAtOnce: Fault = {
  name: 'sigterm-at-once',
  times: 20,
  play: (stage) => terminated(stage, { LANYARD_DRAIN_MS: '0' }, false),
};

export const sigtermBehindHaproxy: Fault = {
  name: 'sigterm-haproxy',
  times: 20,
  play: (stage) => terminated(stage, { LANYARD_DRAIN_MS: '1000' }, true),
};

async function terminated(stage: Stage, settings: NodeJS.ProcessEnv, balanced: boolean): Promise<Played> {
  const cluster = await stage.cluster({ apis: 2, settings });
  const { key, organizationId } = await cluster.tenant();
  stage.canaries.watch(key);
  const ports = cluster.apis.map(({ port }) => port);
  const port = balanced ? await startHaproxy(stage, cluster.directory, ports) : ports[0];
  if (port === undefined) return { measured: '', broken: [], skipped: 'haproxy is not installed' };
  const clients = new Clients(port, key, stage, balanced);
  const broken: string[] = [];
  const took: number[] = [];
  for (let n = 0; n < stage.times; n++) {
    await pause(stage.random.integer(300, 800));
    took.push(await terminate(cluster.apis[balanced ? n % 2 : 0] as Api, broken, settings));
  }
  await pause(300);
  await clients.stop();
  if (clients.lost.length > 0) broken.push(`lost: ${[...new Set(clients.lost)].join(', ')} (${clients.lost.length})`);
  const stored = await cluster.postgres.query<{ email: string }>(
    `select email from leads where organization_id = ${organizationId}`,
  );
  const emails = new Set(stored.map(({ email }) => email));
  const missing = clients.acknowledged.filter((email) => !emails.has(email)).length;
  if (missing > 0) broken.push(`${missing} acknowledged writes are not there`);
  const measured =
    `${stage.times} times${balanced ? ' behind haproxy' : ''}: ${clients.lost.length} accepted requests lost of ` +
    `${clients.acknowledged.length}, ended after at most ${seconds(Math.max(...took))}`;
  return { answers: clients.answers, measured, broken };
}
