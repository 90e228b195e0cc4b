-- The SQL that src/contexts/tag-groups composes, as PostgreSQL gets it. npm run sql writes this file.

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
          and (position) >= (
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
    if tg_op = 'INSERT' then
      perform audit_records(
        'tagGroups', 'created', array_agg(changed.organization_id order by changed.position),
          array_agg(null::bigint order by changed.position), array_agg(changed.id order by changed.position)
      )
      from changed;
    else
      perform set_config('lanyard.deleted_at', statement_timestamp()::text, true);
      execute $sql$
      select audit_records(
        'tagGroups', 'deleted', array_agg(changed.organization_id order by changed.position),
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
    if not audit_follows_delete(tg_relid) then
      perform audit_records('tagGroups', 'updated', array[new.organization_id], array[null::bigint], array[new.id]);
    end if;
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
    perform audit_records('tagGroups', 'updated', array[p.organization_id], null::bigint[], array[p.id])
    from tag_groups p
    where p.id in (old.tag_group_id, new.tag_group_id)
      and p.xmin::text <> (pg_current_xact_id()::text::bigint & 4294967295)::text;
  else
    insert into changes (organization_id, resource, operation, event_id, id, remote_ids)
    select distinct organization_id, 1, 'u', null::bigint, changed.tag_group_id, null::jsonb from changed;
    perform audit_records('tagGroups', 'updated', array[p.organization_id], null::bigint[], array[p.id])
    from tag_groups p
    where p.id in (select tag_group_id from changed)
      and p.xmin::text <> (pg_current_xact_id()::text::bigint & 4294967295)::text;
  end if;
  return null;
end $function$;
