-- Every prepared statement as it is sent. npm run sql writes this file.

-- access.service.ADD_USAGE: $1 uuid[], $2 integer[]
with uses as (select * from unnest($1::uuid[], $2::integer[]) as u(id, requests)),
  noted as (update api_keys k set last_used_at = now() from uses where k.id = uses.id returning k.id),
  swept as (delete from key_usage where minute < now() - interval '1 day')
insert into key_usage (api_key_id, minute, requests)
select id, date_trunc('minute', now()), requests from uses join noted using (id) order by id
on conflict (api_key_id, minute) do update set requests = key_usage.requests + excluded.requests;

-- access.service.FIND_KEYS: $1 bytea[]
select encode(hash, 'base64') as hash, id as "keyId", organization_id as "organizationId", max_tokens as "maxTokens",
  refill_rate::float8 as "refillRate", simulate,
  coalesce(extract(epoch from expires_at) * 1000, 'infinity')::float8 as "expiresAt"
from api_keys where hash = any($1) and revoked_at is null;

-- activation.get: $1 integer, $2 uuid ($1 is the organization)
select (select row_to_json(o)::text from (select id, event_id as "eventId", name, iso_utc(created_at) as "createdAt", type, start_date as "startDate",
    end_date as "endDate", start_time as "startTime", end_time as "endTime", created_by as "createdBy",
    location, users, number_of_scans as "numberOfScans") o) from activations where organization_id = $1 and id = $2;

-- activations first page: $1 integer, $2 bigint ($1 is the organization)
select page.json, counted.total
from (select coalesce((select rows from list_counts
  where (organization_id, list, shift, bucket) = ($1, 'activations', 40, 0)), 0) as total ) counted
  left join lateral (select (select row_to_json(o)::text from (select id, event_id as "eventId", name, iso_utc(created_at) as "createdAt", type, start_date as "startDate",
  end_date as "endDate", start_time as "startTime", end_time as "endTime", created_by as "createdBy",
  location, users, number_of_scans as "numberOfScans") o) as json, position from (select * from (select * from activations where organization_id = $1 order by position limit 50) activations order by position limit $2::bigint) activations) page on true
order by page.position;

-- activations page: $1 integer, $2 bigint, $3 bigint ($1 is the organization)
select page.json, counted.total
from (select coalesce((select rows from list_counts
  where (organization_id, list, shift, bucket) = ($1, 'activations', 40, 0)), 0) as total ) counted cross join list_seek($1, 'activations', $3::bigint * $2::bigint) seek
  left join lateral (select (select row_to_json(o)::text from (select id, event_id as "eventId", name, iso_utc(created_at) as "createdAt", type, start_date as "startDate",
  end_date as "endDate", start_time as "startTime", end_time as "endTime", created_by as "createdBy",
  location, users, number_of_scans as "numberOfScans") o) as json, position from (select * from (select * from activations where organization_id = $1 and position >= (select position from activations where organization_id = $1 and position >= seek.start order by position limit 1 offset seek.rest) order by position limit 50) activations order by position limit $2::bigint) activations) page on true
order by page.position;

-- changes.claim: $1 integer, $2 boolean
select claim_log($1, $2);

-- changes.log: $1 integer, $2 jsonb ($1 is the organization)
select json_build_object('database', state.database, 'secret', state.secret, 'isForeign', state.is_foreign,
  'generation', state.generation, 'nextXid', greatest(pg_snapshot_xmax(pg_current_snapshot())::text::bigint,
  pg_current_xact_id_if_assigned()::text::bigint + 1), 'open', (select coalesce(json_agg(xid::text::bigint order by xid), '[]') from pg_snapshot_xip(pg_current_snapshot()) xid), 'anchor', (
  select json_build_array(resource, xid, seq, iso_utc(at)) from jsonb_to_recordset($2::jsonb) followed (number smallint) cross join lateral (
    select * from changes where organization_id = $1 and resource = number order by xid desc, seq desc limit 1) newest
  order by xid desc, seq desc limit 1))::text
from (select) one left join lateral (
  select own.database, encode(secret, 'hex') as secret, database_identity is distinct from own.database as is_foreign,
    case when not pg_is_in_recovery() then md5(concat_ws(' ', own.database,
      left(pg_walfile_name(pg_current_wal_lsn()), 8), 'changes'::regclass::oid, generation)) end as generation
  from changes_key, (select (
select concat_ws('/', system_identifier, oid) from pg_control_system(), pg_database where datname = current_database()) as database offset 0) own) state on true;

-- changes.positions: $1 integer, $2 text ($1 is the organization)
select positions from cursor_positions where organization_id = $1 and hash = decode($2, 'hex');

-- changes.sql.PRUNE_POSITIONS: $1 double precision, $2 bigint
with old as (
  select ctid from cursor_positions where used_at < now() - $1 * interval '1 day' limit $2 for update skip locked
)
delete from cursor_positions where ctid = any(array(select ctid from old)) returning 1;

-- changes.reset: 
update changes_key set generation = generation + 1 returning generation::text;

-- changes.secret: 
select encode(secret, 'hex') from changes_key;

-- changes.store positions: $1 integer, $2 text, $3 text ($1 is the organization)
insert into cursor_positions as p (organization_id, hash, positions) values ($1, decode($2, 'hex'), $3)
on conflict (organization_id, hash) do update set used_at = now() where p.used_at < now() - interval '1 hour';

-- changes.sql.SWEEP: $1 double precision, $2 bigint
with recursive logs as (
  (select organization_id, resource from changes order by 1, 2 limit 1)
  union all
  select next.* from logs cross join lateral (
    select organization_id, resource from changes c
    where (c.organization_id, c.resource) > (logs.organization_id, logs.resource) order by 1, 2 limit 1) next
), old as (
  select organization_id, resource, xid, seq from logs cross join lateral (
    select xid, seq, operation, is_old, lead(is_old) over (order by xid, seq) as is_next_old
    from (
      select c.*, bool_and(at < now() - $1 * interval '1 day') over (order by xid, seq) as is_old from changes c
      where c.organization_id = logs.organization_id and c.resource = logs.resource
        and xid < pg_snapshot_xmin(pg_current_snapshot())::text::bigint order by xid, seq limit $2
    ) oldest) each
  where is_old and (operation <> 's' or is_next_old) limit $2
), mark as (
  select distinct on (organization_id, resource) * from old order by organization_id, resource, xid desc, seq desc
), marked as (
  update changes c set operation = 's', remote_ids = null from mark m
  where (c.organization_id, c.resource, c.xid, c.seq) = (m.organization_id, m.resource, m.xid, m.seq)
    and c.operation <> 's'
), swept as (
  delete from changes c using mark m
  where (c.organization_id, c.resource) = (m.organization_id, m.resource) and (c.xid, c.seq) < (m.xid, m.seq)
)
select from old;

