-- The SQL of src/schema, as PostgreSQL gets it. npm run sql writes this file.

-- Functions

CREATE OR REPLACE FUNCTION public.iso_utc(moment timestamp with time zone)
 RETURNS text
 LANGUAGE sql
 STABLE PARALLEL SAFE
AS $function$
  select to_char(moment at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')
$function$;

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

CREATE OR REPLACE FUNCTION public.list_count()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
declare
  sign constant integer := case tg_op when 'INSERT' then 1 else -1 end;
  -- The total would be locked until the end of the transaction. At reserved positions list_advance() adds to it.
  levels constant smallint[] := case
    when tg_op = 'INSERT' and current_setting('lanyard.at_reserved_positions', true) = 'on' then '{14,8}'
    else '{40,14,8}' end;
  counted list_counts;
begin
  -- The trigger is fired by statements that insert nothing, too: PUT of leads that an event already has.
  if not exists (select from changed) then
    return null;
  end if;
  for counted in
    insert into list_counts as c
    select r.organization_id, r.list, s, r.position >> s, sign * count(*)
    from (
        -- Where the table has no organizations, this is the outer 0.
        select (select organization_id from (select changed.*) own) as organization_id, changed.position,
          tg_argv[0] || case when tg_argv[1] = '' then '' else '/' || (to_jsonb(changed) ->> tg_argv[1]) end as list
        from changed cross join (select 0 as organization_id) shared
      ) r, unnest(levels) s
    group by 1, 2, 3, 4 order by 1, 2, 3 desc, 4
    on conflict (organization_id, list, shift, bucket) do update set rows = c.rows + excluded.rows
    returning *
  loop
    if counted.rows = 0 then
      delete from list_counts c where (c.organization_id, c.list, c.shift, c.bucket)
        = (counted.organization_id, counted.list, counted.shift, counted.bucket);
    end if;
  end loop;
  return null;
end $function$;

CREATE OR REPLACE FUNCTION public.list_forget()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  delete from lists l where l.organization_id = old.organization_id and l.list = tg_argv[0] || '/' || old.id;
  return null;
end $function$;

CREATE OR REPLACE FUNCTION public.list_position()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
declare
  org integer := 0;
  parent constant text := case when tg_argv[1] = '' then '' else '/' || (to_jsonb(new) ->> tg_argv[1]) end;
begin
  if tg_argv[2] = '' then
    org := new.organization_id;
  end if;
  new.position := list_take(org, tg_argv[0] || parent, 1);
  return new;
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

CREATE OR REPLACE FUNCTION public.list_seek(org integer, name text, skip bigint, OUT start bigint, OUT rest bigint)
 RETURNS record
 LANGUAGE plpgsql
 STABLE
AS $function$
declare
  level integer;
  last bigint := 1::bigint << 40; -- the positions from 'start' to here are looked through
  counted list_counts;
  is_found boolean;
begin
  start := 0;
  rest := skip;
  foreach level in array '{14,8}'::integer[] loop
    is_found := false;
    for counted in
      select * from list_counts c where c.organization_id = org and c.list = name and c.shift = level
        and c.bucket >= start >> level and c.bucket < last >> level order by c.bucket
    loop
      is_found := rest < counted.rows;
      exit when is_found;
      rest := rest - counted.rows;
    end loop;
    if not is_found then
      start := null;
      return;
    end if;
    start := counted.bucket << level;
    last := start + (1::bigint << level);
  end loop;
end $function$;

CREATE OR REPLACE FUNCTION public.list_take(org integer, name text, n bigint)
 RETURNS bigint
 LANGUAGE sql
AS $function$
  insert into lists as l values (org, name, n)
  on conflict (organization_id, list) do update set next_position = l.next_position + n
  returning next_position - n
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

CREATE OR REPLACE FUNCTION public.refuse()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  raise '% of % would leave what is kept of its rows as it is: delete the rows instead', tg_op, tg_table_name
    using errcode = 'feature_not_supported';
end $function$;

CREATE OR REPLACE FUNCTION public.uuid_v7()
 RETURNS uuid
 LANGUAGE sql
 PARALLEL SAFE
AS $function$
  select (lpad(to_hex((extract(epoch from clock_timestamp()) * 1000)::bigint), 12, '0') || '7'
    || substr(replace(gen_random_uuid()::text, '-', ''), 14))::uuid
$function$;

-- Triggers on its tables, in the order in which they fire

CREATE TRIGGER t70_pause_webhooks AFTER UPDATE OF database_identity ON public.changes_key FOR EACH STATEMENT EXECUTE
  FUNCTION pause_webhooks();
