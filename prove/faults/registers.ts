import type { Canaries } from './canaries';
import type { Tenant } from './cluster';
import type { Answer, Ask } from './http';

/** Milliseconds for which PostgreSQL may still carry out a statement whose client has gone away. */
const LATE = 5_000;

interface Write {
  version: number;
  outcome: 'acknowledged' | 'unknown' | 'refused';
  sent: number;
}

/**
 * A place that one writer overwrites again and again, with a version that shows in several fields, so that half of a
 * write is visible.
 */
export abstract class Register {
  private readonly writes: Write[] = [];

  constructor(
    readonly tenant: Tenant,
    protected readonly canaries: Canaries,
  ) {}

  abstract readonly name: string;
  protected abstract put(version: number): Ask;
  abstract get(): Ask;
  /** What a version looks like when it is read. */
  protected abstract shown(version: number): string;
  /** What is read; it equals `shown` of a version, unless the write was torn. */
  protected abstract read(results: unknown): string;

  get acknowledged(): number {
    return this.writes.filter(({ outcome }) => outcome === 'acknowledged').length;
  }

  /** The next write, and what to call with its outcome. */
  next(): { asked: Ask; settle: (outcome: Write['outcome']) => void } {
    const write: Write = { version: this.writes.length + 1, outcome: 'unknown', sent: performance.now() };
    this.writes.push(write);
    return { asked: this.put(write.version), settle: (outcome) => void (write.outcome = outcome) };
  }

  /** What is wrong with what is stored now: undefined when it is the last acknowledged write, or an unknown one. */
  fault({ status, body }: Answer): { kind: 'lost' | 'half'; text: string } | undefined {
    const last = this.writes.findLast(({ outcome }) => outcome === 'acknowledged');
    if (!last) return undefined;
    const found = status === 200 ? this.read(body?.results) : `status ${status}`;
    const later = this.writes.filter(({ outcome, sent }) => outcome === 'unknown' && sent > last.sent - LATE);
    if ([last, ...later].some(({ version }) => this.shown(version) === found)) return undefined;
    const known = this.writes.some(({ version }) => this.shown(version) === found);
    const text = `${this.name}: ${found} in place of ${this.shown(last.version)}`;
    return { kind: known ? 'lost' : 'half', text };
  }
}

/** The flags of all leads of an event, which one PUT sets. */
export class Flags extends Register {
  readonly name = 'flags of an event';

  constructor(
    tenant: Tenant,
    canaries: Canaries,
    private readonly event: number,
    private readonly leads: string[],
  ) {
    super(tenant, canaries);
  }

  protected put(version: number): Ask {
    const flags = { registered: version % 2 === 1, checkedIn: version % 4 > 1 };
    const eventLeads = this.leads.map((leadId) => ({ leadId, ...flags }));
    return { method: 'PUT', path: `/api/v0/events/${this.event}/leads`, body: { eventLeads } };
  }

  get(): Ask {
    return { method: 'GET', path: `/api/v0/events/${this.event}/leads?limit=50` };
  }

  protected shown(version: number): string {
    return Array.from(this.leads, () => `${version % 2 === 1}/${version % 4 > 1}`).join(' ');
  }

  protected read(results: unknown): string {
    const { eventLeads } = results as { eventLeads: { registered: boolean; checkedIn: boolean }[] };
    return eventLeads.map(({ registered, checkedIn }) => `${registered}/${checkedIn}`).join(' ');
  }
}

/** Fields of a lead, which one PATCH sets. */
export class LeadFields extends Register {
  readonly name = 'fields of a lead';

  constructor(
    tenant: Tenant,
    canaries: Canaries,
    private readonly lead: string,
  ) {
    super(tenant, canaries);
  }

  protected put(version: number): Ask {
    const value = `${this.canaries.word} v${version}`;
    const body = {
      ...{ firstName: value, lastName: value, jobTitle: value, description: value, address: value },
      ...{ linkedin: value, facebook: value, twitter: value, profilePicture: value },
      email: `${this.canaries.word}.v${version}@example.org`,
      phoneNumbers: [{ number: `+${this.canaries.digits} v${version}`, type: 'MOBILE', preferred: true }],
      remoteId: { id: value, integrationType: 'WEBHOOK' },
    };
    return { method: 'PATCH', path: `/api/v0/leads/${this.lead}`, body };
  }

  get(): Ask {
    return { method: 'GET', path: `/api/v0/leads/${this.lead}` };
  }

  protected shown(version: number): string {
    return Array.from({ length: 11 }, () => `v${version}`).join(' ');
  }

  protected read(results: unknown): string {
    return (JSON.stringify(results).match(/\bv\d+\b/g) ?? []).join(' ');
  }
}

/** The whole record of an event, which a PUT replaces. */
export class EventRecord extends Register {
  readonly name = 'record of an event';

  constructor(
    tenant: Tenant,
    canaries: Canaries,
    private readonly event: number,
  ) {
    super(tenant, canaries);
  }

  protected put(version: number): Ask {
    const [eventName, registrationEnabled, startDate] = this.fields(version);
    const body = { eventName, eventType: 'DINNER_MEAL', startDate, endDate: startDate, registrationEnabled };
    return { method: 'PUT', path: `/api/v0/events/${this.event}`, body };
  }

  get(): Ask {
    return { method: 'GET', path: `/api/v0/events/${this.event}` };
  }

  protected shown(version: number): string {
    return this.fields(version).join(' ');
  }

  protected read(results: unknown): string {
    const { name, registrationEnabled, startDate } = results as Record<string, unknown>;
    return [name, registrationEnabled, startDate].join(' ');
  }

  private fields(version: number): [string, boolean, string] {
    const day = new Date(Date.UTC(2030, 0, 1 + version)).toISOString().slice(0, 10);
    return [`${this.canaries.word} v${version}`, version % 2 === 1, day];
  }
}