-- idempotent-answers.CLAIM: $1 text, $2 text, $3 bytea
select free, fingerprint = $3 as same, answer, status, headers
from (select pg_try_advisory_xact_lock(hashtextextended($1 || ' ' || $2, 0)) as free) lock
  left join idempotent_answers on api_key_id = $1::uuid and idempotency_key = $2 and created_at > now() - interval '24 hours';

-- idempotent-answers.HAS_ROOM: $1 uuid
select coalesce(sum(pg_column_size(answer)), 0) < 268435456 as "hasRoom" from idempotent_answers
where api_key_id = $1 and octet_length(answer) > 16384 and created_at > now() - interval '24 hours';

-- idempotent-answers.STORE: $1 uuid, $2 text, $3 bytea, $4 text, $5 smallint, $6 jsonb
insert into idempotent_answers as a (api_key_id, idempotency_key, fingerprint, answer, status, headers)
values ($1, $2, $3, $4, $5, $6)
on conflict (api_key_id, idempotency_key) do update
  set fingerprint = excluded.fingerprint, answer = excluded.answer, status = excluded.status,
    headers = excluded.headers, created_at = excluded.created_at
  where a.created_at <= now() - interval '24 hours'
returning 1;

-- idempotent-answers.SWEEP: 
with old as (
  select api_key_id, idempotency_key from idempotent_answers where created_at <= now() - interval '24 hours'
  order by created_at limit 1000 for update skip locked
)
delete from idempotent_answers a using old
where a.api_key_id = old.api_key_id and a.idempotency_key = old.idempotency_key returning 1;

-- event.leads.associate: $1 integer, $2 bigint, $3 uuid[], $4 boolean[], $5 boolean[] ($1 is the organization)
with event as (select id from events where organization_id = $1 and id = $2 for no key update),
  given as (
    select * from unnest($3::uuid[], $4::boolean[], $5::boolean[]) with ordinality as g (lead_id, registered, checked_in, n)
  ),
  known as (
    select from event
    where cardinality($3) = (select count(*) from given g join leads l on l.organization_id = $1 and l.id = g.lead_id)
  ),
  overwritten as (
    update event_leads e set registered = g.registered, checked_in = g.checked_in
    from given g, known
    where e.organization_id = $1 and e.event_id = $2 and e.lead_id = g.lead_id
      and (e.registered, e.checked_in) is distinct from (g.registered, g.checked_in)
  ),
  fresh as materialized (
    select g.*, row_number() over (order by n) - 1 as nth from given g, known
    where not exists (select from event_leads e
      where e.organization_id = $1 and e.event_id = $2 and e.lead_id = g.lead_id)
  ),
  taken as materialized (
    select list_take($1, 'event_leads/' || $2, count(*)) as start from fresh having count(*) > 0
  ),
  added as (
    insert into event_leads as e (organization_id, event_id, lead_id, position, associated_at, registered, checked_in)
    select $1, $2, lead_id, start + nth, clock_timestamp() + nth * interval '1 microsecond', registered, checked_in
    from fresh, taken
    -- another request may have added it since this one began, and had the event's lock
    on conflict (organization_id, event_id, lead_id)
      do update set registered = excluded.registered, checked_in = excluded.checked_in
  )
select '[' || coalesce((select string_agg((select row_to_json(o)::text from (select lead_id as "leadId", registered, checked_in as "checkedIn") o), ',' order by n) from given event_leads), '') || ']'
where exists (select from known);

-- event.delete: $1 integer, $2 bigint ($1 is the organization)
delete from events where (select pg_advisory_xact_lock(1767225600, $1)) is not null and organization_id = $1 and id = $2;

-- event.leads.dissociate: $1 integer, $2 bigint, $3 uuid ($1 is the organization)
delete from event_leads where organization_id = $1 and event_id = $2 and lead_id = $3;

-- event_leads first page: $1 integer, $2 bigint, $3 bigint ($1 is the organization)
select page.json, counted.total
from (select coalesce((select rows from list_counts
  where (organization_id, list, shift, bucket) = ($1, 'event_leads' || '/' || $2::bigint, 40, 0)), 0) as total where exists (select from events where organization_id = $1 and id = $2)) counted
  left join lateral (select (select row_to_json(o)::text from (select lead_id as "leadId", registered, checked_in as "checkedIn") o) as json, position from (select * from (select * from event_leads where organization_id = $1 and event_id = $2::bigint order by position limit 50) event_leads order by position limit $3::bigint) event_leads) page on true
order by page.position;

-- event_leads page: $1 integer, $2 bigint, $3 bigint, $4 bigint ($1 is the organization)
select page.json, counted.total
from (select coalesce((select rows from list_counts
  where (organization_id, list, shift, bucket) = ($1, 'event_leads' || '/' || $2::bigint, 40, 0)), 0) as total where exists (select from events where organization_id = $1 and id = $2)) counted cross join list_seek($1, 'event_leads' || '/' || $2::bigint, $4::bigint * $3::bigint) seek
  left join lateral (select (select row_to_json(o)::text from (select lead_id as "leadId", registered, checked_in as "checkedIn") o) as json, position from (select * from (select * from event_leads where organization_id = $1 and event_id = $2::bigint and position >= (select position from event_leads where organization_id = $1 and event_id = $2::bigint and position >= seek.start order by position limit 1 offset seek.rest) order by position limit 50) event_leads order by position limit $3::bigint) event_leads) page on true
order by page.position;

-- event_users first page: $1 integer, $2 bigint, $3 bigint ($1 is the organization)
select page.json, counted.total
from (select coalesce((select rows from list_counts
  where (organization_id, list, shift, bucket) = ($1, 'event_users' || '/' || $2::bigint, 40, 0)), 0) as total where exists (select from events where organization_id = $1 and id = $2)) counted
  left join lateral (select (select (select row_to_json(o)::text from (select id, email, first_name as "firstName", last_name as "lastName") o) from users where users.organization_id = event_users.organization_id and users.id = event_users.user_id) as json, position from (select * from (select * from event_users where organization_id = $1 and event_id = $2::bigint order by position limit 50) event_users order by position limit $3::bigint) event_users) page on true
order by page.position;

-- event_users page: $1 integer, $2 bigint, $3 bigint, $4 bigint ($1 is the organization)
select page.json, counted.total
from (select coalesce((select rows from list_counts
  where (organization_id, list, shift, bucket) = ($1, 'event_users' || '/' || $2::bigint, 40, 0)), 0) as total where exists (select from events where organization_id = $1 and id = $2)) counted cross join list_seek($1, 'event_users' || '/' || $2::bigint, $4::bigint * $3::bigint) seek
  left join lateral (select (select (select row_to_json(o)::text from (select id, email, first_name as "firstName", last_name as "lastName") o) from users where users.organization_id = event_users.organization_id and users.id = event_users.user_id) as json, position from (select * from (select * from event_users where organization_id = $1 and event_id = $2::bigint and position >= (select position from event_users where organization_id = $1 and event_id = $2::bigint and position >= seek.start order by position limit 1 offset seek.rest) order by position limit 50) event_users order by position limit $3::bigint) event_users) page on true
