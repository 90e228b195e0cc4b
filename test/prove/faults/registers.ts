import type { Answer, Ask } from '../support/ask';
import type { Canaries } from './canaries';
import type { Tenant } from './cluster';

/** PostgreSQL may still carry out a statement for so long after its client went away. */
const LATE_MS = 5_000;

export type Outcome = 'acknowledged' | 'unknown' | 'refused';

interface Place {
  name: string;
  read: Ask;
  /** sets several fields, of which each shows the version */
  write(version: number): Ask;
  /** what a version looks like when it is read */
  shown(version: number): string;
  /** what was read; it is like `shown` of a version, unless half of a write was done */
  found(results: unknown): string;
}

/** A place that one writer overwrites again and again. */
export class Register {
  private readonly writes: { version: number; outcome: Outcome; sent: number }[] = [];

  constructor(
    readonly tenant: Tenant,
    readonly place: Place,
  ) {}

  get acknowledged(): number {
    return this.writes.filter(({ outcome }) => outcome === 'acknowledged').length;
  }

  /** The next write, and what to call with its outcome. */
  next(): { asked: Ask; settle: (outcome: Outcome) => void } {
    const write = { version: this.writes.length + 1, outcome: 'unknown' as Outcome, sent: performance.now() };
    this.writes.push(write);
    return { asked: this.place.write(write.version), settle: (outcome) => void (write.outcome = outcome) };
  }

  /** What is wrong with what is stored: it must be the last acknowledged write, or an unknown one after it. */
  fault({ status, body }: Answer): { kind: 'lost' | 'half'; text: string } | undefined {
    const last = this.writes.findLast(({ outcome }) => outcome === 'acknowledged');
    if (!last) return undefined;
    const found = status === 200 ? this.place.found(body?.results) : `status ${status}`;
    const isShown = ({ version }: { version: number }): boolean => this.place.shown(version) === found;
    const later = this.writes.filter(({ outcome, sent }) => outcome === 'unknown' && sent > last.sent - LATE_MS);
    if ([last, ...later].some(isShown)) return undefined;
    const text = `${this.place.name}: ${found} in place of ${this.place.shown(last.version)}`;
    return { kind: this.writes.some(isShown) ? 'lost' : 'half', text };
  }
}

/** The flags of all leads of an event, which one PUT sets. */
export function flagsOf(event: number, leads: string[]): Place {
  const flags = (version: number) => ({ registered: version % 2 === 1, checkedIn: version % 4 > 1 });
  const textOf = ({ registered, checkedIn }: ReturnType<typeof flags>): string => `${registered}/${checkedIn}`;
  const path = `/api/v0/events/${event}/leads`;
  return {
    name: 'flags of an event',
    read: { method: 'GET', path: `${path}?limit=50` },
    write: (version) => ({
      method: 'PUT',
      path,
      body: { eventLeads: leads.map((leadId) => ({ leadId, ...flags(version) })) },
    }),
    shown: (version) => leads.map(() => textOf(flags(version))).join(' '),
    found: (results) => (results as { eventLeads: ReturnType<typeof flags>[] }).eventLeads.map(textOf).join(' '),
  };
}

/** Fields of a lead, which one PATCH sets. */
export function fieldsOf(lead: string, { word, digits }: Canaries): Place {
  const fields = ['firstName', 'lastName', 'jobTitle', 'description', 'address', 'linkedin', 'facebook', 'twitter'];
  const path = `/api/v0/leads/${lead}`;
  return {
    name: 'fields of a lead',
    read: { method: 'GET', path },
    write: (version) => ({
      method: 'PATCH',
      path,
      body: {
        ...Object.fromEntries(fields.map((field) => [field, `${word} v${version}`])),
        phoneNumbers: [{ number: `+${digits} v${version}`, type: 'MOBILE', preferred: true }],
        remoteId: { id: `${word} v${version}`, integrationType: 'WEBHOOK' },
      },
    }),
    shown: (version) => Array.from({ length: fields.length + 2 }, () => `v${version}`).join(' '),
    found: (results) => (JSON.stringify(results).match(/\bv\d+\b/g) ?? []).join(' '),
  };
}
