-- The SQL that src/feed/changes composes, as PostgreSQL gets it. npm run sql writes this file.

-- Prepared statements

-- changes.log status: $1 integer, $2 jsonb ($1 is the organization)
select json_build_object('database', state.database, 'secret', state.secret, 'isForeign', state.is_foreign,
  'generation', state.generation, 'snapshot', pg_current_snapshot()::text, 'nextXid',
    greatest(pg_snapshot_xmax(pg_current_snapshot())::text::bigint, pg_current_xact_id_if_assigned()::text::bigint + 1),
    'openTransactions',
    (select coalesce(json_agg(xid::text::bigint order by xid), '[]') from pg_snapshot_xip(pg_current_snapshot()) xid),
    'newest', (
    select json_build_array(resource, xid, seq, iso_utc(at))
    from jsonb_to_recordset($2::jsonb) followed (number smallint)
      cross join lateral
        ( select * from changes where organization_id = $1 and resource = number order by xid desc, seq desc limit 1)
        newest
    order by xid desc, seq desc
    limit 1
  ))::text
from (select) one left join lateral (
  select own.database, encode(secret, 'hex') as secret, database_identity is distinct from own.database as is_foreign,
    case when not pg_is_in_recovery() then md5(concat_ws(' ', own.database,
      left(pg_walfile_name(pg_current_wal_lsn()), 8), 'changes'::regclass::oid, generation)) end as generation
  from changes_key, (select (
select concat_ws('/', system_identifier, oid)
from pg_control_system(), pg_database
where datname = current_database()) as database offset 0) own) state on true;

-- changes.pending 100: $1 integer, $2 jsonb, $3 jsonb, $4 jsonb ($1 is the organization)
select json_build_object('database', state.database, 'secret', state.secret, 'isForeign', state.is_foreign,
  'generation', state.generation, 'snapshot', pg_current_snapshot()::text, 'nextXid',
    greatest(pg_snapshot_xmax(pg_current_snapshot())::text::bigint, pg_current_xact_id_if_assigned()::text::bigint + 1),
    'openTransactions',
    (select coalesce(json_agg(xid::text::bigint order by xid), '[]') from pg_snapshot_xip(pg_current_snapshot()) xid),
  'isKept', $4::jsonb is null or exists (select from changes where organization_id = $1
    and resource = ($4 ->> 0)::smallint and xid = ($4 ->> 1)::bigint and seq = ($4 ->> 2)::bigint
    and at = ($4 ->> 3)::timestamptz),
  'isPruned', exists (
    select from jsonb_to_recordset($2::jsonb) followed (number smallint) cross join lateral (
      select * from changes where organization_id = $1 and resource = number order by xid, seq limit 1) oldest
    where operation = 's' and (xid, seq) > (($3::jsonb -> 0 ->> 'xid')::bigint, ($3 -> 0 ->> 'seq')::bigint)),
  'entries', (
    select coalesce(
      json_agg(
        json_build_array(json_build_array(resource, xid, seq, iso_utc(at)), operation, event_id, id, remote_ids)
        order by xid, seq
      ), '[]'
    )
    from (
      select pending.* from jsonb_to_recordset($2::jsonb) followed (number smallint)
        cross join jsonb_to_recordset($3) range (xid bigint, seq bigint, before bigint)
        cross join lateral (
          select * from changes l where organization_id = $1 and resource = number
            and (l.xid, l.seq) > (range.xid, range.seq) and l.xid < range.before
          order by l.xid, l.seq limit 101) pending
      order by pending.xid, pending.seq limit 101) page))::text
from (select) one left join lateral (
  select own.database, encode(secret, 'hex') as secret, database_identity is distinct from own.database as is_foreign,
    case when not pg_is_in_recovery() then md5(concat_ws(' ', own.database,
      left(pg_walfile_name(pg_current_wal_lsn()), 8), 'changes'::regclass::oid, generation)) end as generation
  from changes_key, (select (
select concat_ws('/', system_identifier, oid)
from pg_control_system(), pg_database
where datname = current_database()) as database offset 0) own) state on true;

