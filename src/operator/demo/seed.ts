import { createHash } from 'node:crypto';
import { uuidV7 } from '../../data/database/uuid';
import type { RawRecord } from '../../exchange/datasets/dataset';
import { DEMO_RECORDS } from './demo';

/** The records of the demo, which are multiplied. */
const DEMO = DEMO_RECORDS as unknown as {
  users: object[];
  tagGroups: { id: string; tagOptions: { id: string }[] }[];
  events: { name: string; tagGroups: string[] }[];
  activations: { type: string }[];
  leads: { lastName: string; tags: { tagOptionId: string }[] }[];
  leadActivityEvents: object[];
};

const HOUR_MS = 3_600_000;
/** The records are of these three years, but for the last event. */
const START = Date.parse('2023-07-01');
const YEARS_MS = 3 * 365 * 24 * HOUR_MS;

const iso = (at: number): string => new Date(at).toISOString();
const cycle = <T>(all: readonly T[], n: number): T => all[n % all.length]!;

/** Generates the records of a made-up organization in constant memory. Each record comes after those that it refers to. */
export function* inventedRecords(organizationId: number, leads: number): Generator<RawRecord> {
  const createdAt = iso(START);
  const idOf = (name: string, at = START): string =>
    uuidV7(at, createHash('sha256').update(`${organizationId} ${name}`).digest());
  for (const user of DEMO.users) yield { section: 'users', record: { ...user, createdAt } };
  for (const group of DEMO.tagGroups) {
    const tagOptions = group.tagOptions.map((option) => ({ ...option, id: idOf(option.id) }));
    yield { section: 'tagGroups', record: { ...group, id: idOf(group.id), createdAt, tagOptions } };
  }
  const intervals = 2 + Math.min(400, Math.round(leads / 400));
  const dayOf = (n: number): string => iso(START + ((n + 0.5) * YEARS_MS) / intervals).slice(0, 10);
  for (let n = 0; n <= intervals; n++) {
    const day = dayOf(n);
    const dates = { createdAt, startDate: day, endDate: day };
    const event = cycle(DEMO.events, n);
    const name = `${event.name} ${day.slice(0, 4)}`;
    const tagGroups = event.tagGroups.map((id) => idOf(id));
    yield { section: 'events', record: { ...event, ...dates, ref: `seed-${n}`, name, tagGroups } };
    const activation = cycle(DEMO.activations, n);
    const place = { id: idOf(`activation ${n}`), event: `seed-${n}`, name: `${name}: ${activation.type}` };
    yield { section: 'activations', record: { ...activation, ...dates, ...place } };
  }
  for (let n = 0; n < leads; n++) {
    // Leads are in chronological order, and later events bring more of them.
    const place = intervals * Math.sqrt(n / leads);
    const nth = Math.floor(place);
    const at = Date.parse(dayOf(nth)) + Math.floor((9 + 9 * (place % 1)) * HOUR_MS);
    const [id, event, createdAt] = [idOf(`lead ${n}`, at), `seed-${nth}`, iso(at)];
    const lead = cycle(DEMO.leads, n);
    const record = {
      ...lead,
      id,
      createdAt,
      // Each first name meets each last name.
      lastName: cycle(DEMO.leads, n + Math.floor(n / DEMO.leads.length)).lastName,
      email: n % 10 === 0 ? null : `lead${n + 1}@visitor.example`,
      tags: lead.tags.map(({ tagOptionId }) => ({ tagOptionId: idOf(tagOptionId) })),
      activations: [{ activationId: idOf(`activation ${nth}`), registered: true, checkedIn: true }],
      events: [{ event, registered: n % 2 === 0, checkedIn: true, associatedAt: createdAt }],
      remoteIds: [{ id: `003-${n + 1}`, integrationType: 'SALES_FORCE' }],
    };
    yield { section: 'leads', record };
    if (n % 5 === 0) continue;
    const about = { associatedLead: id, associatedEvent: event, associatedActivation: null, associatedTagOption: null };
    const activity = { ...cycle(DEMO.leadActivityEvents, n), ...about, id: idOf(`activity ${n}`, at), createdAt };
    yield { section: 'leadActivityEvents', record: activity };
  }
}
