import { setTimeout as pause } from 'node:timers/promises';
import type { Canaries } from './canaries';
import type { Api, Tenant } from './cluster';
import { type Answer, type Ask, ask, isAcknowledged, isUnknown } from './http';
import { provocation } from './provocations';
import type { Random } from './random';
import { EventRecord, Flags, LeadFields, type Register } from './registers';

type Outcome = 'acknowledged' | 'unknown' | 'refused';

/** A record that the load asked for. */
export interface Creation {
  kind: 'lead' | 'industryEvent';
  tenant: Tenant;
  /** stands in the record, and in no other */
  marker: string;
  outcome: Outcome;
  /** as it was acknowledged */
  stored?: { id: string };
  /** what became of the request to delete it */
  deleted?: Outcome;
}

/** Leads that one PUT associates with an event. */
const LEADS_OF_AN_EVENT = 8;

export interface LoadOptions {
  workers: number;
  /** milliseconds between an answer and the next request of a worker */
  think?: number;
}

/** Clients that write and read without end, and remember what they were told. */
export class Load {
  readonly creations: Creation[] = [];
  readonly registers: Register[] = [];
  /** answers by status, or by the network's error */
  readonly answers = new Map<string, number>();
  /** milliseconds of each answer, with its moment of sending */
  readonly times: { sent: number; took: number; failed: boolean }[] = [];
  private readonly running: Promise<void>[] = [];
  private isStopping = false;

  constructor(
    readonly apis: Api[],
    readonly tenants: Tenant[],
    readonly canaries: Canaries,
    private readonly random: Random,
    private readonly options: LoadOptions,
  ) {}

  get acknowledged(): number {
    return this.creations.filter(({ outcome }) => outcome === 'acknowledged').length;
  }

  /** Answers of 5xx. */
  get serverErrors(): number {
    return [...this.answers].reduce((sum, [what, count]) => sum + (/^5\d\d$/.test(what) ? count : 0), 0);
  }

  /** Every worker gets an event, leads and a lead of its own to overwrite; then all of them begin. */
  async start(): Promise<void> {
    const workers = Array.from({ length: this.options.workers }, (_, n) => n);
    await Promise.all(workers.map((n) => this.prepare(this.tenants[n % this.tenants.length] as Tenant)));
    for (const n of workers) this.running.push(this.work(this.registers.slice(3 * n, 3 * n + 3)));
  }

  async stop(): Promise<void> {
    this.isStopping = true;
    await Promise.all(this.running);
  }

  private async prepare(tenant: Tenant): Promise<void> {
    const event = await this.must<{ id: number }>(tenant, {
      method: 'POST',
      path: '/api/v0/events',
      body: {
        ...{ eventName: this.canaries.text(), eventType: 'EVENT', startDate: '2030-01-01', endDate: '2030-01-02' },
        createdByEmail: this.canaries.email(),
      },
    });
    const leads: string[] = [];
    for (let n = 0; n <= LEADS_OF_AN_EVENT; n++) {
      const body = leadBody(this.canaries.marker(), this.canaries);
      leads.push((await this.must<{ id: string }>(tenant, { method: 'POST', path: '/api/v0/leads', body })).id);
    }
    const [patched = '', ...associated] = leads;
    this.registers.push(
      new Flags(tenant, this.canaries, event.id, associated),
      new LeadFields(tenant, this.canaries, patched),
      new EventRecord(tenant, this.canaries, event.id),
    );
  }

  /** Before the fault begins: a machine that is busy elsewhere is given another try. */
  private async must<T>(tenant: Tenant, asked: Ask, tries = 5): Promise<T> {
    const { status, error, body } = await ask(this.random.pick(this.apis).port, { ...asked, key: tenant.key });
    if (status === 200) return body?.results as T;
    if (tries === 0) throw new Error(`${asked.method} ${asked.path}: ${status ?? error}`);
    await pause(500);
    return this.must(tenant, asked, tries - 1);
  }

