import { Agent } from 'node:http';
import { setTimeout as pause } from 'node:timers/promises';
import { createExhibitor, unique } from '../../support/builders';
import { DISCONNECTS, disconnect } from '../../support/servers/disconnects';
import { ENDPOINTS, type Endpoint, type Ids } from '../../support/endpoints';
import { type Ask, ask, Tally } from '../support/ask';
import type { Random } from '../support/random';

const PREFIX = '/api/v0';
/** Of all requests, how many break off. */
const DISCONNECT_SHARE = 0.3;
const THINK_MS = 5;
/** A client leaves within this time: before its request is read, while it is carried out, or after. */
const MAX_STAY_MS = 20;

/** Headers that requests have now and then. */
const HEADERS: (readonly [weight: number, () => Record<string, string>])[] = [
  [6, () => ({})],
  [2, () => ({ 'Idempotency-Key': unique() })],
  [1, () => ({ Prefer: 'tx=rollback' })],
  [1, () => ({ Prefer: 'handling=strict' })],
  [1, () => ({ 'x-api-key': 'lan_nobody' })],
];

type Answered = { id?: string | number; industryEvent?: { id: string } } | undefined;

/** A client that asks for everything that there is, and often leaves before it has an answer. */
export class Client {
  readonly answers = new Tally();
  disconnects = 0;
  private ids: Ids;

  /** @param imported ids of what only an import makes */
  constructor(
    private readonly ports: number[],
    private readonly key: string,
    imported: ReturnType<typeof createExhibitor>['ids'],
    private readonly random: Random,
  ) {
    this.ids = { ...imported };
  }

  async run(isOver: () => boolean): Promise<void> {
    const agent = new Agent({ keepAlive: true });
    while (!isOver()) {
      const port = this.random.pick(this.ports);
      if (this.random.chance(DISCONNECT_SHARE)) await this.leave(port);
      else await this.send(port, agent);
      await pause(THINK_MS);
    }
    agent.destroy();
  }

  private async leave(port: number): Promise<void> {
    const stay = () => pause(this.random.between(0, MAX_STAY_MS));
    await disconnect(`http://127.0.0.1:${port}`, this.key, this.random.pick(DISCONNECTS), stay);
    this.disconnects++;
  }

  private async send(port: number, agent: Agent): Promise<void> {
    const endpoint = this.random.pick(ENDPOINTS);
    const headers = this.random.weighted(HEADERS)();
    const answer = await ask(port, { ...this.requestTo(endpoint), key: this.key, agent, headers });
    this.answers.add(answer);
    if (answer.status === 200 && !('Prefer' in headers)) this.remember(endpoint, answer.body?.results as Answered);
  }

  private requestTo(endpoint: Endpoint): Pick<Ask, 'method' | 'path' | 'body'> {
    const ids = Object.fromEntries(endpoint.slots.map(({ name, kind }) => [name, this.ids[kind] ?? '']));
    const path = endpoint.path.replace(/:(\w+)/g, (_, name: string) => ids[name] ?? '');
    const inQuery = endpoint.slots.filter(({ where, name }) => where === 'query' && ids[name]);
    const query = new URLSearchParams(inQuery.map(({ name }): [string, string] => [name, ids[name] ?? '']));
    const method = endpoint.method.toUpperCase();
    const body = this.random.pick(endpoint.bodies)(ids);
    return { method, path: `${PREFIX}${path}${query.size > 0 ? `?${query.toString()}` : ''}`, body };
  }

  /** What was created takes the place of what may be deleted by now. */
  private remember({ name }: Endpoint, results: Answered): void {
    if (name === 'POST /leads') this.ids.lead = String(results?.id);
    if (name === 'POST /events') this.ids.event = String(results?.id);
    if (name === 'POST /industryEvents') this.ids.industryEvent = String(results?.industryEvent?.id);
  }
}
