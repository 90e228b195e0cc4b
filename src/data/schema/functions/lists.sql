-- Lists in order of arrival, with exact totals and fast deep pages (docs/decisions/0007, docs/locking.md). A row gets the
-- next position of its list when it arrives and keeps it; a deleted row leaves a hole.

-- Reserves n positions at the end of a list, and locks it. Statements that insert many rows call it once and number their
-- rows: through the trigger below 10,000 rows cost 15 times as much.
create or replace function list_take(org integer, name text, n bigint) returns bigint language sql as $$
  insert into lists as l values (org, name, n)
  on conflict (organization_id, list) do update set next_position = l.next_position + n
  returning next_position - n
$$;

-- Where an import writes rows while others go on adding to the list: margin positions beyond its end, so that nobody else gets
-- there meanwhile. It begins with a whole count of 16,384 positions, of which no other row has one. Nothing is locked: imports
-- of an organization take turns (docs/decisions/0025).
create or replace function list_reserve(org integer, name text, margin bigint) returns bigint language sql stable as $$
  select ((coalesce((select next_position from lists where organization_id = org and list = name), 0) + margin >> 14) + 1) << 14
$$;

-- Has a list end after the reserved positions, and adds the rows that were written there to its total. Locks the list.
create or replace function list_advance(org integer, name text, start bigint, reserved bigint, written bigint) returns void
language plpgsql as $$
begin
  insert into lists as l values (org, name, start + reserved)
  on conflict (organization_id, list) do update set next_position = excluded.next_position where l.next_position <= start;
  if not found then
    raise 'Others have added rows to % up to the reserved positions', name using errcode = 'unique_violation';
  end if;
  insert into list_counts as c select org, name, 40, 0, written where written > 0
  on conflict (organization_id, list, shift, bucket) do update set rows = c.rows + excluded.rows;
end $$;

-- Before insert, for each row without a position. Arguments: the list, the column of its parent or '', and 'shared' or ''.
create or replace function list_position() returns trigger language plpgsql as $$
declare
  org integer := 0;
  parent constant text := case when tg_argv[1] = '' then '' else '/' || (to_jsonb(new) ->> tg_argv[1]) end;
begin
  if tg_argv[2] = '' then
    org := new.organization_id;
  end if;
  new.position := list_take(org, tg_argv[0] || parent, 1);
  return new;
end $$;

-- After insert or delete, for each statement: adds up the rows of the transition table 'changed'. Arguments as above.
create or replace function list_count() returns trigger language plpgsql as $$
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
end $$;

-- Where a page begins: a position, and how many rows to skip from there (fewer than 256). Null: after the last row.
create or replace function list_seek(org integer, name text, skip bigint, out start bigint, out rest bigint)
language plpgsql stable as $$
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
end $$;

-- After delete of a list's parent, for each row. Argument: the list.
create or replace function list_forget() returns trigger language plpgsql as $$
begin
  delete from lists l where l.organization_id = old.organization_id and l.list = tg_argv[0] || '/' || old.id;
  return null;
end $$;

-- The triggers of a list; data/schema/functions.ts calls this for each @ListedEntity. What its counts would not follow is
-- refused: truncate, and a row that changes its list or place.
create or replace function list_track(name text, parent text, parent_table text, shared text) returns void
language plpgsql as $$
declare
  fixed constant text[] := '{position}' || case shared when '' then '{organization_id}' else '{}' end::text[]
    || case parent when '' then '{}' else array[parent] end;
  changes constant text := (select string_agg(format('old.%1$I is distinct from new.%1$I', f), ' or ') from unnest(fixed) f);
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
end $$;