  private async work(own: Register[]): Promise<void> {
    const { think = 0 } = this.options;
    while (!this.isStopping) {
      const answer = await this.random.weighted([
        [40, () => this.create('lead')],
        [8, () => this.create('industryEvent')],
        [30, () => this.overwrite(this.random.pick(own))],
        [5, () => this.delete()],
        [15, () => this.readSomething()],
        [4, () => this.provoke()],
      ])();
      // A refused connection costs nothing, and is not to be asked for without end.
      await pause(answer?.error ? Math.max(think, 50) : think);
    }
  }

  async create(kind: Creation['kind'], api = this.random.pick(this.apis)): Promise<Answer> {
    const marker = this.canaries.marker();
    const creation: Creation = { kind, marker, tenant: this.random.pick(this.tenants), outcome: 'unknown' };
    this.creations.push(creation);
    const path = kind === 'lead' ? '/api/v0/leads' : '/api/v0/industryEvents';
    const body = kind === 'lead' ? leadBody(marker, this.canaries) : industryEventBody(marker, this.canaries);
    const answer = await this.send(creation.tenant, { method: 'POST', path, body }, api);
    creation.outcome = outcomeOf(answer);
    if (isAcknowledged(answer)) {
      const results = answer.body?.results as { id: string } & { industryEvent: { id: string } };
      creation.stored = kind === 'lead' ? results : results.industryEvent;
    }
    return answer;
  }

  private async overwrite(register: Register): Promise<Answer> {
    const { asked, settle } = register.next();
    const answer = await this.send(register.tenant, asked);
    settle(outcomeOf(answer));
    return answer;
  }

  private async delete(): Promise<Answer | undefined> {
    const creation = this.creations.length ? this.random.pick(this.creations) : undefined;
    if (!creation?.stored || creation.kind !== 'lead' || creation.deleted) return undefined;
    creation.deleted = 'unknown';
    const answer = await this.send(creation.tenant, {
      method: 'DELETE',
      path: `/api/v0/leads/${creation.stored.id}`,
    });
    creation.deleted = outcomeOf(answer);
    return answer;
  }

  private readSomething(): Promise<Answer> {
    const path = this.random.pick([
      '/api/v0/leads?limit=20',
      '/api/v0/events?limit=20',
      `/api/v0/industryEvents?q=${encodeURIComponent(this.canaries.text())}`,
      `/api/v0/industryEvents?eventUrl=${encodeURIComponent(this.canaries.url())}`,
    ]);
    return this.send(this.random.pick(this.tenants), { method: 'GET', path });
  }

  private provoke(): Promise<Answer> {
    const taken = this.creations.filter(({ kind, stored }) => kind === 'industryEvent' && stored).slice(-2);
    return this.send(this.random.pick(this.tenants), provocation(this.random, this.canaries, taken));
  }

  private async send(tenant: Tenant, asked: Ask, api = this.random.pick(this.apis)): Promise<Answer> {
    const sent = performance.now();
    const answer = await ask(api.port, { key: tenant.key, ...asked });
    const what = String(answer.status ?? answer.error);
    this.answers.set(what, (this.answers.get(what) ?? 0) + 1);
    this.times.push({ sent, took: answer.took, failed: !answer.status || answer.status >= 500 });
    return answer;
  }
}

const outcomeOf = (answer: Answer): Outcome =>
  isAcknowledged(answer) ? 'acknowledged' : isUnknown(answer) ? 'unknown' : 'refused';

const leadBody = (marker: string, canaries: Canaries): object => ({
  createdByEmail: canaries.email(),
  firstName: canaries.text('first'),
  lastName: canaries.text('last'),
  companyName: canaries.text('company'),
  email: canaries.email(marker),
  phoneNumbers: [{ number: canaries.phone(), type: 'MOBILE', preferred: false }],
});

const industryEventBody = (marker: string, canaries: Canaries): object => ({
  ...{ name: canaries.text('name'), eventUrl: canaries.url(marker), website: canaries.url() },
  ...{ description: canaries.text('description'), venueCity: canaries.text('city'), venueName: canaries.text('venue') },
  ...{ venueFullAddress: canaries.text(), sourceId: canaries.text(), attendeeCost: canaries.text() },
  ...{ keywords: [canaries.text(), canaries.text()], startDate: '2030-01-01T00:00:00Z' },
});
