import type { LeadRecord } from './dataset';
import { ImportFault } from './import-fault';
import { checked, latest, type Mention, part, Placed, resolve, Scope } from './import.checks';
import {
  lastOfEach,
  linkStatements,
  recordset,
  recordStatements,
  renderAhead,
  Row,
  write,
  writeLinks,
  writeRecords,
} from './upsert';

const TEXTS = [
  'created_by',
  'first_name',
  'last_name',
  'email',
  'description',
  'linkedin',
  'facebook',
  'twitter',
  'job_title',
  'address',
  'profile_picture',
  'last_scanned_by',
  'personal_emails',
  'professional_emails',
  'company_name',
  'company_industry',
  'company_linkedin',
  'company_street_address',
  'company_city',
  'company_state',
  'company_zip',
  'company_country',
];

const LEADS = recordStatements({
  name: 'leads',
  key: 'id',
  columns: {
    ...Object.fromEntries(TEXTS.map((column) => [column, 'text'])),
    is_enriched: 'boolean',
    number_of_scans: 'integer',
    lead_provided_phone_numbers: 'jsonb',
    service_provided_phone_numbers: 'jsonb',
    remote_ids: 'jsonb',
  },
});

const LEAD_TAGS = linkStatements({
  name: 'lead_tags',
  owner: 'lead_id',
  target: 'tag_option_id',
  columns: { lead_id: 'uuid', tag_option_id: 'uuid', position: 'integer' },
});

const LEAD_ACTIVATIONS = linkStatements({
  name: 'lead_activations',
  owner: 'lead_id',
  target: 'activation_id',
  columns: {
    lead_id: 'uuid',
    activation_id: 'uuid',
    position: 'integer',
    registered: 'boolean',
    checked_in: 'boolean',
  },
});

const OF_LEADS = 'lead_tags_lead_fkey, lead_activations_lead_fkey';

const ASSOCIATION = {
  event_id: 'bigint',
  lead_id: 'uuid',
  associated_at: 'timestamptz',
  position: 'bigint',
  registered: 'boolean',
  checked_in: 'boolean',
};

/** As PUT /events/:eventId/leads: associations are added or overwritten, never removed, and keep their place. */
const EVENT_LEADS = `
  insert into event_leads (organization_id, event_id, lead_id, associated_at, registered, checked_in)
  select $1, r.event_id, r.lead_id,
    coalesce(r.associated_at, stored.associated_at, now() + r.position * interval '1 microsecond'),
    r.registered, r.checked_in
  from ${recordset(ASSOCIATION)}
  left join event_leads stored
    on stored.organization_id = $1 and stored.event_id = r.event_id and stored.lead_id = r.lead_id
  order by r.event_id, r.lead_id
  on conflict (organization_id, event_id, lead_id) do update
    set associated_at = excluded.associated_at, registered = excluded.registered, checked_in = excluded.checked_in
    where (event_leads.associated_at, event_leads.registered, event_leads.checked_in)
      is distinct from (excluded.associated_at, excluded.registered, excluded.checked_in)`;

const MENTIONS = {
  'tag option': ({ tags }: LeadRecord) => tags.map((t, i): Mention => [`tags[${i}].tagOptionId`, t.tagOptionId]),
  activation: ({ activations }: LeadRecord) =>
    activations.map((a, i): Mention => [`activations[${i}].activationId`, a.activationId]),
  event: ({ events }: LeadRecord) => events.map((e, i): Mention => [`events[${i}].event`, e.event]),
};

/** Rows are rendered at once, while PostgreSQL writes the batch before. */
export function leadsWriter(batch: Placed<LeadRecord>[]): (scope: Scope) => Promise<void> {
  const leads = latest(batch, ({ id }) => id);
  const records = leads.map(({ record }) => record);
  const rows = renderAhead(records, (lead) => [rowOf(lead)]);
  const tags = renderAhead(records, tagsOf);
  const activations = renderAhead(records, activationsOf);
  return async (scope) => {
    const [, parted, { event: events }] = await checked(
      async () => batch.forEach(refuseSecondRemoteId),
      () => part(scope, 'leads', leads),
      () => resolve(scope, batch, MENTIONS),
    );
    // What belongs to a lead is written before it, so that its document is rendered once.
    await scope.manager.query(`set constraints ${OF_LEADS} deferred`);
    await writeLinks(scope, LEAD_TAGS, parted, tags);
    await writeLinks(scope, LEAD_ACTIVATIONS, parted, activations);
    await writeRecords(scope, LEADS, parted, rows);
    await scope.manager.query(`set constraints ${OF_LEADS} immediate`);
    await write(scope, EVENT_LEADS, associationsOf(batch, events, scope));
  };
}

/** Each once: at its first place, as it stands last. */
function associationsOf(batch: Placed<LeadRecord>[], events: Map<string, string>, scope: Scope): Row[] {
  const all = new Map<string, { associatedAt?: string | null; position: number }>();
  for (const { record: lead } of batch) {
    for (const { event, associatedAt, ...association } of lead.events) {
      const key = `${lead.id} ${event}`;
      const first = all.get(key);
      const row = {
        ...association,
        eventId: events.get(event),
        leadId: lead.id,
        associatedAt: associatedAt ?? first?.associatedAt,
        position: first?.position ?? ++scope.associations,
      };
      all.set(key, row);
    }
  }
  return [...all.values()];
}

function refuseSecondRemoteId({ place, position, record: { remoteIds } }: Placed<LeadRecord>): void {
  const types = remoteIds.map(({ integrationType }) => integrationType);
  const second = types.findIndex((type, index) => types.indexOf(type) < index);
  if (second < 0) return;
  throw new ImportFault(`${place}.remoteIds[${second}].integrationType: a lead has one of each`, position);
}

const tagsOf = ({ id: leadId, tags }: LeadRecord) =>
  lastOfEach(tags, ({ tagOptionId }) => tagOptionId).map((tag, position) => ({ ...tag, leadId, position }));

const activationsOf = ({ id: leadId, activations }: LeadRecord) =>
  lastOfEach(activations, ({ activationId }) => activationId).map((activation, position) => ({
    ...activation,
    leadId,
    position,
  }));

/** What belongs to a lead in other tables is not sent once more. */
const rowOf = ({ company, phoneNumbers, ...lead }: LeadRecord) => ({
  ...lead,
  tags: undefined,
  activations: undefined,
  events: undefined,
  companyName: company?.name,
  companyIndustry: company?.industry,
  companyLinkedin: company?.linkedin,
  companyStreetAddress: company?.streetAddress,
  companyCity: company?.city,
  companyState: company?.state,
  companyZip: company?.zip,
  companyCountry: company?.country,
  leadProvidedPhoneNumbers: phoneNumbers?.leadProvided ?? [],
  serviceProvidedPhoneNumbers: phoneNumbers?.serviceProvided ?? [],
});
