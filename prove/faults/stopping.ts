import { Agent } from 'node:http';
import { setTimeout as pause } from 'node:timers/promises';
import type { Api } from '../support/api';
import { ask, Tally } from '../support/ask';
import { seconds } from '../support/figures';
import { createLead } from './bodies';
import type { Fault, Played, Stage } from './stage';

const CLIENTS = 32;
const MAX_EXIT_MS = 10_000;

/** Clients that keep their connection, and open a new one when the server asks them to. */
class Clients {
  readonly answers = new Tally();
  /** outcomes of requests that went out on an open connection and were not answered with 200 */
  readonly lost: string[] = [];
  readonly acknowledged: string[] = [];
  private isStopping = false;
  private readonly running: Promise<void>[];

  constructor(
    private readonly port: number,
    private readonly key: string,
    private readonly stage: Stage,
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
      const marker = this.stage.canaries.marker();
      const asked = createLead(this.stage.canaries, marker);
      const answer = await ask(this.port, { ...asked, key: this.key, agent });
      const { status, error } = answer;
      this.answers.add(answer);
      if (status === 200) this.acknowledged.push(this.stage.canaries.email(marker));
      else if (error !== 'ECONNREFUSED') this.lost.push(String(status ?? error));
      await pause(error === 'ECONNREFUSED' ? 50 : this.stage.random.between(0, 10));
    }
    agent.destroy();
  }
}

/** Ends a process as an orchestrator does, and starts it again. @returns milliseconds until it had ended */
async function terminate(api: Api, broken: string[]): Promise<number> {
  const begun = performance.now();
  api.signal('SIGTERM');
  const timer = new AbortController();
  const late = pause(MAX_EXIT_MS, 'late', timer).catch(() => undefined);
  const status = await Promise.race([api.exited, late]);
  timer.abort();
  const tookMs = performance.now() - begun;
  if (status !== 0) broken.push(`exit status ${status}`);
  await api.kill();
  await api.start();
  return tookMs;
}

export const sigterm: Fault = {
  name: 'sigterm',
  promise: 'SIGTERM at load',
  times: 20,
  play: terminated,
};

async function terminated(stage: Stage): Promise<Played> {
  const cluster = await stage.cluster({ apis: 1 });
  const { key, organizationId } = await cluster.tenant();
  stage.canaries.watch(key);
  const api = cluster.apis[0] as Api;
  const clients = new Clients(api.port, key, stage);
  const broken: string[] = [];
  let slowestMs = 0;
  for (let n = 0; n < stage.times; n++) {
    await pause(stage.random.between(300, 800));
    slowestMs = Math.max(slowestMs, await terminate(api, broken));
  }
  await pause(300);
  await clients.stop();
  const { lost, acknowledged, answers } = clients;
  if (lost.length > 0) broken.push(`lost: ${[...new Set(lost)].join(', ')}`);
  const leads = `select email from leads where organization_id = ${organizationId}`;
  const stored = new Set((await cluster.postgres.query<{ email: string }>(leads)).map(({ email }) => email));
  const missing = acknowledged.filter((email) => !stored.has(email)).length;
  if (missing > 0) broken.push(`${missing} acknowledged writes are not there`);
  const measured =
    `${stage.times} times: ${lost.length} accepted requests lost of ${acknowledged.length + lost.length}, ` +
    `ended after at most ${seconds(slowestMs)}`;
  return { answers, measured, broken };
}
