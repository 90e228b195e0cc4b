-- The SQL that src/contexts/events composes, as PostgreSQL gets it. npm run sql writes this file.

-- Prepared statements

-- event.leads.associate: $1 integer, $2 bigint, $3 uuid[], $4 boolean[], $5 boolean[], $6 text ($1 is the organization)
with actor as (
  insert into audit_log (organization_id, change, operation, resource)
  select 0, '', '', '' where set_config('lanyard.actor', $6, true) is null
), event as (select id from events where organization_id = $1 and id = $2 for no key update),
  given as (
    select *
    from unnest($3::uuid[], $4::boolean[], $5::boolean[]) with ordinality as g (lead_id, registered, checked_in, n)
  ),
  known as (
    select from event
    where cardinality($3) = (select count(*) from given g join leads l on l.organization_id = $1 and l.id = g.lead_id)
  ),
  overwritten as (
    update event_leads e set registered = g.registered, checked_in = g.checked_in
    from given g, known
    where e.organization_id = $1 and e.event_id = $2 and e.lead_id = any ($3) and e.lead_id = g.lead_id
      and (e.registered, e.checked_in) is distinct from (g.registered, g.checked_in)
  ),
  fresh as materialized (
    select g.*, row_number() over (order by n) - 1 as nth from given g, known
    where not exists (select from event_leads e
      where e.organization_id = $1 and e.event_id = $2 and e.lead_id = any ($3) and e.lead_id = g.lead_id)
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
select '[' || coalesce(
  (
    select string_agg(
      (select row_to_json(o)::text from (select lead_id as "leadId", registered, checked_in as "checkedIn") o), ','
      order by n
    )
    from given event_leads
  ), ''
) || ']'
where exists (select from known);

-- event.get: $1 integer, $2 bigint ($1 is the organization)
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
)
from events
where organization_id = $1 and id = $2;

-- events page: $1 integer, $2 bigint, $3 bigint ($1 is the organization)
select page.json, counted.total
from (select coalesce((select rows from list_counts
  where (organization_id, list, shift, bucket) = ($1, 'events', 40, 0)), 0) as total ) counted
    cross join list_seek($1, 'events', $3::bigint * $2::bigint) seek
  left join lateral (
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
    ) as json, position
    from (
      select *
      from (
        select *
        from events
        where organization_id = $1
          and (position) >= (
            select position
            from events
            where organization_id = $1 and position >= seek.start
            order by position
            limit 1 offset seek.rest
          )
        order by position
        limit 50
      ) events
      order by position
      limit $2::bigint
    ) events
  ) page on true
order by page.position;

-- event_leads page: $1 integer, $2 bigint, $3 bigint, $4 bigint ($1 is the organization)
select page.json, counted.total
from (select coalesce((select rows from list_counts
  where (organization_id, list, shift, bucket) = ($1, 'event_leads' || '/' || $2::bigint, 40, 0)), 0) as total
  where exists (select from events where organization_id = $1 and id = $2)) counted
    cross join list_seek($1, 'event_leads' || '/' || $2::bigint, $4::bigint * $3::bigint) seek
  left join lateral (
    select (select row_to_json(o)::text from (select lead_id as "leadId", registered, checked_in as "checkedIn") o) as
      json, position
    from (
      select *
      from (
        select *
        from event_leads
        where organization_id = $1
          and event_id = $2::bigint
          and (position) >= (
            select position
            from event_leads
            where organization_id = $1 and event_id = $2::bigint and position >= seek.start
            order by position
            limit 1 offset seek.rest
          )
        order by position
        limit 50
      ) event_leads
      order by position
      limit $3::bigint
    ) event_leads
  ) page on true
order by page.position;

-- event_users page: $1 integer, $2 bigint, $3 bigint, $4 bigint ($1 is the organization)
select page.json, counted.total
from (select coalesce((select rows from list_counts
  where (organization_id, list, shift, bucket) = ($1, 'event_users' || '/' || $2::bigint, 40, 0)), 0) as total
  where exists (select from events where organization_id = $1 and id = $2)) counted
    cross join list_seek($1, 'event_users' || '/' || $2::bigint, $4::bigint * $3::bigint) seek
  left join lateral (
    select (
      select (select row_to_json(o)::text from (select id, email, first_name as "firstName", last_name as "lastName") o)
      from users
      where users.organization_id = event_users.organization_id and users.id = event_users.user_id
    ) as json, position
    from (
      select *
      from (
        select *
        from event_users
        where organization_id = $1
          and event_id = $2::bigint
          and (position) >= (
            select position
            from event_users
            where organization_id = $1 and event_id = $2::bigint and position >= seek.start
            order by position
            limit 1 offset seek.rest
          )
        order by position
        limit 50
      ) event_users
      order by position
      limit $3::bigint
    ) event_users
  ) page on true
order by page.position;

-- Functions