order by page.position;

-- event.get: $1 integer, $2 bigint ($1 is the organization)
select (select row_to_json(o)::text from (select id, name, type, registration_enabled as "registrationEnabled", iso_utc(created_at) as "createdAt",
    start_date as "startDate", end_date as "endDate", location,
    coalesce((select json_agg(t.tag_group_id order by t.position) from event_tag_groups t
    where t.organization_id = events.organization_id and t.event_id = events.id), '[]') as "tagGroups") o) from events where organization_id = $1 and id = $2;

-- events first page: $1 integer, $2 bigint ($1 is the organization)
select page.json, counted.total
from (select coalesce((select rows from list_counts
  where (organization_id, list, shift, bucket) = ($1, 'events', 40, 0)), 0) as total ) counted
  left join lateral (select (select row_to_json(o)::text from (select id, name, type, registration_enabled as "registrationEnabled", iso_utc(created_at) as "createdAt",
  start_date as "startDate", end_date as "endDate", location,
  coalesce((select json_agg(t.tag_group_id order by t.position) from event_tag_groups t
  where t.organization_id = events.organization_id and t.event_id = events.id), '[]') as "tagGroups") o) as json, position from (select * from (select * from events where organization_id = $1 order by position limit 50) events order by position limit $2::bigint) events) page on true
order by page.position;

-- events page: $1 integer, $2 bigint, $3 bigint ($1 is the organization)
select page.json, counted.total
from (select coalesce((select rows from list_counts
  where (organization_id, list, shift, bucket) = ($1, 'events', 40, 0)), 0) as total ) counted cross join list_seek($1, 'events', $3::bigint * $2::bigint) seek
  left join lateral (select (select row_to_json(o)::text from (select id, name, type, registration_enabled as "registrationEnabled", iso_utc(created_at) as "createdAt",
  start_date as "startDate", end_date as "endDate", location,
  coalesce((select json_agg(t.tag_group_id order by t.position) from event_tag_groups t
  where t.organization_id = events.organization_id and t.event_id = events.id), '[]') as "tagGroups") o) as json, position from (select * from (select * from events where organization_id = $1 and position >= (select position from events where organization_id = $1 and position >= seek.start order by position limit 1 offset seek.rest) order by position limit 50) events order by position limit $2::bigint) events) page on true
order by page.position;

-- industryEvents.bookmarks: $1 integer ($1 is the organization)
select (select row_to_json(o)::text from (select id, iso_utc(created_at) as "createdAt", iso_utc(updated_at) as "updatedAt", name,
iso_utc(start_date) as "startDate", iso_utc(end_date) as "endDate", source_type as "sourceType",
source_id as "sourceId", event_type as "eventType", venue_city as "venueCity",
venue_state as "venueState", venue_country as "venueCountry", venue_name as "venueName",
venue_full_address as "venueFullAddress", venue_coordinates as "venueCoordinates",
number_of_attendees as "numberOfAttendees", number_of_exhibitors as "numberOfExhibitors",
attendee_cost as "attendeeCost", booth_cost as "boothCost",
exhibitor_industries as "exhibitorIndustries", attendee_personas as "attendeePersonas", keywords,
website, description, event_url as "eventUrl") o) from industry_events
where id in (select industry_event_id from industry_event_bookmarks where organization_id = $1) order by position;

-- industryEvents.byUrl first page: $1 text, $2 bigint
select page.json, counted.total
from (select count(*) as total from industry_events where event_url_digest(event_url) = event_url_digest($1) and event_url = $1) counted
  left join lateral (select (select row_to_json(o)::text from (select id, iso_utc(created_at) as "createdAt", iso_utc(updated_at) as "updatedAt", name,
  iso_utc(start_date) as "startDate", iso_utc(end_date) as "endDate", source_type as "sourceType",
  source_id as "sourceId", event_type as "eventType", venue_city as "venueCity",
  venue_state as "venueState", venue_country as "venueCountry", venue_name as "venueName",
  venue_full_address as "venueFullAddress", venue_coordinates as "venueCoordinates",
  number_of_attendees as "numberOfAttendees", number_of_exhibitors as "numberOfExhibitors",
  attendee_cost as "attendeeCost", booth_cost as "boothCost",
  exhibitor_industries as "exhibitorIndustries", attendee_personas as "attendeePersonas", keywords,
  website, description, event_url as "eventUrl") o) as json, position from (select * from (select * from industry_events where event_url_digest(event_url) = event_url_digest($1) and event_url = $1  order by position limit 50) industry_events order by position limit $2::bigint) industry_events) page on true
order by page.position;

-- industryEvents.byUrl page: $1 text, $2 bigint, $3 bigint
select page.json, counted.total
from (select count(*) as total from industry_events where event_url_digest(event_url) = event_url_digest($1) and event_url = $1) counted
  left join lateral (select (select row_to_json(o)::text from (select id, iso_utc(created_at) as "createdAt", iso_utc(updated_at) as "updatedAt", name,
  iso_utc(start_date) as "startDate", iso_utc(end_date) as "endDate", source_type as "sourceType",
  source_id as "sourceId", event_type as "eventType", venue_city as "venueCity",
  venue_state as "venueState", venue_country as "venueCountry", venue_name as "venueName",
  venue_full_address as "venueFullAddress", venue_coordinates as "venueCoordinates",
  number_of_attendees as "numberOfAttendees", number_of_exhibitors as "numberOfExhibitors",
  attendee_cost as "attendeeCost", booth_cost as "boothCost",
  exhibitor_industries as "exhibitorIndustries", attendee_personas as "attendeePersonas", keywords,
  website, description, event_url as "eventUrl") o) as json, position from (select * from (select * from industry_events where event_url_digest(event_url) = event_url_digest($1) and event_url = $1 and position >= (select position from industry_events where event_url_digest(event_url) = event_url_digest($1) and event_url = $1 order by position limit 1 offset $3::bigint * $2::bigint) order by position limit 50) industry_events order by position limit $2::bigint) industry_events) page on true
order by page.position;

