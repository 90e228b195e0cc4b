import type { ActivationRecord, LeadActivityEventRecord, SectionName, UserRecord } from './dataset';
import {
  checked,
  identified,
  latest,
  type Mention,
  part,
  Placed,
  refuseForeign,
  resolve,
  Scope,
} from './import.checks';
import { locationOf, writeEvents, writeTagGroups } from './import.events';
import { writeIndustryEvents } from './import.industry-events';
import { leadsWriter } from './import.leads';
import { recordStatements, Row, upsertStatement, write, writeRecords } from './upsert';

const USERS = upsertStatement({
  name: 'users',
  key: 'email',
  columns: { first_name: 'text', last_name: 'text' },
  inOrder: true,
  isList: false,
});

async function writeUsers(scope: Scope, batch: Placed<UserRecord>[]): Promise<void> {
  const users = latest(batch, ({ email }) => email);
  const rows = users.map(({ record }) => record);
  await write(scope, USERS, rows);
}

const ACTIVATIONS = upsertStatement({
  name: 'activations',
  key: 'id',
  columns: {
    event_id: 'bigint',
    created_by: 'text',
    name: 'text',
    type: 'text',
    start_date: 'date',
    end_date: 'date',
    start_time: 'time',
    end_time: 'time',
    location: 'jsonb',
    users: 'text[]',
    number_of_scans: 'integer',
  },
});

async function writeActivations(scope: Scope, batch: Placed<ActivationRecord>[]): Promise<void> {
  const activations = latest(batch, ({ id }) => id);
  const [, { event: events }] = await checked(
    () => refuseForeign(scope, 'activations', activations.map(identified)),
    () => resolve(scope, batch, { event: ({ event }) => [['event', event]] }),
  );
  const rows = activations.map(({ record }) => ({
    ...record,
    eventId: events.get(record.event),
    location: locationOf(record.location),
  }));
  await write(scope, ACTIVATIONS, rows);
}

const LEAD_ACTIVITY_EVENTS = recordStatements({
  name: 'lead_activity_events',
  key: 'id',
  conflict: 'id',
  columns: {
    created_by: 'text',
    event_type: 'text',
    event_notes: 'text',
    lead_id: 'uuid',
    campaign_id: 'uuid',
    event_id: 'bigint',
    activation_id: 'uuid',
    tag_option_id: 'uuid',
  },
});

async function writeLeadActivityEvents(scope: Scope, batch: Placed<LeadActivityEventRecord>[]): Promise<void> {
  const records = latest(batch, ({ id }) => id);
  const [parted, { event: events }] = await checked(
    () => part(scope, 'lead_activity_events', records),
    () => resolve(scope, batch, MENTIONS),
  );
  await writeRecords(scope, LEAD_ACTIVITY_EVENTS, parted, (some) => JSON.stringify(some.map((r) => rowOf(r, events))));
}

const rowOf = (
  {
    associatedLead: leadId,
    associatedCampaign: campaignId,
    associatedEvent: event,
    associatedActivation: activationId,
    associatedTagOption: tagOptionId,
    ...record
  }: LeadActivityEventRecord,
  events: Map<string, string>,
): Row => ({ ...record, leadId, campaignId, eventId: event ? events.get(event) : null, activationId, tagOptionId });

const mention = (path: string, key: string | null | undefined): Mention[] => (key ? [[path, key]] : []);

const MENTIONS = {
  lead: ({ associatedLead }: LeadActivityEventRecord) => mention('associatedLead', associatedLead),
  event: ({ associatedEvent }: LeadActivityEventRecord) => mention('associatedEvent', associatedEvent),
  activation: ({ associatedActivation }: LeadActivityEventRecord) =>
    mention('associatedActivation', associatedActivation),
  'tag option': ({ associatedTagOption }: LeadActivityEventRecord) =>
    mention('associatedTagOption', associatedTagOption),
};

type Writer = (batch: Placed<never>[]) => (scope: Scope) => Promise<void>;

const writer =
  <R>(write: (scope: Scope, batch: Placed<R>[]) => Promise<void>): Writer =>
  (batch) =>
  (scope) =>
    write(scope, batch);

/** How a batch of each section is written. What comes back is called when the batch before has been written. */
export const WRITERS: Record<SectionName, Writer> = {
  users: writer(writeUsers),
  tagGroups: writer(writeTagGroups),
  events: writer(writeEvents),
  activations: writer(writeActivations),
  leads: leadsWriter,
  leadActivityEvents: writer(writeLeadActivityEvents),
  industryEvents: writer(writeIndustryEvents),
};