-- changes STATES: $1 text[], $2 smallint[]
select 
  count(*) filter (where is_running and failing_since is null)::integer as active,
  count(*) filter (where is_running and failing_since is not null)::integer as failing,
  count(*) filter (where disabled_at is null and paused_at is not null)::integer as paused,
  count(*) filter (where disabled_at is not null)::integer as disabled,
    min(coalesce(waiting_since, missing_since)) filter (where paused_at is null) as "waitingSince"
from (select *, disabled_at is null and paused_at is null as is_running from feed_readers) r
  left join lateral (
    select min(at) as missing_since
    from (
      select greatest(gap.since, pg_snapshot_xmax(r.caught_up_to::pg_snapshot)::text::bigint) as since, gap.before
      from (
        select lag(xid, 1, 0::bigint) over (order by xid) + 1 as since, xid as before
        from (
          select xid::text::bigint as xid
          from pg_snapshot_xip(pg_current_snapshot()) xid
          union all
          select pg_snapshot_xmax(pg_current_snapshot())::text::bigint
        ) open
      ) gap
      union all
      select xid::text::bigint, xid::text::bigint + 1
      from pg_snapshot_xip(r.caught_up_to::pg_snapshot) xid
      where pg_visible_in_snapshot(xid, pg_current_snapshot())
    ) ended
      cross join unnest($1::text[], $2::smallint[]) followed (name, number)
      cross join lateral (
        select at
        from changes c
        where c.organization_id = r.organization_id
          and c.resource = number
          and c.xid >= ended.since
          and c.xid < ended.before
        order by c.xid, c.seq
        limit 1
      ) missing
    where r.caught_up_to is not null and name = any(r.resources)
  ) oldest on true;

-- changes.tagGroups: $1 integer, $2 bigint[], $3 uuid[] ($1 is the organization)
select record, remote_ids
from unnest($2::bigint[], $3::uuid[]) with ordinality wanted (event_id, id, nth) left join lateral (
  select (
    select row_to_json(o)::text
    from (
      select id, name, status, allows_multiple_selection as "allowsMultipleSelection", display_order as "displayOrder",
        usage_instructions as "usageInstructions", required, all_events as "allEvents", coalesce(
        (
          select json_agg(row_to_json(o))
          from (
            select id, display_order as "displayOrder", value
            from tag_options
            where organization_id = tag_groups.organization_id and tag_group_id = tag_groups.id
            order by display_order, id
          ) o
        ), '[]'
      ) as "tagOptions"
    ) o
  ) as record, null::text as remote_ids
  from tag_groups
  where (organization_id = $1) is true and tag_groups.id = wanted.id limit 1) found on true
order by nth;

-- changes.events: $1 integer, $2 bigint[], $3 uuid[] ($1 is the organization)
select record, remote_ids
from unnest($2::bigint[], $3::uuid[]) with ordinality wanted (event_id, id, nth) left join lateral (
  select (
    select row_to_json(o)::text
    from (
      select id, name, type, registration_enabled as "registrationEnabled", iso_utc(created_at) as "createdAt",
        start_date as "startDate", end_date as "endDate", location, coalesce(
        (
          select json_agg(t.tag_group_id order by t.position)
          from event_tag_groups t
          where t.organization_id = events.organization_id and t.event_id = events.id
        ), '[]'
      ) as "tagGroups"
    ) o
  ) as record, null::text as remote_ids
  from events
  where (organization_id = $1) is true and events.id = wanted.event_id limit 1) found on true
order by nth;