-- industryEvent.create: $1 jsonb
insert into industry_events (name, start_date, end_date, source_type, source_id, event_type, venue_city, venue_state, venue_country, venue_name, venue_full_address, venue_coordinates, number_of_attendees, number_of_exhibitors, attendee_cost, booth_cost, exhibitor_industries, attendee_personas, keywords, website, description, event_url)
select * from jsonb_to_record($1) as given ("name" text, "startDate" timestamptz, "endDate" timestamptz, "sourceType" text, "sourceId" text, "eventType" text, "venueCity" text, "venueState" text, "venueCountry" text, "venueName" text, "venueFullAddress" text, "venueCoordinates" text, "numberOfAttendees" integer, "numberOfExhibitors" integer, "attendeeCost" text, "boothCost" text, "exhibitorIndustries" text[], "attendeePersonas" text[], "keywords" text[], "website" text, "description" text, "eventUrl" text)
-- A record that has the URL by now is seen before the list is locked.
where not exists (
  select from industry_events
  where event_url_digest(event_url) = event_url_digest(given."eventUrl") and event_url = given."eventUrl"
)
on conflict do nothing returning (select row_to_json(o)::text from (select id, iso_utc(created_at) as "createdAt", iso_utc(updated_at) as "updatedAt", name,
iso_utc(start_date) as "startDate", iso_utc(end_date) as "endDate", source_type as "sourceType",
source_id as "sourceId", event_type as "eventType", venue_city as "venueCity",
venue_state as "venueState", venue_country as "venueCountry", venue_name as "venueName",
venue_full_address as "venueFullAddress", venue_coordinates as "venueCoordinates",
number_of_attendees as "numberOfAttendees", number_of_exhibitors as "numberOfExhibitors",
attendee_cost as "attendeeCost", booth_cost as "boothCost",
exhibitor_industries as "exhibitorIndustries", attendee_personas as "attendeePersonas", keywords,
website, description, event_url as "eventUrl") o);

-- industryEvent.byUrl: $1 text
select (select row_to_json(o)::text from (select id, iso_utc(created_at) as "createdAt", iso_utc(updated_at) as "updatedAt", name,
    iso_utc(start_date) as "startDate", iso_utc(end_date) as "endDate", source_type as "sourceType",
    source_id as "sourceId", event_type as "eventType", venue_city as "venueCity",
    venue_state as "venueState", venue_country as "venueCountry", venue_name as "venueName",
    venue_full_address as "venueFullAddress", venue_coordinates as "venueCoordinates",
    number_of_attendees as "numberOfAttendees", number_of_exhibitors as "numberOfExhibitors",
    attendee_cost as "attendeeCost", booth_cost as "boothCost",
    exhibitor_industries as "exhibitorIndustries", attendee_personas as "attendeePersonas", keywords,
    website, description, event_url as "eventUrl") o) from industry_events where event_url_digest(event_url) = event_url_digest($1) and event_url = $1;

-- industryEvent.get: $1 uuid
select (select row_to_json(o)::text from (select id, iso_utc(created_at) as "createdAt", iso_utc(updated_at) as "updatedAt", name,
    iso_utc(start_date) as "startDate", iso_utc(end_date) as "endDate", source_type as "sourceType",
    source_id as "sourceId", event_type as "eventType", venue_city as "venueCity",
    venue_state as "venueState", venue_country as "venueCountry", venue_name as "venueName",
    venue_full_address as "venueFullAddress", venue_coordinates as "venueCoordinates",
    number_of_attendees as "numberOfAttendees", number_of_exhibitors as "numberOfExhibitors",
    attendee_cost as "attendeeCost", booth_cost as "boothCost",
    exhibitor_industries as "exhibitorIndustries", attendee_personas as "attendeePersonas", keywords,
    website, description, event_url as "eventUrl") o) from industry_events where id = $1;

-- industryEvent.withBookmark: $1 integer, $2 uuid ($1 is the organization)
select (select row_to_json(o)::text from (select id, iso_utc(created_at) as "createdAt", iso_utc(updated_at) as "updatedAt", name,
    iso_utc(start_date) as "startDate", iso_utc(end_date) as "endDate", source_type as "sourceType",
    source_id as "sourceId", event_type as "eventType", venue_city as "venueCity",
    venue_state as "venueState", venue_country as "venueCountry", venue_name as "venueName",
    venue_full_address as "venueFullAddress", venue_coordinates as "venueCoordinates",
    number_of_attendees as "numberOfAttendees", number_of_exhibitors as "numberOfExhibitors",
    attendee_cost as "attendeeCost", booth_cost as "boothCost",
    exhibitor_industries as "exhibitorIndustries", attendee_personas as "attendeePersonas", keywords,
    website, description, event_url as "eventUrl",
    exists (select from industry_event_bookmarks b
    where b.organization_id = $1 and b.industry_event_id = industry_events.id) as "isBookmarked") o) from industry_events where id = $2;

-- industry_events first page: $1 bigint
select page.json, counted.total
from (select coalesce((select rows from list_counts
  where (organization_id, list, shift, bucket) = (0, 'industry_events', 40, 0)), 0) as total ) counted
  left join lateral (select (select row_to_json(o)::text from (select id, iso_utc(created_at) as "createdAt", iso_utc(updated_at) as "updatedAt", name,
  iso_utc(start_date) as "startDate", iso_utc(end_date) as "endDate", source_type as "sourceType",
  source_id as "sourceId", event_type as "eventType", venue_city as "venueCity",
  venue_state as "venueState", venue_country as "venueCountry", venue_name as "venueName",
  venue_full_address as "venueFullAddress", venue_coordinates as "venueCoordinates",
  number_of_attendees as "numberOfAttendees", number_of_exhibitors as "numberOfExhibitors",
  attendee_cost as "attendeeCost", booth_cost as "boothCost",
  exhibitor_industries as "exhibitorIndustries", attendee_personas as "attendeePersonas", keywords,
  website, description, event_url as "eventUrl") o) as json, position from (select * from (select * from industry_events  order by position limit 50) industry_events order by position limit $1::bigint) industry_events) page on true
order by page.position;

-- industry_events page: $1 bigint, $2 bigint
select page.json, counted.total
from (select coalesce((select rows from list_counts
  where (organization_id, list, shift, bucket) = (0, 'industry_events', 40, 0)), 0) as total ) counted cross join list_seek(0, 'industry_events', $2::bigint * $1::bigint) seek
  left join lateral (select (select row_to_json(o)::text from (select id, iso_utc(created_at) as "createdAt", iso_utc(updated_at) as "updatedAt", name,
  iso_utc(start_date) as "startDate", iso_utc(end_date) as "endDate", source_type as "sourceType",
  source_id as "sourceId", event_type as "eventType", venue_city as "venueCity",
  venue_state as "venueState", venue_country as "venueCountry", venue_name as "venueName",
  venue_full_address as "venueFullAddress", venue_coordinates as "venueCoordinates",
  number_of_attendees as "numberOfAttendees", number_of_exhibitors as "numberOfExhibitors",
  attendee_cost as "attendeeCost", booth_cost as "boothCost",
  exhibitor_industries as "exhibitorIndustries", attendee_personas as "attendeePersonas", keywords,
  website, description, event_url as "eventUrl") o) as json, position from (select * from (select * from industry_events where position >= (select position from industry_events where position >= seek.start order by position limit 1 offset seek.rest) order by position limit 50) industry_events order by position limit $1::bigint) industry_events) page on true
