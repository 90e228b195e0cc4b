-- The SQL that src/activations composes, as PostgreSQL gets it. npm run sql writes this file.

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

-- activations first page: $1 integer, $2 bigint ($1 is the organization)
select page.json, counted.total
from (select coalesce((select rows from list_counts
  where (organization_id, list, shift, bucket) = ($1, 'activations', 40, 0)), 0) as total ) counted
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
      from (select * from activations where organization_id = $1 order by position limit 50) activations
      order by position
      limit $2::bigint
    ) activations
  ) page on true
order by page.position;

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
          and position >= (
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
  elsif (
    select (
      select row_to_json(o)::text
      from (
        select id, event_id as "eventId", name, iso_utc(created_at) as "createdAt", type, start_date as "startDate",
          end_date as "endDate", start_time as "startTime", end_time as "endTime", created_by as "createdBy", location,
          users, number_of_scans as "numberOfScans"
      ) o
    )
    from (select old.*) activations
  ) is distinct from (
    select (
      select row_to_json(o)::text
      from (
        select id, event_id as "eventId", name, iso_utc(created_at) as "createdAt", type, start_date as "startDate",
          end_date as "endDate", start_time as "startTime", end_time as "endTime", created_by as "createdBy", location,
          users, number_of_scans as "numberOfScans"
      ) o
    )
    from (select new.*) activations
  ) then
    insert into changes (organization_id, resource, operation, event_id, id, remote_ids) values
      (new.organization_id, 3, 'u', null::bigint, new.id, null);
  end if;
  return null;
end $function$;

-- Triggers on its tables, in the order in which they fire

CREATE TRIGGER t00_fixed BEFORE UPDATE OF "position", organization_id ON public.activations FOR EACH ROW WHEN
  (((old."position" IS DISTINCT FROM new."position") OR (old.organization_id IS DISTINCT FROM new.organization_id)))
  EXECUTE FUNCTION refuse();
CREATE TRIGGER t00_no_truncate BEFORE TRUNCATE ON public.activations FOR EACH STATEMENT EXECUTE FUNCTION refuse();
CREATE TRIGGER t10_position BEFORE INSERT ON public.activations FOR EACH ROW WHEN ((new."position" IS NULL)) EXECUTE
  FUNCTION list_position('activations', '', '');
CREATE TRIGGER t60_change_deleted AFTER DELETE ON public.activations REFERENCING OLD TABLE AS changed FOR EACH STATEMENT
  EXECUTE FUNCTION changes_of_activations();
CREATE TRIGGER t60_change_inserted AFTER INSERT ON public.activations REFERENCING NEW TABLE AS changed FOR EACH
  STATEMENT EXECUTE FUNCTION changes_of_activations();
CREATE TRIGGER t60_change_updated AFTER UPDATE ON public.activations FOR EACH ROW WHEN ((old.* IS DISTINCT FROM new.*))
  EXECUTE FUNCTION changes_of_activations();
CREATE TRIGGER t80_count_deleted AFTER DELETE ON public.activations REFERENCING OLD TABLE AS changed FOR EACH STATEMENT
  EXECUTE FUNCTION list_count('activations', '', '');
CREATE TRIGGER t80_count_inserted AFTER INSERT ON public.activations REFERENCING NEW TABLE AS changed FOR EACH STATEMENT
  EXECUTE FUNCTION list_count('activations', '', '');
