-- The SQL that src/schema composes, as PostgreSQL gets it. npm run sql writes this file.

-- Functions

CREATE OR REPLACE FUNCTION public.list_advance(org integer, name text, start bigint, reserved bigint, written bigint)
 RETURNS void
 LANGUAGE plpgsql
AS $function$
begin
  insert into lists as l values (org, name, start + reserved)
  on conflict (organization_id, list) do update set next_position = excluded.next_position
  where l.next_position <= start;
  if not found then
    raise 'Others have added rows to % up to the reserved positions', name using errcode = 'unique_violation';
  end if;
  insert into list_counts as c select org, name, 40, 0, written where written > 0
  on conflict (organization_id, list, shift, bucket) do update set rows = c.rows + excluded.rows;
end $function$;

CREATE OR REPLACE FUNCTION public.list_reserve(org integer, name text, margin bigint)
 RETURNS bigint
 LANGUAGE sql
 STABLE
AS $function$
  select
    ((coalesce((select next_position from lists where organization_id = org and list = name), 0) + margin >> 14) + 1) <<
    14
$function$;

CREATE OR REPLACE FUNCTION public.list_track(name text, parent text, parent_table text, shared text)
 RETURNS void
 LANGUAGE plpgsql
AS $function$
declare
  fixed constant text[] := '{position}' || case shared when '' then '{organization_id}' else '{}' end::text[]
    || case parent when '' then '{}' else array[parent] end;
  changes constant text :=
    (select string_agg(format('old.%1$I is distinct from new.%1$I', f), ' or ') from unnest(fixed) f);
  arguments constant text := format('(%L, %L, %L)', name, parent, shared);
begin
  execute format('create trigger t00_no_truncate before truncate on %I execute function refuse()', name);
  execute format('create trigger t00_fixed before update of %s on %I for each row when (%s) execute function refuse()',
    array_to_string(fixed, ', '), name, changes);
  execute format('create trigger t10_position before insert on %I for each row when (new.position is null)
    execute function list_position', name) || arguments;
  execute format('create trigger t80_count_inserted after insert on %I referencing new table as changed
    for each statement execute function list_count', name) || arguments;
  execute format('create trigger t80_count_deleted after delete on %I referencing old table as changed
    for each statement execute function list_count', name) || arguments;
  if parent <> '' then
    execute format('create trigger %I after delete on %I for each row execute function list_forget(%L)',
      't90_forget_' || name, parent_table, name);
  end if;
end $function$;