CREATE OR REPLACE FUNCTION public.audit_users()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  if tg_op = 'UPDATE' then
    if not audit_follows_delete(tg_relid) then
      perform audit_records('users', 'updated', array[new.organization_id], array[new.id], array[null::uuid]);
    end if;
  else
    if tg_op = 'INSERT' then
      perform audit_records(
        'users', 'created', array_agg(changed.organization_id), array_agg(changed.id), array_agg(null::uuid)
      )
      from changed;
    else
      perform set_config('lanyard.deleted_at', statement_timestamp()::text, true);
      execute $sql$
      select audit_records(
        'users', 'deleted', array_agg(changed.organization_id), array_agg(changed.id), array_agg(null::uuid)
      )
      from changed
      where $sql$
        || audit_has_parents(tg_relid);
    end if;
  end if;
  return null;
end $function$;

CREATE OR REPLACE FUNCTION public.changes_of_event_leads()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  if tg_op <> 'UPDATE' then
    insert into changes (organization_id, resource, operation, event_id, id, remote_ids)
    select organization_id, 5, case tg_op when 'INSERT' then 'c' else 'd' end, changed.event_id, changed.lead_id,
      null from changed;
    if tg_op = 'INSERT' then
      perform audit_records(
        'eventLeads', 'created', array_agg(changed.organization_id order by changed.position),
          array_agg(changed.event_id order by changed.position), array_agg(changed.lead_id order by changed.position)
      )
      from changed;
    else
      perform set_config('lanyard.deleted_at', statement_timestamp()::text, true);
      execute $sql$
      select audit_records(
        'eventLeads', 'deleted', array_agg(changed.organization_id order by changed.position),
          array_agg(changed.event_id order by changed.position), array_agg(changed.lead_id order by changed.position)
      )
      from changed
      where $sql$
        || audit_has_parents(tg_relid);
    end if;
  else
    if (old.registered, old.checked_in) is distinct from (new.registered, new.checked_in) then
      insert into changes (organization_id, resource, operation, event_id, id, remote_ids) values
        (new.organization_id, 5, 'u', new.event_id, new.lead_id, null);
    end if;
    if not audit_follows_delete(tg_relid) then
      perform
        audit_records('eventLeads', 'updated', array[new.organization_id], array[new.event_id], array[new.lead_id]);
    end if;
  end if;
  return null;
end $function$;

CREATE OR REPLACE FUNCTION public.changes_of_event_tag_groups()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  if tg_op = 'UPDATE' then
    insert into changes (organization_id, resource, operation, event_id, id, remote_ids)
    select new.organization_id, 2, 'u', parent.*, null
    from (select old.event_id, null::uuid union select new.event_id, null::uuid) parent;
    perform audit_records('events', 'updated', array[p.organization_id], array[p.id], null::uuid[])
    from events p
    where p.id in (old.event_id, new.event_id)
      and p.xmin::text <> (pg_current_xact_id()::text::bigint & 4294967295)::text;
  else
    insert into changes (organization_id, resource, operation, event_id, id, remote_ids)
    select distinct organization_id, 2, 'u', changed.event_id, null::uuid, null::jsonb from changed;
    perform audit_records('events', 'updated', array[p.organization_id], array[p.id], null::uuid[])
    from events p
    where p.id in (select event_id from changed)
      and p.xmin::text <> (pg_current_xact_id()::text::bigint & 4294967295)::text;
  end if;
  return null;
end $function$;

CREATE OR REPLACE FUNCTION public.changes_of_events()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  if tg_op <> 'UPDATE' then
    insert into changes (organization_id, resource, operation, event_id, id, remote_ids)
    select organization_id, 2, case tg_op when 'INSERT' then 'c' else 'd' end, changed.id, null::uuid,
      null from changed;
    if tg_op = 'INSERT' then
      perform audit_records(
        'events', 'created', array_agg(changed.organization_id order by changed.position),
          array_agg(changed.id order by changed.position), array_agg(null::uuid order by changed.position)
      )
      from changed;
    else
      perform set_config('lanyard.deleted_at', statement_timestamp()::text, true);
      execute $sql$
      select audit_records(
        'events', 'deleted', array_agg(changed.organization_id order by changed.position),
          array_agg(changed.id order by changed.position), array_agg(null::uuid order by changed.position)
      )
      from changed
      where $sql$
        || audit_has_parents(tg_relid);
    end if;
  else
    if (
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
      )
      from (select old.*) events
    ) is distinct from (
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
      )
      from (select new.*) events
    ) then
      insert into changes (organization_id, resource, operation, event_id, id, remote_ids) values
        (new.organization_id, 2, 'u', new.id, null::uuid, null);
    end if;
    if not audit_follows_delete(tg_relid) then
      perform audit_records('events', 'updated', array[new.organization_id], array[new.id], array[null::uuid]);
    end if;
  end if;
  return null;
end $function$;
