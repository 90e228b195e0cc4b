-- Lists in order of arrival, with exact totals and deep pages as fast as the first (docs/decisions/0007). A row gets the
-- next position of its list when it arrives and keeps it; a deleted row leaves a hole. Nothing is ever inserted in the
-- middle, so nothing moves. docs/locking.md has the order of locks.

-- Reserves n positions at the end of a list, which stays locked until the transaction ends. Statements that insert many
-- rows call it once and number their rows: through the trigger below 10,000 rows cost 15 times as much.
create or replace function list_take(org integer, name text, n bigint) returns bigint language sql as $$
  insert into lists as l values (org, name, n)
  on conflict (organization_id, list) do update set next_position = l.next_position + n
  returning next_position - n
$$;

-- Before insert, for each row. Arguments: the list, the column of its parent or '', and 'shared' or ''.
create or replace function list_position() returns trigger language plpgsql as $$
declare
  org integer := 0;
  name text := tg_argv[0];
begin
  if new.position is not null then
    return new;
  end if;
  if tg_argv[2] <> 'shared' then
    org := new.organization_id;
  end if;
  if tg_argv[1] <> '' then
    name := name || '/' || (to_jsonb(new) ->> tg_argv[1]);
  end if;
  new.position := list_take(org, name, 1);
  return new;
end $$;

-- After insert or delete, for each statement: adds up the rows of the transition table 'changed'. Arguments as above.
create or replace function list_count() returns trigger language plpgsql as $$
declare
  sign constant integer := case tg_op when 'INSERT' then 1 else -1 end;
  counted list_counts;
begin
  for counted in
    insert into list_counts as c
    select r.organization_id, r.list, s, r.position >> s, sign * count(*)
    from (
        -- Of a table without organizations this is the 0 of 'shared': an inner name hides an outer one.
        select (select organization_id from (select changed.*) own) as organization_id, changed.position,
          case when tg_argv[1] = '' then tg_argv[0] else tg_argv[0] || '/' || (to_jsonb(changed) ->> tg_argv[1]) end as list
        from changed cross join (select 0 as organization_id) shared
      ) r, unnest('{40,14,8}'::smallint[]) s
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
end $$;

create or replace function list_total(org integer, name text) returns integer language sql stable as $$
  select coalesce((select rows from list_counts where (organization_id, list, shift, bucket) = (org, name, 40, 0)), 0)
$$;

-- Where a page begins: a position, and how many rows to skip from there (fewer than 256). Null: after the last row.
create or replace function list_seek(org integer, name text, skip bigint, out start bigint, out rest bigint)
language plpgsql stable as $$
declare
  level integer;
  last bigint := 1::bigint << 40; -- the range of positions that is looked through
  counted record;
  is_found boolean;
begin
  start := 0;
  rest := skip;
  foreach level in array '{14,8}'::integer[] loop
    is_found := false;
    for counted in
      select bucket, rows from list_counts c where c.organization_id = org and c.list = name and c.shift = level
        and bucket >= start >> level and bucket < last >> level
      order by bucket
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
end $$;

-- After delete, for each row: of an event (arguments: lists of its own), or of an organization.
create or replace function list_forget() returns trigger language plpgsql as $$
declare
  name text;
begin
  if tg_nargs = 0 then
    delete from lists where organization_id = old.id;
  end if;
  foreach name in array tg_argv loop
    delete from lists where organization_id = old.organization_id and list = name || '/' || old.id;
  end loop;
  return null;
end $$;

-- What would leave a list's counts, or documents of leads, as they were.
create or replace function refuse() returns trigger language plpgsql as $$
begin
  raise '% of % would leave what is kept of its rows as it is: delete the rows instead', tg_op, tg_table_name
    using errcode = 'feature_not_supported';
end $$;

-- The triggers of a list.
create or replace function list_track(name text, parent text default '', shared text default '') returns void
language plpgsql as $$
declare
  fixed constant text[] := array_remove(array['position', case shared when '' then 'organization_id' end, nullif(parent, '')], null);
  changes constant text := (select string_agg(format('old.%1$I is distinct from new.%1$I', f), ' or ') from unnest(fixed) f);
  arguments constant text := format('%L, %L, %L', name, parent, shared);
begin
  execute format('create trigger t00_no_truncate before truncate on %I execute function refuse()', name);
  execute format('create trigger t00_fixed before update of %s on %I for each row when (%s) execute function refuse()',
    array_to_string(fixed, ', '), name, changes);
  execute format('create trigger t10_position before insert on %I for each row execute function list_position(%s)',
    name, arguments);
  execute format('create trigger t80_count_inserted after insert on %I referencing new table as changed
    for each statement execute function list_count(%s)', name, arguments);
  execute format('create trigger t80_count_deleted after delete on %I referencing old table as changed
    for each statement execute function list_count(%s)', name, arguments);
end $$;

select list_track('tag_groups');
select list_track('events');
select list_track('event_users', 'event_id');
select list_track('event_leads', 'event_id');
select list_track('activations');
select list_track('leads');
select list_track('lead_activity_events');
select list_track('industry_events', shared => 'shared');

create trigger t90_forget_lists after delete on events
  for each row execute function list_forget('event_users', 'event_leads');
create trigger t90_forget_lists after delete on organizations for each row execute function list_forget();
