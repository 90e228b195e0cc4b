// What both servers to compare with send: a call of Redis and a prepared statement for each request, on Lanyard's tables.
// Settings: DATABASE_URL, REDIS_URL, and KEYS ({key: organizationId} as JSON).
import Redis from 'ioredis';
import pg from 'pg';

const { DATABASE_URL, REDIS_URL, KEYS } = process.env;
/** Organization ids by their keys. */
export const organizations = new Map(Object.entries(JSON.parse(KEYS)));
// As Lanyard does it: a generic plan, and the page size in the statement's text, or planning would cost as much again.
const pool = new pg.Pool({ connectionString: DATABASE_URL, max: 10, options: '-c plan_cache_mode=force_generic_plan' });

const array = (select) => `coalesce((select json_agg(row_to_json(child)) from (${select}) child), '[]')`;

/** Columns under their names in the API, so that created_by is createdBy; moments as ISO 8601 in UTC. */
const snake = (name) => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
const iso = (column) => `to_char(${column} at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`;
const as = (names, render = (column) => column) =>
  names.split(' ').map((name) => `${render(snake(name))} as "${name}"`);
const object = (columns) => `(select row_to_json(object) from (select ${columns}) object)`;

const leadsFrom = (rows) => `
  select id, ${as('createdAt', iso)},
    ${as('isEnriched firstName lastName email description linkedin facebook twitter jobTitle address')},
    ${object(`lead_provided_phone_numbers as "leadProvided", service_provided_phone_numbers as "serviceProvided"`)}
      as "phoneNumbers",
    ${object(`company_name as name, company_industry as industry, company_linkedin as linkedin,
      company_street_address as "streetAddress", company_city as city, company_state as state, company_zip as zip,
      company_country as country`)} as company,
    ${array(`select activation_id as "activationId", checked_in as "checkedIn", registered from lead_activations
      where organization_id = $1 and lead_id = lead.id order by position`)} as activations,
    ${array(`select tag_option_id as "tagOptionId", value from lead_tags t
      join tag_options o on o.organization_id = $1 and o.id = tag_option_id
      where t.organization_id = $1 and lead_id = lead.id order by position`)} as tags,
    coalesce((select json_agg(id order by position) from lead_activity_events
      where organization_id = $1 and lead_id = lead.id), '[]') as "leadActivityEvents",
    ${as('numberOfScans lastScannedBy remoteIds personalEmails professionalEmails')}
  from ${rows} lead`;

const activitiesFrom = (rows) => `
  select id, ${as('createdAt', iso)}, ${as('createdBy eventType eventNotes')},
    lead_id as "associatedLead", campaign_id as "associatedCampaign", event_id as "associatedEvent",
    activation_id as "associatedActivation", tag_option_id as "associatedTagOption"
  from ${rows} activity`;

const industryEventsFrom = (rows) => `
  select id, ${as('createdAt updatedAt startDate endDate', iso)},
    ${as('name sourceType sourceId eventType venueCity venueState venueCountry venueName venueFullAddress')},
    ${as('venueCoordinates numberOfAttendees numberOfExhibitors attendeeCost boothCost exhibitorIndustries')},
    ${as('attendeePersonas keywords website description eventUrl')}
  from ${rows} event`;

const LEADS = 'leads where organization_id = $1';
const LIST = [LEADS, 'position', leadsFrom];
const ACTIVITY = ['lead_activity_events where organization_id = $1 and lead_id = $2', 'position', activitiesFrom];
const SEARCH = [
  `industry_events where search @@ websearch_to_tsquery('search', $1)`,
  `ts_rank(search, replace(websearch_to_tsquery('search', $1)::text, '&', '|')::tsquery) desc, position`,
  industryEventsFrom,
];

const render = (select) => `select row_to_json(item)::text from (${select}) item`;
const ONE = render(leadsFrom(`(select * from ${LEADS} and id = $2)`));
const CREATE = `with made as (insert into leads (organization_id, created_by, first_name, last_name, company_name,
    email, lead_provided_phone_numbers) values ($1, $2, $3, $4, $5, $6, $7) returning *)
  ${render(leadsFrom('made'))}`;
const PATCH = `with changed as (update leads set job_title = $3, lead_provided_phone_numbers = $4
    where organization_id = $1 and id = $2 returning *)
  ${render(leadsFrom('changed'))}`;