order by page.position;

-- industryEvent.duplicates: $1 text, $2 timestamp with time zone
select (select row_to_json(o)::text from (select id, iso_utc(created_at) as "createdAt", iso_utc(updated_at) as "updatedAt", name,
iso_utc(start_date) as "startDate", iso_utc(end_date) as "endDate", source_type as "sourceType",
source_id as "sourceId", event_type as "eventType", venue_city as "venueCity",
venue_state as "venueState", venue_country as "venueCountry", venue_name as "venueName",
venue_full_address as "venueFullAddress", venue_coordinates as "venueCoordinates",
number_of_attendees as "numberOfAttendees", number_of_exhibitors as "numberOfExhibitors",
attendee_cost as "attendeeCost", booth_cost as "boothCost",
exhibitor_industries as "exhibitorIndustries", attendee_personas as "attendeePersonas", keywords,
website, description, event_url as "eventUrl") o) from industry_events
where name = $1 and start_date is not distinct from $2::timestamptz order by position limit 50;

-- industryEvents.search page: $1 text, $2 text, $3 bigint, $4 bigint
with matches as materialized (
  select id as match, position as place, ts_rank(search, words) as rank
  from websearch_to_tsquery('search', search_spelling($1)) query
    cross join websearch_to_tsquery('search', search_spelling($2)) words
    join industry_events on search @@ query
), best as (
  select * from (select * from matches order by rank desc, place offset $4::bigint * $3::bigint limit 50) matches order by rank desc, place limit $3::bigint
)
select page.json, counted.total
from (select count(*) as total from matches) counted
  left join (
    select (select row_to_json(o)::text from (select id, iso_utc(created_at) as "createdAt", iso_utc(updated_at) as "updatedAt", name,
iso_utc(start_date) as "startDate", iso_utc(end_date) as "endDate", source_type as "sourceType",
source_id as "sourceId", event_type as "eventType", venue_city as "venueCity",
venue_state as "venueState", venue_country as "venueCountry", venue_name as "venueName",
venue_full_address as "venueFullAddress", venue_coordinates as "venueCoordinates",
number_of_attendees as "numberOfAttendees", number_of_exhibitors as "numberOfExhibitors",
attendee_cost as "attendeeCost", booth_cost as "boothCost",
exhibitor_industries as "exhibitorIndustries", attendee_personas as "attendeePersonas", keywords,
website, description, event_url as "eventUrl") o) as json, rank, place from best join industry_events on id = match
  ) page on true
order by page.rank desc, page.place;

-- leadActivityEvents.byLead first page: $1 integer, $2 uuid, $3 bigint ($1 is the organization)
select page.json, counted.total
from (select count(*) as total from lead_activity_events where organization_id = $1 and lead_id = $2) counted
  left join lateral (select (select row_to_json(o)::text from (select id, iso_utc(created_at) as "createdAt", created_by as "createdBy", event_type as "eventType",
  event_notes as "eventNotes", lead_id as "associatedLead", campaign_id as "associatedCampaign",
  event_id as "associatedEvent", activation_id as "associatedActivation",
  tag_option_id as "associatedTagOption") o) as json, position from (select * from (select * from lead_activity_events where organization_id = $1 and lead_id = $2  order by position limit 50) lead_activity_events order by position limit $3::bigint) lead_activity_events) page on true
order by page.position;

-- leadActivityEvents.byLead page: $1 integer, $2 uuid, $3 bigint, $4 bigint ($1 is the organization)
select page.json, counted.total
from (select count(*) as total from lead_activity_events where organization_id = $1 and lead_id = $2) counted
  left join lateral (select (select row_to_json(o)::text from (select id, iso_utc(created_at) as "createdAt", created_by as "createdBy", event_type as "eventType",
  event_notes as "eventNotes", lead_id as "associatedLead", campaign_id as "associatedCampaign",
  event_id as "associatedEvent", activation_id as "associatedActivation",
  tag_option_id as "associatedTagOption") o) as json, position from (select * from (select * from lead_activity_events where organization_id = $1 and lead_id = $2 and position >= (select position from lead_activity_events where organization_id = $1 and lead_id = $2 order by position limit 1 offset $4::bigint * $3::bigint) order by position limit 50) lead_activity_events order by position limit $3::bigint) lead_activity_events) page on true
order by page.position;

-- leadActivityEvents.byLeadAndType first page: $1 integer, $2 uuid, $3 text, $4 bigint ($1 is the organization)
select page.json, counted.total
from (select count(*) as total from lead_activity_events where organization_id = $1 and lead_id = $2 and event_type = $3) counted
  left join lateral (select (select row_to_json(o)::text from (select id, iso_utc(created_at) as "createdAt", created_by as "createdBy", event_type as "eventType",
  event_notes as "eventNotes", lead_id as "associatedLead", campaign_id as "associatedCampaign",
  event_id as "associatedEvent", activation_id as "associatedActivation",
  tag_option_id as "associatedTagOption") o) as json, position from (select * from (select * from lead_activity_events where organization_id = $1 and lead_id = $2 and event_type = $3  order by position limit 50) lead_activity_events order by position limit $4::bigint) lead_activity_events) page on true
order by page.position;

-- leadActivityEvents.byLeadAndType page: $1 integer, $2 uuid, $3 text, $4 bigint, $5 bigint ($1 is the organization)
select page.json, counted.total
from (select count(*) as total from lead_activity_events where organization_id = $1 and lead_id = $2 and event_type = $3) counted
  left join lateral (select (select row_to_json(o)::text from (select id, iso_utc(created_at) as "createdAt", created_by as "createdBy", event_type as "eventType",
  event_notes as "eventNotes", lead_id as "associatedLead", campaign_id as "associatedCampaign",
  event_id as "associatedEvent", activation_id as "associatedActivation",
  tag_option_id as "associatedTagOption") o) as json, position from (select * from (select * from lead_activity_events where organization_id = $1 and lead_id = $2 and event_type = $3 and position >= (select position from lead_activity_events where organization_id = $1 and lead_id = $2 and event_type = $3 order by position limit 1 offset $5::bigint * $4::bigint) order by position limit 50) lead_activity_events order by position limit $4::bigint) lead_activity_events) page on true
order by page.position;

-- leadActivityEvents.byType first page: $1 integer, $2 text, $3 bigint ($1 is the organization)
select page.json, counted.total
from (select count(*) as total from lead_activity_events where organization_id = $1 and event_type = $2) counted
  left join lateral (select (select row_to_json(o)::text from (select id, iso_utc(created_at) as "createdAt", created_by as "createdBy", event_type as "eventType",
  event_notes as "eventNotes", lead_id as "associatedLead", campaign_id as "associatedCampaign",
  event_id as "associatedEvent", activation_id as "associatedActivation",
  tag_option_id as "associatedTagOption") o) as json, position from (select * from (select * from lead_activity_events where organization_id = $1 and event_type = $2  order by position limit 50) lead_activity_events order by position limit $3::bigint) lead_activity_events) page on true
