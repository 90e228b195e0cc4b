-- The SQL that src/contexts/activations composes, as PostgreSQL gets it. npm run sql writes this file.

-- Prepared statements

-- activation.get: $1 integer, $2 uuid ($1 is the organization)
select (
  select row_to_json(o)::text
  from (
    select id, event_id as "eventId", name, iso_utc(created_at) as "createdAt", type, start_date as "startDate",
      end_date as "endDate", start_time as "startTime", end_time as "endTime", created_by as "createdBy", location,
      users, number_of_scans as "numberOfScans"
  ) o
)
from activations
where organization_id = $1 and id = $2;

-- activations page: $1 integer, $2 bigint, $3 bigint ($1 is the organization)
select page.json, counted.total
from (select coalesce((select rows from list_counts
  where (organization_id, list, shift, bucket) = ($1, 'activations', 40, 0)), 0) as total ) counted
    cross join list_seek($1, 'activations', $3::bigint * $2::bigint) seek
  left join lateral (
    select (
      select row_to_json(o)::text
      from (
        select id, event_id as "eventId", name, iso_utc(created_at) as "createdAt", type, start_date as "startDate",
          end_date as "endDate", start_time as "startTime", end_time as "endTime", created_by as "createdBy", location,
          users, number_of_scans as "numberOfScans"
      ) o
    ) as json, position
    from (
      select *
      from (
        select *
        from activations
        where organization_id = $1
          and (position) >= (
            select position
            from activations
            where organization_id = $1 and position >= seek.start
            order by position
            limit 1 offset seek.rest
          )
        order by position
        limit 50
      ) activations
      order by position
      limit $2::bigint
    ) activations
  ) page on true
order by page.position;

-- Functions

CREATE OR REPLACE FUNCTION public.changes_of_activations()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  if tg_op <> 'UPDATE' then
    insert into changes (organization_id, resource, operation, event_id, id, remote_ids)
    select organization_id, 3, case tg_op when 'INSERT' then 'c' else 'd' end, null::bigint, changed.id,
      null from changed;
    if tg_op = 'INSERT' then
      perform audit_records(
        'activations', 'created', array_agg(changed.organization_id order by changed.position),
          array_agg(null::bigint order by changed.position), array_agg(changed.id order by changed.position)
      )
      from changed;
    else
      perform set_config('lanyard.deleted_at', statement_timestamp()::text, true);
      execute $sql$
      select audit_records(
        'activations', 'deleted', array_agg(changed.organization_id order by changed.position),
          array_agg(null::bigint order by changed.position), array_agg(changed.id order by changed.position)
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
          select id, event_id as "eventId", name, iso_utc(created_at) as "createdAt", type, start_date as "startDate",
            end_date as "endDate", start_time as "startTime", end_time as "endTime", created_by as "createdBy",
            location, users, number_of_scans as "numberOfScans"
        ) o
      )
      from (select old.*) activations
    ) is distinct from (
      select (
        select row_to_json(o)::text
        from (
          select id, event_id as "eventId", name, iso_utc(created_at) as "createdAt", type, start_date as "startDate",
            end_date as "endDate", start_time as "startTime", end_time as "endTime", created_by as "createdBy",
            location, users, number_of_scans as "numberOfScans"
        ) o
      )
      from (select new.*) activations
    ) then
      insert into changes (organization_id, resource, operation, event_id, id, remote_ids) values
        (new.organization_id, 3, 'u', null::bigint, new.id, null);
    end if;
    if not audit_follows_delete(tg_relid) then
      perform audit_records('activations', 'updated', array[new.organization_id], array[null::bigint], array[new.id]);
    end if;
  end if;
  return null;
end $function$;