-- changes.activations: $1 integer, $2 bigint[], $3 uuid[] ($1 is the organization)
select record, remote_ids
from unnest($2::bigint[], $3::uuid[]) with ordinality wanted (event_id, id, nth) left join lateral (
  select (
    select row_to_json(o)::text
    from (
      select id, event_id as "eventId", name, iso_utc(created_at) as "createdAt", type, start_date as "startDate",
        end_date as "endDate", start_time as "startTime", end_time as "endTime", created_by as "createdBy", location,
        users, number_of_scans as "numberOfScans"
    ) o
  ) as record, null::text as remote_ids
  from activations
  where (organization_id = $1) is true and activations.id = wanted.id limit 1) found on true
order by nth;

-- changes.leads: $1 integer, $2 bigint[], $3 uuid[] ($1 is the organization)
select record, remote_ids
from unnest($2::bigint[], $3::uuid[]) with ordinality wanted (event_id, id, nth) left join lateral (
  select leads.document as record, remote_ids::text as remote_ids from leads
  where (organization_id = $1) is true and leads.id = wanted.id limit 1) found on true
order by nth;

-- changes.eventLeads: $1 integer, $2 bigint[], $3 uuid[] ($1 is the organization)
select record, remote_ids
from unnest($2::bigint[], $3::uuid[]) with ordinality wanted (event_id, id, nth) left join lateral (
  select (select row_to_json(o)::text from (select lead_id as "leadId", registered, checked_in as "checkedIn") o) as
    record, null::text as remote_ids
  from event_leads
  where (organization_id = $1) is true and event_leads.event_id = wanted.event_id and event_leads.lead_id = wanted.id
  limit 1) found on true
order by nth;

-- changes.leadActivityEvents: $1 integer, $2 bigint[], $3 uuid[] ($1 is the organization)
select record, remote_ids
from unnest($2::bigint[], $3::uuid[]) with ordinality wanted (event_id, id, nth) left join lateral (
  select (
    select row_to_json(o)::text
    from (
      select id, iso_utc(created_at) as "createdAt", created_by as "createdBy", event_type as "eventType",
        event_notes as "eventNotes", lead_id as "associatedLead", campaign_id as "associatedCampaign",
        event_id as "associatedEvent", activation_id as "associatedActivation", tag_option_id as "associatedTagOption"
    ) o
  ) as record, null::text as remote_ids
  from lead_activity_events
  where (organization_id = $1) is true and lead_activity_events.id = wanted.id limit 1) found on true
order by nth;

-- changes.tagGroups snapshot: $1 integer, $2 integer, $3 bigint, $4 bigint ($1 is the organization)
select (
  select row_to_json(o)::text
  from (
    select id, name, status, allows_multiple_selection as "allowsMultipleSelection", display_order as "displayOrder",
      usage_instructions as "usageInstructions", required, all_events as "allEvents", coalesce(
      (
        select json_agg(row_to_json(o))
        from (
          select id, display_order as "displayOrder", value
          from tag_options
          where organization_id = tag_groups.organization_id and tag_group_id = tag_groups.id
          order by display_order, id
        ) o
      ), '[]'
    ) as "tagOptions"
  ) o
) as record, null::text as remote_ids, null as event_id,
  id as id, position, null as parent
from (
  select *
  from (
    select *
    from tag_groups
    where organization_id = $1 and position > $3::bigint and $4::bigint is not null
    order by position
    limit 50
  ) tag_groups
  order by position
  limit $2::integer
) tag_groups;

-- changes.events snapshot: $1 integer, $2 integer, $3 bigint, $4 bigint ($1 is the organization)
select (
  select row_to_json(o)::text
  from (
    select id, name, type, registration_enabled as "registrationEnabled", iso_utc(created_at) as "createdAt",
      start_date as "startDate", end_date as "endDate", location, coalesce(
      (
        select json_agg(t.tag_group_id order by t.position)
        from event_tag_groups t
        where t.organization_id = events.organization_id and t.event_id = events.id
      ), '[]'
    ) as "tagGroups"
  ) o
) as record, null::text as remote_ids, id as event_id,
  null as id, position, null as parent