order by page.position;

-- leadActivityEvents.byType page: $1 integer, $2 text, $3 bigint, $4 bigint ($1 is the organization)
select page.json, counted.total
from (select count(*) as total from lead_activity_events where organization_id = $1 and event_type = $2) counted
  left join lateral (select (select row_to_json(o)::text from (select id, iso_utc(created_at) as "createdAt", created_by as "createdBy", event_type as "eventType",
  event_notes as "eventNotes", lead_id as "associatedLead", campaign_id as "associatedCampaign",
  event_id as "associatedEvent", activation_id as "associatedActivation",
  tag_option_id as "associatedTagOption") o) as json, position from (select * from (select * from lead_activity_events where organization_id = $1 and event_type = $2 and position >= (select position from lead_activity_events where organization_id = $1 and event_type = $2 order by position limit 1 offset $4::bigint * $3::bigint) order by position limit 50) lead_activity_events order by position limit $3::bigint) lead_activity_events) page on true
order by page.position;

-- leadActivityEvent.get: $1 integer, $2 uuid ($1 is the organization)
select (select row_to_json(o)::text from (select id, iso_utc(created_at) as "createdAt", created_by as "createdBy", event_type as "eventType",
    event_notes as "eventNotes", lead_id as "associatedLead", campaign_id as "associatedCampaign",
    event_id as "associatedEvent", activation_id as "associatedActivation",
    tag_option_id as "associatedTagOption") o) from lead_activity_events where organization_id = $1 and id = $2;

-- lead_activity_events first page: $1 integer, $2 bigint ($1 is the organization)
select page.json, counted.total
from (select coalesce((select rows from list_counts
  where (organization_id, list, shift, bucket) = ($1, 'lead_activity_events', 40, 0)), 0) as total ) counted
  left join lateral (select (select row_to_json(o)::text from (select id, iso_utc(created_at) as "createdAt", created_by as "createdBy", event_type as "eventType",
  event_notes as "eventNotes", lead_id as "associatedLead", campaign_id as "associatedCampaign",
  event_id as "associatedEvent", activation_id as "associatedActivation",
  tag_option_id as "associatedTagOption") o) as json, position from (select * from (select * from lead_activity_events where organization_id = $1 order by position limit 50) lead_activity_events order by position limit $2::bigint) lead_activity_events) page on true
order by page.position;

-- lead_activity_events page: $1 integer, $2 bigint, $3 bigint ($1 is the organization)
select page.json, counted.total
from (select coalesce((select rows from list_counts
  where (organization_id, list, shift, bucket) = ($1, 'lead_activity_events', 40, 0)), 0) as total ) counted cross join list_seek($1, 'lead_activity_events', $3::bigint * $2::bigint) seek
  left join lateral (select (select row_to_json(o)::text from (select id, iso_utc(created_at) as "createdAt", created_by as "createdBy", event_type as "eventType",
  event_notes as "eventNotes", lead_id as "associatedLead", campaign_id as "associatedCampaign",
  event_id as "associatedEvent", activation_id as "associatedActivation",
  tag_option_id as "associatedTagOption") o) as json, position from (select * from (select * from lead_activity_events where organization_id = $1 and position >= (select position from lead_activity_events where organization_id = $1 and position >= seek.start order by position limit 1 offset seek.rest) order by position limit 50) lead_activity_events order by position limit $2::bigint) lead_activity_events) page on true
order by page.position;

-- leads.byEmail page: $1 integer, $2 text, $3 bigint, $4 bigint ($1 is the organization)
with found as materialized (select position from leads where (leads.organization_id = $1) is true and leads.email is not null and email_key(leads.organization_id, leads.email) = email_key($1, $2))
select page.json, counted.total
from (select count(*) as total from found) counted
  left join (
    select leads.document as json, position
    from (select * from (select position from found order by position offset $4::bigint * $3::bigint limit 50) places order by position limit $3::bigint) places
      join leads using (position)
    where organization_id = $1
  ) page on true
order by page.position;

-- leads.byEmailAndRemoteId page: $1 integer, $2 text, $3 text, $4 text, $5 bigint, $6 bigint ($1 is the organization)
  with found as materialized (select position from leads where (leads.organization_id = $1) is true and leads.email is not null and email_key(leads.organization_id, leads.email) = email_key($1, $2) and leads.remote_ids <> '[]' and
remote_id_keys(leads.organization_id, leads.remote_ids) @> array[remote_id_key($1, $3, $4)])
  select page.json, counted.total
  from (select count(*) as total from found) counted
    left join (
      select leads.document as json, position
      from (select * from (select position from found order by position offset $6::bigint * $5::bigint limit 50) places order by position limit $5::bigint) places
        join leads using (position)
      where organization_id = $1
    ) page on true
  order by page.position;

-- leads.byRemoteId page: $1 integer, $2 text, $3 text, $4 bigint, $5 bigint ($1 is the organization)
  with found as materialized (select position from leads where (leads.organization_id = $1) is true and leads.remote_ids <> '[]' and
remote_id_keys(leads.organization_id, leads.remote_ids) @> array[remote_id_key($1, $2, $3)])
  select page.json, counted.total
  from (select count(*) as total from found) counted
    left join (
      select leads.document as json, position
      from (select * from (select position from found order by position offset $5::bigint * $4::bigint limit 50) places order by position limit $4::bigint) places
        join leads using (position)
      where organization_id = $1
    ) page on true
  order by page.position;

-- lead.create: $1 integer, $2 jsonb ($1 is the organization)
with given as materialized (
    select * from rows from (jsonb_to_recordset($2) as ("createdByEmail" text, "firstName" text, "lastName" text, "companyName" text, "email" text, "phoneNumbers" jsonb))
      with ordinality as g ("createdByEmail", "firstName", "lastName", "companyName", "email", "phoneNumbers", n)
  ),
  taken as materialized (select list_take($1, 'leads', count(*)) as start from given),
  created as (
    insert into leads (organization_id, position, created_by, first_name, last_name, company_name, email, lead_provided_phone_numbers)
    select $1, start + n - 1, "createdByEmail", "firstName", "lastName", "companyName", "email", coalesce("phoneNumbers", '[]') from given, taken
    returning position, document
  )
select document from created order by position;

-- lead.delete: $1 integer, $2 uuid ($1 is the organization)
delete from leads where (select pg_advisory_xact_lock(1767225600, $1)) is not null and organization_id = $1 and id = $2;

-- lead.get: $1 integer, $2 uuid ($1 is the organization)
select leads.document from leads where organization_id = $1 and id = $2;

