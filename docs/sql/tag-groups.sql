-- The SQL that src/tag-groups composes, as PostgreSQL gets it. npm run sql writes this file.

-- Prepared statements

-- tagGroup.get: $1 integer, $2 uuid ($1 is the organization)
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
)
from tag_groups
where organization_id = $1 and id = $2;

-- tag_groups first page: $1 integer, $2 bigint ($1 is the organization)
select page.json, counted.total
from (select coalesce((select rows from list_counts
  where (organization_id, list, shift, bucket) = ($1, 'tag_groups', 40, 0)), 0) as total ) counted
  left join lateral (
    select (
      select row_to_json(o)::text
      from (
        select id, name, status, allows_multiple_selection as "allowsMultipleSelection",
          display_order as "displayOrder", usage_instructions as "usageInstructions", required,
          all_events as "allEvents", coalesce(
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
    ) as json, position
    from (
      select *
      from (select * from tag_groups where organization_id = $1 order by position limit 50) tag_groups
      order by position
      limit $2::bigint
    ) tag_groups
  ) page on true
order by page.position;

-- tag_groups page: $1 integer, $2 bigint, $3 bigint ($1 is the organization)
select page.json, counted.total
from (select coalesce((select rows from list_counts
  where (organization_id, list, shift, bucket) = ($1, 'tag_groups', 40, 0)), 0) as total ) counted
    cross join list_seek($1, 'tag_groups', $3::bigint * $2::bigint) seek
  left join lateral (
    select (
      select row_to_json(o)::text
      from (
        select id, name, status, allows_multiple_selection as "allowsMultipleSelection",
          display_order as "displayOrder", usage_instructions as "usageInstructions", required,
          all_events as "allEvents", coalesce(
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
    ) as json, position
    from (
      select *
      from (
        select *
        from tag_groups
        where organization_id = $1
          and position >= (
            select position
            from tag_groups
            where organization_id = $1 and position >= seek.start
            order by position
            limit 1 offset seek.rest
          )
        order by position
        limit 50
      ) tag_groups
      order by position
      limit $2::bigint
    ) tag_groups
  ) page on true
order by page.position;

-- Functions

CREATE OR REPLACE FUNCTION public.changes_of_tag_groups()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  if tg_op <> 'UPDATE' then
    insert into changes (organization_id, resource, operation, event_id, id, remote_ids)
    select organization_id, 1, case tg_op when 'INSERT' then 'c' else 'd' end, null::bigint, changed.id,
      null from changed;
  elsif (
    select (
      select row_to_json(o)::text
      from (
        select id, name, status, allows_multiple_selection as "allowsMultipleSelection",
          display_order as "displayOrder", usage_instructions as "usageInstructions", required,
          all_events as "allEvents", coalesce(
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
    )
    from (select old.*) tag_groups
  ) is distinct from (
    select (
      select row_to_json(o)::text
      from (
        select id, name, status, allows_multiple_selection as "allowsMultipleSelection",
          display_order as "displayOrder", usage_instructions as "usageInstructions", required,
          all_events as "allEvents", coalesce(
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
    )
    from (select new.*) tag_groups
  ) then
    insert into changes (organization_id, resource, operation, event_id, id, remote_ids) values
      (new.organization_id, 1, 'u', null::bigint, new.id, null);
  end if;
  return null;
end $function$;

CREATE OR REPLACE FUNCTION public.changes_of_tag_options()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  if tg_op = 'UPDATE' then
    insert into changes (organization_id, resource, operation, event_id, id, remote_ids)
    select new.organization_id, 1, 'u', parent.*, null
    from (select null::bigint, old.tag_group_id union select null::bigint, new.tag_group_id) parent;
  else
    insert into changes (organization_id, resource, operation, event_id, id, remote_ids)
    select distinct organization_id, 1, 'u', null::bigint, changed.tag_group_id, null::jsonb from changed;
  end if;
  return null;
end $function$;

-- Triggers on its tables, in the order in which they fire

CREATE TRIGGER t00_fixed BEFORE UPDATE OF "position", organization_id ON public.tag_groups FOR EACH ROW WHEN
  (((old."position" IS DISTINCT FROM new."position") OR (old.organization_id IS DISTINCT FROM new.organization_id)))
  EXECUTE FUNCTION refuse();
CREATE TRIGGER t00_no_truncate BEFORE TRUNCATE ON public.tag_groups FOR EACH STATEMENT EXECUTE FUNCTION refuse();
CREATE TRIGGER t10_position BEFORE INSERT ON public.tag_groups FOR EACH ROW WHEN ((new."position" IS NULL)) EXECUTE
  FUNCTION list_position('tag_groups', '', '');
CREATE TRIGGER t60_change_deleted AFTER DELETE ON public.tag_groups REFERENCING OLD TABLE AS changed FOR EACH STATEMENT
  EXECUTE FUNCTION changes_of_tag_groups();
CREATE TRIGGER t60_change_inserted AFTER INSERT ON public.tag_groups REFERENCING NEW TABLE AS changed FOR EACH STATEMENT
  EXECUTE FUNCTION changes_of_tag_groups();
CREATE TRIGGER t60_change_updated AFTER UPDATE ON public.tag_groups FOR EACH ROW WHEN ((old.* IS DISTINCT FROM new.*))
  EXECUTE FUNCTION changes_of_tag_groups();
CREATE TRIGGER t80_count_deleted AFTER DELETE ON public.tag_groups REFERENCING OLD TABLE AS changed FOR EACH STATEMENT
  EXECUTE FUNCTION list_count('tag_groups', '', '');
CREATE TRIGGER t80_count_inserted AFTER INSERT ON public.tag_groups REFERENCING NEW TABLE AS changed FOR EACH STATEMENT
  EXECUTE FUNCTION list_count('tag_groups', '', '');
CREATE TRIGGER t00_no_truncate BEFORE TRUNCATE ON public.tag_options FOR EACH STATEMENT EXECUTE FUNCTION refuse();
CREATE TRIGGER t50_render_updated AFTER UPDATE ON public.tag_options FOR EACH ROW WHEN
  ((old.value IS DISTINCT FROM new.value)) EXECUTE FUNCTION render_leads();
CREATE TRIGGER t60_change_deleted AFTER DELETE ON public.tag_options REFERENCING OLD TABLE AS changed FOR EACH STATEMENT
  EXECUTE FUNCTION changes_of_tag_options();
CREATE TRIGGER t60_change_inserted AFTER INSERT ON public.tag_options REFERENCING NEW TABLE AS changed FOR EACH
  STATEMENT EXECUTE FUNCTION changes_of_tag_options();
CREATE TRIGGER t60_change_updated AFTER UPDATE ON public.tag_options FOR EACH ROW WHEN ((old.* IS DISTINCT FROM new.*))
  EXECUTE FUNCTION changes_of_tag_options();
