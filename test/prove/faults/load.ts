import { setTimeout as pause } from 'node:timers/promises';
import type { Api } from '../support/api';
import { type Answer, type Ask, ask, isAcknowledged, isUnknown, type Tally } from '../support/ask';
import { until } from '../support/daemon';
import type { Random } from '../support/random';
import { createEvent, createLead, OTHERS } from './bodies';
import type { Canaries } from './canaries';
import type { Tenant } from './cluster';
import { fieldsOf, flagsOf, type Outcome, Register } from './registers';

/** A lead that the load asked for. */
export interface Creation {
  tenant: Tenant;
  /** stands in the record, and in no other */
  marker: string;
  outcome: Outcome;
  /** as it was acknowledged */
  stored?: { id: string };
  /** what became of the request to delete it */
  deleted?: Outcome;
}

export interface LoadOptions {
  workers: number;
  /** between an answer and the next request of a worker */
  thinkMs?: number;
}

const LEADS_OF_AN_EVENT = 8;
const ERROR_PAUSE_MS = 50;

/** Clients that write and read without end, and remember what was acknowledged. */
export class Load {
  readonly creations: Creation[] = [];
  readonly registers: Register[] = [];
  /** each answer, with the moment of sending */
  readonly times: { sent: number; tookMs: number; failed: boolean }[] = [];
  private running: Promise<void>[] = [];
  private isStopping = false;

  constructor(
    readonly apis: Api[],
    readonly tenants: Tenant[],
    readonly canaries: Canaries,
    private readonly random: Random,
    readonly answers: Tally,
    private readonly options: LoadOptions,
  ) {}

  get acknowledged(): number {
    const created = this.creations.filter(({ outcome }) => outcome === 'acknowledged').length;
    return this.registers.reduce((sum, register) => sum + register.acknowledged, created);
  }

  /** Gives every worker places of its own to overwrite; then all of them begin. */
  async start(): Promise<void> {
    const workers = Array.from({ length: this.options.workers }, (_, n) => n);
    const places = await Promise.all(workers.map((n) => this.prepare(this.tenants[n % this.tenants.length] as Tenant)));
    this.registers.push(...places.flat());
    this.running = places.map((own) => this.work(own));
  }

  async stop(): Promise<void> {
    this.isStopping = true;
    await Promise.all(this.running);
  }

  private async prepare(tenant: Tenant): Promise<Register[]> {
    const event = await this.make<number>(tenant, createEvent(this.canaries));
    const leads: string[] = [];
    while (leads.length < LEADS_OF_AN_EVENT) leads.push(await this.make<string>(tenant, createLead(this.canaries)));
    const patched = await this.make<string>(tenant, createLead(this.canaries));
    const places = [flagsOf(event, leads), fieldsOf(patched, this.canaries)];
    return places.map((place) => new Register(tenant, place));
  }

  /** Tried again on a machine that is busy. @returns the new record's id */
  private async make<Id>(tenant: Tenant, asked: Ask): Promise<Id> {
    let answer: Answer | undefined;
    await until(`${asked.method} ${asked.path} succeeds`, async () => {
      answer = await ask(this.random.pick(this.apis).port, { ...asked, key: tenant.key });
      return answer.status === 200;
    });
    return (answer?.body?.results as { id: Id }).id;
  }

  private async work(own: Register[]): Promise<void> {
    const { thinkMs = 0 } = this.options;
    while (!this.isStopping) {
      const act = this.random.weighted([
        [40, () => this.create()],
        [30, () => this.overwrite(this.random.pick(own))],
        [5, () => this.delete()],
        [15, () => this.read()],
        [12, () => this.send(this.random.pick(this.tenants), this.random.pick(OTHERS)(this.canaries))],
      ]);
      const answer = await act();
      await pause(answer?.error ? Math.max(thinkMs, ERROR_PAUSE_MS) : thinkMs);
    }
  }

  async create(api?: Api): Promise<Answer> {
    const marker = this.canaries.marker();
    const creation: Creation = { marker, tenant: this.random.pick(this.tenants), outcome: 'unknown' };
    this.creations.push(creation);
    const answer = await this.send(creation.tenant, createLead(this.canaries, marker), api);
    creation.outcome = outcomeOf(answer);
    if (isAcknowledged(answer)) creation.stored = answer.body?.results as { id: string };
    return answer;
  }

  /** Milliseconds until each of the processes has stored something. */
  async untilWritten(apis = this.apis): Promise<number> {
    const write = (api: Api) => until('a write succeeds', async () => isAcknowledged(await this.create(api)));
    return Math.max(...(await Promise.all(apis.map(write))));
  }

  private async overwrite(register: Register): Promise<Answer> {
    const { asked, settle } = register.next();
    const answer = await this.send(register.tenant, asked);
    settle(outcomeOf(answer));
    return answer;
  }

  private async delete(): Promise<Answer | undefined> {
    const creation = this.random.pick(this.creations);
    if (!creation?.stored || creation.deleted) return undefined;
    creation.deleted = 'unknown';
    const path = `/api/v0/leads/${creation.stored.id}`;
    const answer = await this.send(creation.tenant, { method: 'DELETE', path });
    creation.deleted = outcomeOf(answer);
    return answer;
  }

  private read(): Promise<Answer> {
    const path = this.random.pick([
      '/api/v0/leads?limit=20',
      '/api/v0/events?limit=20',
      `/api/v0/industryEvents?q=${encodeURIComponent(this.canaries.text())}`,
      `/api/v0/industryEvents?eventUrl=${encodeURIComponent(this.canaries.url())}`,
    ]);
    return this.send(this.random.pick(this.tenants), { method: 'GET', path });
  }

  private async send(tenant: Tenant, asked: Ask, api = this.random.pick(this.apis)): Promise<Answer> {
    const sent = performance.now();
    const answer = await ask(api.port, { key: tenant.key, ...asked });
    this.answers.add(answer);
    this.times.push({ sent, tookMs: answer.tookMs, failed: !answer.status || answer.status >= 500 });
    return answer;
  }
}

const outcomeOf = (answer: Answer): Outcome =>
  isAcknowledged(answer) ? 'acknowledged' : isUnknown(answer) ? 'unknown' : 'refused';
