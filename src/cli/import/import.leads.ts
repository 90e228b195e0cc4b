import type { EntityManager } from 'typeorm';
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

/** Associations wait here for the end of the dataset: an event's list is in the order of their moments. */
const STAGE = `
  create temporary table staged_event_leads (
    event_id bigint, lead_id uuid, associated_at timestamptz, position bigint, registered boolean, checked_in boolean
  ) on commit drop`;

const STAGE_ROWS = `
  insert into staged_event_leads select ${Object.keys(ASSOCIATION).join(', ')}
  from ${recordset(ASSOCIATION)} where $1::integer is not null`;

/** As PUT /events/:eventId/leads: associations are added or overwritten, never removed, and keep their place. */
const EVENT_LEADS = `
  with given as materialized (
    select event_id, lead_id, min(position) as place,
      (array_agg(associated_at order by position desc) filter (where associated_at is not null))[1] as associated_at,
      (array_agg(registered order by position desc))[1] as registered,
      (array_agg(checked_in order by position desc))[1] as checked_in
    from staged_event_leads group by event_id, lead_id
  ), known as materialized (
    select g.event_id, g.lead_id, g.registered, g.checked_in, s.position as stored_position,
      coalesce(g.associated_at, s.associated_at, now() + g.place * interval '1 microsecond') as associated_at,
      row_number() over (
        partition by g.event_id, s.position is null order by coalesce(g.associated_at, now()), g.place
      ) - 1 as nth
    from given g left join event_leads s
      on s.organization_id = $1 and s.event_id = g.event_id and s.lead_id = g.lead_id
  ), taken as materialized (
    select event_id, list_take($1, 'event_leads/' || event_id, count(*)) as start
    from known where stored_position is null group by event_id order by event_id
  )
  insert into event_leads (organization_id, event_id, lead_id, position, associated_at, registered, checked_in)
  select $1, k.event_id, k.lead_id, coalesce(k.stored_position, t.start + k.nth), k.associated_at, k.registered, k.checked_in
  from known k left join taken t on t.event_id = k.event_id
  order by k.event_id, k.lead_id
  on conflict (organization_id, event_id, lead_id) do update
    set associated_at = excluded.associated_at, registered = excluded.registered, checked_in = excluded.checked_in
    where (event_leads.associated_at, event_leads.registered, event_leads.checked_in)
      is distinct from (excluded.associated_at, excluded.registered, excluded.checked_in)`;

/** The beginning of an import. */
export const stageAssociations = (manager: EntityManager): Promise<unknown> => manager.query(STAGE);

/** The end of the dataset. */
export async function writeAssociations({ manager, organizationId }: Scope): Promise<void> {
  await manager.query('analyze staged_event_leads');
  await manager.query(EVENT_LEADS, [organizationId]);
}

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
    await write(scope, STAGE_ROWS, associationsOf(batch, events, scope));
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