from (
  select *
  from (
    select *
    from events
    where organization_id = $1 and position > $3::bigint and $4::bigint is not null
    order by position
    limit 50
  ) events
  order by position
  limit $2::integer
) events;

-- changes.activations snapshot: $1 integer, $2 integer, $3 bigint, $4 bigint ($1 is the organization)
select (
  select row_to_json(o)::text
  from (
    select id, event_id as "eventId", name, iso_utc(created_at) as "createdAt", type, start_date as "startDate",
      end_date as "endDate", start_time as "startTime", end_time as "endTime", created_by as "createdBy", location,
      users, number_of_scans as "numberOfScans"
  ) o
) as record, null::text as remote_ids, null as event_id,
  id as id, position, null as parent
from (
  select *
  from (
    select *
    from activations
    where organization_id = $1 and position > $3::bigint and $4::bigint is not null
    order by position
    limit 50
  ) activations
  order by position
  limit $2::integer
) activations;

-- changes.leads snapshot: $1 integer, $2 integer, $3 bigint, $4 bigint ($1 is the organization)
select leads.document as record, remote_ids::text as remote_ids, null as event_id,
  id as id, position, null as parent
from (
  select *
  from (
    select *
    from leads
    where organization_id = $1 and position > $3::bigint and $4::bigint is not null
    order by position
    limit 50
  ) leads
  order by position
  limit $2::integer
) leads;

-- changes.eventLeads snapshot: $1 integer, $2 integer, $3 bigint, $4 bigint ($1 is the organization)
select (select row_to_json(o)::text from (select lead_id as "leadId", registered, checked_in as "checkedIn") o) as
  record, null::text as remote_ids, event_id as event_id,
  lead_id as id, position, event_id as parent
from (
  select *
  from (
    select *
    from event_leads
    where organization_id = $1 and (event_id, position) > ($4::bigint, $3::bigint)
    order by event_id, position
    limit 50
  ) event_leads
  order by event_id, position
  limit $2::integer
) event_leads;

-- changes.leadActivityEvents snapshot: $1 integer, $2 integer, $3 bigint, $4 bigint ($1 is the organization)
select (
  select row_to_json(o)::text
  from (
    select id, iso_utc(created_at) as "createdAt", created_by as "createdBy", event_type as "eventType",
      event_notes as "eventNotes", lead_id as "associatedLead", campaign_id as "associatedCampaign",
      event_id as "associatedEvent", activation_id as "associatedActivation", tag_option_id as "associatedTagOption"
  ) o
) as record, null::text as remote_ids, null as event_id,
  id as id, position, null as parent
from (
  select *
  from (
    select *
    from lead_activity_events
    where organization_id = $1 and position > $3::bigint and $4::bigint is not null
    order by position
    limit 50
  ) lead_activity_events
  order by position
  limit $2::integer
) lead_activity_events;

-- Functions

CREATE OR REPLACE FUNCTION public.claim_log(max_rows integer, is_foreign boolean)
 RETURNS text
 LANGUAGE plpgsql
AS $function$
declare
  deleted integer;
begin
  if pg_is_in_recovery() then
    return 'own';
  end if;
  perform from changes_key where is_foreign or database_identity is distinct from (
    select concat_ws('/', system_identifier, oid)
    from pg_control_system(), pg_database
    where datname = current_database()) for update;
  if not found then
    return 'own';
  end if;
  delete from changes where ctid = any(array(
    select ctid from changes order by organization_id, resource, xid, seq limit max_rows));
  get diagnostics deleted = row_count;
  if deleted = max_rows then
    return 'partial';
  end if;
  update changes_key set generation = generation + 1, database_identity = (
    select concat_ws('/', system_identifier, oid)
    from pg_control_system(), pg_database
    where datname = current_database());
  return 'claimed';
end $function$;