-- leads first page: $1 integer, $2 bigint ($1 is the organization)
select page.json, counted.total
from (select coalesce((select rows from list_counts
  where (organization_id, list, shift, bucket) = ($1, 'leads', 40, 0)), 0) as total ) counted
  left join lateral (select leads.document as json, position from (select * from (select * from leads where organization_id = $1 order by position limit 50) leads order by position limit $2::bigint) leads) page on true
order by page.position;

-- leads page: $1 integer, $2 bigint, $3 bigint ($1 is the organization)
select page.json, counted.total
from (select coalesce((select rows from list_counts
  where (organization_id, list, shift, bucket) = ($1, 'leads', 40, 0)), 0) as total ) counted cross join list_seek($1, 'leads', $3::bigint * $2::bigint) seek
  left join lateral (select leads.document as json, position from (select * from (select * from leads where organization_id = $1 and position >= (select position from leads where organization_id = $1 and position >= seek.start order by position limit 1 offset seek.rest) order by position limit 50) leads order by position limit $2::bigint) leads) page on true
order by page.position;

-- leads.lock: $1 integer ($1 is the organization)
select set_config('enable_seqscan', 'off', true) from list_take($1, 'leads', 0);

-- leads.matchEmail: $1 integer, $2 jsonb ($1 is the organization)
with given as materialized (
    select value, n, min(n) over (partition by lower(value #>> '{}')) as first
    from jsonb_array_elements($2::jsonb) with ordinality g (value, n)
  ),
  found as materialized (
    select value, n, first, (select id from (
  select l.id, l.position from leads l where (l.organization_id = $1) is true and l.email is not null and email_key(l.organization_id, l.email) = email_key($1, value #>> '{}') offset 0
) l order by position limit 1) as id from given
  ),
  locked as materialized (
    select * from leads where (leads.organization_id = $1) is true and id = any(array(select id from found)) order by id for no key update
  )
select json_build_object('id', found.id, 'firstIndex', first - 1, 'isLocked', locked.id is not null)::text
from found left join locked on locked.id = found.id and locked.email is not null and email_key(locked.organization_id, locked.email) = email_key($1, value #>> '{}') order by n;

-- leads.matchRemoteId: $1 integer, $2 jsonb ($1 is the organization)
with given as materialized (
    select value, n, min(n) over (partition by value) as first
    from jsonb_array_elements($2::jsonb) with ordinality g (value, n)
  ),
  found as materialized (
    select value, n, first, (select id from (
  select l.id, l.position from leads l where (l.organization_id = $1) is true and l.remote_ids <> '[]' and
remote_id_keys(l.organization_id, l.remote_ids) @> array[remote_id_key($1, value ->> 'integrationType', value ->> 'id')] offset 0
) l order by position limit 1) as id from given
  ),
  locked as materialized (
    select * from leads where (leads.organization_id = $1) is true and id = any(array(select id from found)) order by id for no key update
  )
select json_build_object('id', found.id, 'firstIndex', first - 1, 'isLocked', locked.id is not null)::text
from found left join locked on locked.id = found.id and locked.remote_ids <> '[]' and
remote_id_keys(locked.organization_id, locked.remote_ids) @> array[remote_id_key($1, value ->> 'integrationType', value ->> 'id')] order by n;

-- lead.patch: $1 integer, $2 uuid, $3 jsonb ($1 is the organization)
update leads set
  first_name = case when $3::jsonb ? 'firstName' then $3::jsonb ->> 'firstName' else first_name end,
  last_name = case when $3::jsonb ? 'lastName' then $3::jsonb ->> 'lastName' else last_name end,
  email = case when $3::jsonb ? 'email' then $3::jsonb ->> 'email' else email end,
  address = case when $3::jsonb ? 'address' then $3::jsonb ->> 'address' else address end,
  linkedin = case when $3::jsonb ? 'linkedin' then $3::jsonb ->> 'linkedin' else linkedin end,
  facebook = case when $3::jsonb ? 'facebook' then $3::jsonb ->> 'facebook' else facebook end,
  twitter = case when $3::jsonb ? 'twitter' then $3::jsonb ->> 'twitter' else twitter end,
  profile_picture = case when $3::jsonb ? 'profilePicture' then $3::jsonb ->> 'profilePicture' else profile_picture end,
  description = case when $3::jsonb ? 'description' then $3::jsonb ->> 'description' else description end,
  job_title = case when $3::jsonb ? 'jobTitle' then $3::jsonb ->> 'jobTitle' else job_title end,
  lead_provided_phone_numbers = case when $3::jsonb ? 'phoneNumbers' then coalesce(nullif($3::jsonb -> 'phoneNumbers', 'null'), '[]')
    else coalesce(lead_provided_phone_numbers, '[]') end,
  remote_ids = case when $3::jsonb ? 'remoteId' then set_remote_id(coalesce(remote_ids, '[]'), $3::jsonb -> 'remoteId')
    else coalesce(remote_ids, '[]') end
where organization_id = $1 and id = $2
returning leads.document;

-- leads.upsert: $1 integer, $2 jsonb, $3 uuid[] ($1 is the organization)
with stored as materialized (select * from leads where (leads.organization_id = $1) is true and id = any($3::uuid[])),
  wanted as materialized (
    select given.id, n, row_number() over (partition by given.id is null order by n) - 1 as nth,
      entry ->> 'createdByEmail' as created_by, entry ->> 'companyName' as company_name, document,
      case when entry ? 'firstName' then entry ->> 'firstName' else first_name end as first_name,
      case when entry ? 'lastName' then entry ->> 'lastName' else last_name end as last_name,
      case when entry ? 'email' then entry ->> 'email' else email end as email,
      case when entry ? 'address' then entry ->> 'address' else address end as address,
      case when entry ? 'linkedin' then entry ->> 'linkedin' else linkedin end as linkedin,
      case when entry ? 'facebook' then entry ->> 'facebook' else facebook end as facebook,
      case when entry ? 'twitter' then entry ->> 'twitter' else twitter end as twitter,
      case when entry ? 'profilePicture' then entry ->> 'profilePicture' else profile_picture end as profile_picture,
      case when entry ? 'description' then entry ->> 'description' else description end as description,
      case when entry ? 'jobTitle' then entry ->> 'jobTitle' else job_title end as job_title,
      case when entry ? 'phoneNumbers' then coalesce(nullif(entry -> 'phoneNumbers', 'null'), '[]')
    else coalesce(lead_provided_phone_numbers, '[]') end as lead_provided_phone_numbers,
      case when entry ? 'remoteId' then set_remote_id(coalesce(remote_ids, '[]'), entry -> 'remoteId')
    else coalesce(remote_ids, '[]') end as remote_ids
    from rows from (jsonb_array_elements($2::jsonb), unnest($3::uuid[])) with ordinality as given (entry, id, n)
      left join stored on stored.id = given.id
  ),
  updated as (
    update leads set first_name = w.first_name, last_name = w.last_name, email = w.email, address = w.address, linkedin = w.linkedin, facebook = w.facebook, twitter = w.twitter, profile_picture = w.profile_picture, description = w.description, job_title = w.job_title, lead_provided_phone_numbers = w.lead_provided_phone_numbers, remote_ids = w.remote_ids
    from wanted w
    where (leads.organization_id = $1) is true and leads.id = any($3) and leads.id = w.id
      and (leads.first_name, leads.last_name, leads.email, leads.address, leads.linkedin, leads.facebook, leads.twitter, leads.profile_picture, leads.description, leads.job_title, leads.lead_provided_phone_numbers, leads.remote_ids) is distinct from (w.first_name, w.last_name, w.email, w.address, w.linkedin, w.facebook, w.twitter, w.profile_picture, w.description, w.job_title, w.lead_provided_phone_numbers, w.remote_ids)
    returning w.n, leads.document
  ),
  taken as materialized (
    select list_take($1, 'leads', count(*)) as start from wanted where id is null having count(*) > 0
  ),
  created as (
    insert into leads (organization_id, position, created_by, company_name, first_name, last_name, email, address, linkedin, facebook, twitter, profile_picture, description, job_title, lead_provided_phone_numbers, remote_ids)
    select $1, start + nth, created_by, w.company_name, w.first_name, w.last_name, w.email, w.address, w.linkedin, w.facebook, w.twitter, w.profile_picture, w.description, w.job_title, w.lead_provided_phone_numbers, w.remote_ids
    from wanted w, taken where id is null order by nth
    returning position, document
  )
select format('{"outcome":"%s","lead":%s}',
  case when c.nth is not null then 'created' when u.n is not null then 'updated' else 'unchanged' end,
  coalesce(c.document, u.document, w.document))
from wanted w left join updated u on u.n = w.n
  left join (select position - start as nth, document from created, taken) c on w.id is null and c.nth = w.nth
order by w.n;

-- tagGroup.get: $1 integer, $2 uuid ($1 is the organization)
select (select row_to_json(o)::text from (select id, name, status, allows_multiple_selection as "allowsMultipleSelection",
    display_order as "displayOrder", usage_instructions as "usageInstructions", required,
    all_events as "allEvents",
    coalesce((select json_agg(row_to_json(o)) from (select id, display_order as "displayOrder", value from tag_options where organization_id = tag_groups.organization_id and tag_group_id = tag_groups.id
      order by display_order, id) o), '[]') as "tagOptions") o) from tag_groups where organization_id = $1 and id = $2;

-- tag_groups first page: $1 integer, $2 bigint ($1 is the organization)
select page.json, counted.total
from (select coalesce((select rows from list_counts
  where (organization_id, list, shift, bucket) = ($1, 'tag_groups', 40, 0)), 0) as total ) counted
  left join lateral (select (select row_to_json(o)::text from (select id, name, status, allows_multiple_selection as "allowsMultipleSelection",
  display_order as "displayOrder", usage_instructions as "usageInstructions", required,
  all_events as "allEvents",
  coalesce((select json_agg(row_to_json(o)) from (select id, display_order as "displayOrder", value from tag_options where organization_id = tag_groups.organization_id and tag_group_id = tag_groups.id
    order by display_order, id) o), '[]') as "tagOptions") o) as json, position from (select * from (select * from tag_groups where organization_id = $1 order by position limit 50) tag_groups order by position limit $2::bigint) tag_groups) page on true
order by page.position;

-- tag_groups page: $1 integer, $2 bigint, $3 bigint ($1 is the organization)
select page.json, counted.total
from (select coalesce((select rows from list_counts
  where (organization_id, list, shift, bucket) = ($1, 'tag_groups', 40, 0)), 0) as total ) counted cross join list_seek($1, 'tag_groups', $3::bigint * $2::bigint) seek
  left join lateral (select (select row_to_json(o)::text from (select id, name, status, allows_multiple_selection as "allowsMultipleSelection",
  display_order as "displayOrder", usage_instructions as "usageInstructions", required,
  all_events as "allEvents",
  coalesce((select json_agg(row_to_json(o)) from (select id, display_order as "displayOrder", value from tag_options where organization_id = tag_groups.organization_id and tag_group_id = tag_groups.id
    order by display_order, id) o), '[]') as "tagOptions") o) as json, position from (select * from (select * from tag_groups where organization_id = $1 and position >= (select position from tag_groups where organization_id = $1 and position >= seek.start order by position limit 1 offset seek.rest) order by position limit 50) tag_groups order by position limit $2::bigint) tag_groups) page on true
order by page.position;

-- webhooks.sql.POLL: $1 pg_snapshot, $2 timestamp with time zone, $3 uuid[], $4 uuid[], $5 timestamp with time zone, $6 smallint[]
with compared as materialized (
  select pg_current_snapshot() as current, $1::pg_snapshot as previous
), bounds as materialized (
  select current, previous is null as is_first, pg_snapshot_xmax(previous)::text::bigint as previous_end,
    pg_snapshot_xmax(current)::text::bigint as current_end,
    array(select xid::text::bigint from pg_snapshot_xip(previous) xid
      except select xid::text::bigint from pg_snapshot_xip(current) xid) as ended
  from compared
), since as materialized (
  select *, least(previous_end, (select min(xid) from unnest(ended) xid)) as lowest from bounds
), looked_at as (
  select w.id, changed.is_changed
  from webhooks w cross join since cross join lateral (
    select is_first or (lowest < current_end and exists (
      select from changes c
      where c.organization_id = w.organization_id and c.resource = any($6::smallint[])
        and c.xid >= since.lowest and c.xid < since.current_end
        and (c.xid >= since.previous_end or c.xid = any(since.ended)))) as is_changed) changed
  where paused_at is null and (next_attempt_at is null or next_attempt_at <= $2 or disabled_at is not null)
    and (disabled_at is null or waiting_since is null)
    and (is_changed or (w.id <> all($4::uuid[])
      and (w.id = any($3::uuid[]) or (next_attempt_at is not null and disabled_at is null) or moved_at is null or moved_at < $5)))
)
select current::text as snapshot, (
    select concat_ws(' ', generation, database_identity, 'changes'::regclass::oid) from changes_key) as log,
  array(select id from looked_at) as ids, array(select id from looked_at where is_changed) as changed
from since;

-- webhooks.sql.STATES: 
select count(*) filter (where is_running and failing_since is null)::integer as active,
  count(*) filter (where is_running and failing_since is not null)::integer as failing,
  count(*) filter (where disabled_at is null and paused_at is not null)::integer as paused,
  count(*) filter (where disabled_at is not null)::integer as disabled,
  min(waiting_since) as "waitingSince"
from webhooks cross join lateral (select disabled_at is null and paused_at is null as is_running) state;