// No row when the event, or a lead, is not the organization's. Written in the order of keys, so that nobody deadlocks.
const ASSOCIATE = `with given as (select * from unnest($3::uuid[], $4::boolean[], $5::boolean[]) with ordinality
      as given (id, registered, checked_in, place)),
    allowed as (select from events where organization_id = $1 and id = $2
      and not exists (select from given where not exists (select from ${LEADS} and id = given.id))),
    written as (insert into event_leads (organization_id, event_id, lead_id, registered, checked_in)
      select $1, $2, id, registered, checked_in from given, allowed order by id
      on conflict (organization_id, event_id, lead_id)
        do update set registered = excluded.registered, checked_in = excluded.checked_in)
  select (select string_agg(row_to_json(item)::text, ',' order by place) from given,
    lateral (select id as "leadId", registered, checked_in as "checkedIn") item) from allowed`;

async function first(name, text, values) {
  const { rows } = await pool.query({ name, text, values, rowMode: 'array' });
  return rows[0] ?? [];
}

async function one(name, text, values) {
  const [item] = await first(name, text, values);
  return item && `{"status":200,"results":${item}}`;
}

/** A page of a list: [rows to choose from, their order, the items that are made of them]. */
async function page(key, [from, order, itemsFrom], values, query) {
  const limit = Math.min(50, Number(query.get('limit') ?? 20));
  const offset = Number(query.get('offset') ?? 0);
  const rows = `(select * from ${from} order by ${order} limit ${limit} offset $${values.length + 1}::bigint * ${limit})`;
  const text = `select (select string_agg(row_to_json(item)::text, ',') from (${itemsFrom(rows)}) item),
    (select count(*) from ${from})`;
  const [items, total] = await first(`${key} ${limit}`, text, [...values, offset]);
  return `{"status":200,"pagination":{"limit":${limit},"offset":${offset}},"results":{"${key}":[${items ?? ''}],"total":${total}}}`;
}

/** The JSON of each route's response, undefined if there is no such record. `query` is a URLSearchParams. */
export const answers = {
  leads: (organization, query) => page('leads', LIST, [organization], query),
  lead: (organization, id) => one('lead', ONE, [organization, id]),
  activity: (organization, query) => page('leadActivityEvents', ACTIVITY, [organization, query.get('leadId')], query),
  search: (query) => page('industryEvents', SEARCH, [query.get('q')], query),
  create(organization, { createdByEmail, firstName, lastName, companyName, email, phoneNumbers }) {
    const values = [createdByEmail, firstName, lastName, companyName, email, JSON.stringify(phoneNumbers)];
    return one('create', CREATE, [organization, ...values]);
  },
  patch: (organization, id, { jobTitle, phoneNumbers }) =>
    one('patch', PATCH, [organization, id, jobTitle, JSON.stringify(phoneNumbers)]),
  async associate(organization, id, { eventLeads }) {
    const column = (name) => eventLeads.map((lead) => lead[name]);
    const values = [organization, id, column('leadId'), column('registered'), column('checkedIn')];
    const [items] = await first('associate', ASSOCIATE, values);
    return items && `{"status":200,"results":{"eventLeads":[${items}]}}`;
  },
};

/** A bucket of `max` tokens, refilled by `rate` a second: takes one, tells whether it was there and how many are left. */
const TAKE = `
  local max, rate, clock = tonumber(ARGV[1]), tonumber(ARGV[2]), redis.call('TIME')
  local now = clock[1] + clock[2] / 1000000
  local tokens, time = unpack(redis.call('HMGET', KEYS[1], 'tokens', 'time'))
  tokens = math.min(max, (tokens or max) + (now - (time or now)) * rate)
  local admitted = tokens >= 1
  if admitted then tokens = tokens - 1 end
  redis.call('HSET', KEYS[1], 'tokens', tokens, 'time', now)
  redis.call('PEXPIRE', KEYS[1], math.ceil((max - tokens) / rate * 1000) + 1000)
  return {admitted and 1 or 0, math.floor(tokens)}`;
const [MAX, RATE] = [9_000_000, 1_000_000];

const redis = REDIS_URL ? new Redis(REDIS_URL) : undefined;
redis?.defineCommand('take', { numberOfKeys: 1, lua: TAKE });

/**
 * Takes a token for a key, and says what is left. Without Redis it need not count: in the process that would cost next to
 * nothing.
 */
export async function takeToken(key) {
  const [admitted, left] = redis ? await redis.take(`minimal:${key}`, MAX, RATE) : [1, MAX];
  const reset = Math.ceil(Date.now() / 1000 + (MAX - left) / RATE);
  return {
    admitted: admitted === 1,
    headers: { 'X-RateLimit-Limit': MAX, 'X-RateLimit-Remaining': left, 'X-RateLimit-Reset': reset },
  };
}
