/**
 * A list whose total and whose pages are found without counting and without skipping rows: the rows of a table, all of
 * an organization's or those with one value in a column, in an order given by a moment and an id.
 *
 * A row of the table `lists` holds the total, and the blocks of the list in order, with the number of rows before each. A
 * row of `list_blocks` holds boundaries at regular places in a block, with the number of the block's rows before each.
 *
 * Triggers keep it in the transaction of every change, whoever makes it. The row of `lists` is the list's lock too: who
 * adds or removes holds it to the end of the transaction, so that rows become visible in the order of the list.
 */
export interface TrackedList {
  /** the list's name in `lists` */
  name: string;
  table: string;
  /** the column by whose value a list is one of many, with its type */
  parent?: { column: string; type: 'uuid' | 'bigint' | 'text' };
  /** the column of the moment */
  at: string;
  /** the column of the id, with its type */
  id: { column: string; type: 'uuid' | 'bigint' };
  /** whether the list is everybody's and not an organization's */
  shared?: boolean;
}

/**
 * Rows between two boundaries, and of a block, when they are drawn; deletions leave fewer, additions in the middle more.
 * Finding a page costs 0.1 to 0.2 µs for each row between the boundary and the page, and 0.02 µs for each block of the
 * list; a change in its middle writes a block anew, about a kilobyte, and the row of the list, 6 kB for a million rows.
 */
const SPAN = 64;
const BLOCK = 32 * SPAN;
/** Rows between two boundaries for which a list is drawn anew. */
const WIDEST = 2000;

/** SQL of the table of blocks, beside that of lists. */
export const LIST_BLOCKS = `
  create table if not exists list_blocks (
    list bigint not null constraint list_blocks_list_fkey references lists (id) on delete cascade,
    block integer not null,
    at timestamptz not null, -- the moment of its first row when it was drawn
    id uuid not null, -- and its id
    ranks bigint[] not null, -- rows of the block before each boundary
    moments timestamptz[] not null, -- of the first row behind each boundary when it was drawn
    ids uuid[] not null, -- and its id
    constraint list_blocks_pkey primary key (list, block)
  ) with (fillfactor = 50);
  create unique index if not exists list_blocks_place_idx on list_blocks (list, at, id);`;

/**
 * What deletes lock: the list of their own table, then those of what goes with it. (A cascade's triggers run after those
 * of the statement.) So `delete from events` and `delete from leads`, and whoever is between them.
 */
const AS_DELETES_DO = `array_position(array['tag_groups', 'events', 'leads', 'activations', 'event_leads',
  'lead_activity_events_by_type', 'lead_activity_events', 'industry_events'], name)`;

/** SQL of the functions that all lists use. */
export const LIST_FUNCTIONS = `
  -- An import lasts, and must not hold up everybody else who adds to a list: within it, changes are noted, and
  -- counted in its last moment.
  create or replace function defer_lists() returns void language plpgsql as $$
  begin
    create temporary table deferred_lists (
      name text, organization_id integer, parent text, rows bigint, first timestamptz,
      primary key (name, organization_id, parent)
    ) on commit drop;
    perform set_config('lanyard.lists', 'deferred', true);
  end $$;

  create or replace function defer_list(
    list text, of_organization integer, of_parent text, more bigint, from_moment timestamptz
  ) returns boolean language plpgsql as $$
  begin
    if current_setting('lanyard.lists', true) is distinct from 'deferred' then
      return false;
    end if;
    insert into deferred_lists as d values (list, of_organization, of_parent, more, from_moment)
      on conflict (name, organization_id, parent) do update
        set rows = d.rows + excluded.rows, first = least(d.first, excluded.first);
    return true;
  end $$;

  create or replace function settle_lists() returns void language plpgsql as $$
  declare
    change record;
    in_order boolean;
  begin
    perform set_config('lanyard.lists', '', true);
    for change in select * from deferred_lists order by ${AS_DELETES_DO}, organization_id, parent loop
      execute format('select count_%s_list($1, $2, $3, $4)', change.name) into in_order
        using change.organization_id, change.parent, change.rows, change.first;
      if not in_order then
        execute format('select rebuild_%s_list($1, $2)', change.name) using change.organization_id, change.parent;
      end if;
    end loop;
    drop table deferred_lists;
  end $$;

  -- The blocks of a list follow rows that came (a step of 1) or went (-1) at these places. A block without rows is
  -- dropped, and so is a boundary without rows up to the next.
  -- Returns how many rows there are now between two boundaries of these blocks, at most.
  create or replace function shift_list(of_list bigint, step integer, places list_place[]) returns bigint
  language plpgsql set plan_cache_mode = force_generic_plan as $$
  declare
    new_blocks integer[];
    new_ranks bigint[];
    all_rows bigint;
    changes record;
    n integer;
    end_of_block bigint;
    widest bigint := 0;
    last list_blocks;
  begin
    select l.blocks, l.ranks, l.total into new_blocks, new_ranks, all_rows from lists l where l.id = of_list;
    with changed as (
      select b.block, array_agg((p.at, p.id)::list_place) as places
      from unnest(places) p left join lateral (
        select b.block from list_blocks b
        where b.list = of_list and (b.at, b.id) <= (p.at, p.id) order by b.at desc, b.id desc limit 1
      ) b on true group by 1
    ), shifted as (
      update list_blocks b set (ranks, moments, ids) = (
        select array_agg(r.rank order by r.n), array_agg(r.at order by r.n), array_agg(r.id order by r.n)
        from (
          select s.*, lead(s.rank) over (order by s.n) as next from (
            select r.n, r.at, r.id,
              r.rank + step * (select count(*) from unnest(c.places) p where (p.at, p.id) < (r.at, r.id)) as rank
            from unnest(b.ranks, b.moments, b.ids) with ordinality r (rank, at, id, n)
          ) s
        ) r where r.next is distinct from r.rank
      ) from changed c where b.list = of_list and b.block = c.block
      returning b.block, b.ranks[cardinality(b.ranks)] as last,
        (select max(r.next - r.rank) from (select rank, lead(rank) over (order by rank) as next from unnest(b.ranks) rank) r) as widest
    )
    select array_agg(c.block order by c.n) as blocks, array_agg(step * cardinality(c.places) order by c.n) as rows,
      array_agg(coalesce(s.last, 0) order by c.n) as lasts, max(s.widest) as widest
    into changes
    from (select *, coalesce(array_position(new_blocks, block), 0) as n from changed) c left join shifted s using (block);
    for i in 1 .. cardinality(changes.blocks) loop
      n := coalesce(array_position(new_blocks, changes.blocks[i]), 0); -- 0: before the first
      new_ranks := new_ranks[:n] || array(
        select r.rank + changes.rows[i] from unnest(new_ranks[n + 1:]) with ordinality r (rank, n) order by r.n);
      end_of_block := coalesce(new_ranks[n + 1], all_rows);
      widest := greatest(widest, end_of_block - coalesce(new_ranks[n], 0) - changes.lasts[i]);
      if end_of_block = new_ranks[n] then
        delete from list_blocks b where b.list = of_list and b.block = changes.blocks[i];
        new_blocks := new_blocks[:n - 1] || new_blocks[n + 1:];
        new_ranks := new_ranks[:n - 1] || new_ranks[n + 1:];
      end if;
    end loop;
    select b.* into last from list_blocks b
      where b.list = of_list and b.block = new_blocks[cardinality(new_blocks)];
    update lists l set blocks = new_blocks, ranks = new_ranks,
      tail = l.total - coalesce(new_ranks[cardinality(new_ranks)] + last.ranks[cardinality(last.ranks)], 0),
      tail_from = coalesce(last.moments[cardinality(last.moments)], '-infinity')
      where l.id = of_list;
    return greatest(widest, changes.widest);
  end $$;
`;

/** Boundaries hold every id as a uuid: of a number they are the last digits. */
const asUuid = (id: string, type: 'uuid' | 'bigint'): string =>
  type === 'uuid' ? id : `lpad(to_hex(${id}), 32, '0')::uuid`;

/** The id that a boundary holds. */
export const fromUuid = (uuid: string, type: 'uuid' | 'bigint'): string =>
  type === 'uuid' ? uuid : `('x' || right(translate((${uuid})::text, '-', ''), 16))::bit(64)::bigint`;

export const LEAST_UUID = '00000000-0000-0000-0000-000000000000';

/**
 * The SQL that makes the functions and triggers of a list, for a migration. When this changes, a new migration runs it
 * again for every list.
 *
 * @param deferrable whether an import may settle the list in its last moment (`defer_lists()`); not for lists of which
 *   an import touches as many as records
 */
export function listFunctions(list: TrackedList, { deferrable = true } = {}): string {
  const { name, table, parent, at, id, shared } = list;
  const organization = (row: string): string => (shared ? '0' : `${row}.organization_id`);
  const restriction = (row: string): string => (parent ? `${row}.${parent.column}::text` : `''::text`);
  const uuid = (row: string): string => asUuid(`${row}.${id.column}`, id.type);
  const place = (row: string): string => `(${row}.${at}, ${uuid(row)})::list_place`;
  const keys = (row: string): string =>
    [...(shared ? [] : ['organization_id']), at, id.column, ...(parent ? [parent.column] : [])]
      .map((column) => `${row}.${column}`)
      .join(', ');
  const belongs = [
    shared ? 'true' : 's.organization_id = of_organization',
    ...(parent ? [`s.${parent.column} = of_parent::${parent.type}`] : []),
  ].join(' and ');
  const ofList = `l.name = '${name}' and l.organization_id = of_organization and l.parent = of_parent`;
  const deferred = deferrable ? `defer_list('${name}', of_organization, of_parent, more, first)` : 'false';
  const moved = (row: string, step: number): string => `
      of_organization := ${organization(row)};
      of_parent := ${restriction(row)};
      if not count_${name}_list(of_organization, of_parent, ${step}, ${row}.${at}) then
        perform shift_list(l.id, ${step}, array[${place(row)}]) from lists l where ${ofList};
      end if;`;

  return `
    -- Draws boundaries in what is behind the last.
    create or replace function draw_${name}_list(of_organization integer, of_parent text) returns void
    language plpgsql as $$
    declare
      list lists;
      last list_blocks;
      last_rank bigint;
      drawn record;
    begin
      select l.* into list from lists l where ${ofList};
      select b.* into last from list_blocks b
        where b.list = list.id and b.block = list.blocks[cardinality(list.blocks)];
      last_rank := coalesce(list.ranks[cardinality(list.ranks)], 0);
      select count(*) as rows, array_agg(n order by n) filter (where n % ${SPAN} = 0 and n > 0) as steps,
        array_agg(at order by n) filter (where n % ${SPAN} = 0 and n > 0) as moments,
        array_agg(id order by n) filter (where n % ${SPAN} = 0 and n > 0) as ids
      into drawn from (
        select row_number() over (order by s.${at}, s.${id.column}) - 1 as n, s.${at} as at, ${uuid('s')} as id
        from ${table} s where ${belongs} and (s.${at}, s.${id.column}) >= (
          coalesce(last.moments[cardinality(last.moments)], '-infinity'),
          ${fromUuid(`coalesce(last.ids[cardinality(last.ids)], '${LEAST_UUID}')`, id.type)})
      ) numbered;
      -- Not while rows are there that are not counted yet: the same statement's.
      if drawn.steps is null or drawn.rows <> list.tail then
        return;
      end if;
      with placed as (
        select at, id, list.total - list.tail + n as rank,
          coalesce(last.block, 1) + (list.total - list.tail + n - last_rank) / ${BLOCK} as block
        from unnest(drawn.steps, drawn.moments, drawn.ids) b (n, at, id)
      ), boundaries as (
        select *, case block when last.block then last_rank else min(rank) over (partition by block) end as before
        from placed
      ), added as (
        insert into list_blocks as b (list, block, at, id, ranks, moments, ids)
        select list.id, block, min(at), (array_agg(id order by rank))[1],
          array_agg(rank - before order by rank), array_agg(at order by rank), array_agg(id order by rank)
        from boundaries group by block
        on conflict on constraint list_blocks_pkey do update
          set ranks = b.ranks || excluded.ranks, moments = b.moments || excluded.moments, ids = b.ids || excluded.ids
      )
      update lists l
      set blocks = l.blocks || array(select block::integer from boundaries where rank = before order by rank),
        ranks = l.ranks || array(select rank from boundaries where rank = before order by rank),
        tail = l.tail - drawn.steps[cardinality(drawn.steps)],
        tail_from = drawn.moments[cardinality(drawn.moments)]
      where l.id = list.id;
    end $$;

    -- Counts a list anew and draws all its boundaries.
    create or replace function rebuild_${name}_list(of_organization integer, of_parent text) returns void
    language plpgsql as $$
    begin
      insert into lists (name, organization_id, parent, total, tail) values ('${name}', of_organization, of_parent, 0, 0)
        on conflict (name, organization_id, parent) do update set tail = 0; -- takes the lock
      delete from list_blocks b using lists l where b.list = l.id and ${ofList};
      update lists l set total = counted.rows, tail = counted.rows, tail_from = '-infinity', blocks = '{}', ranks = '{}'
        from (select count(*) as rows from ${table} s where ${belongs}) counted where ${ofList};
      perform draw_${name}_list(of_organization, of_parent);
    end $$;

    -- Notes that a list has more rows (or fewer: a negative number), of which the first is at a moment.
    -- Returns whether that is all: they are behind the last boundary, or it is an import's. Else ranks must follow.
    create or replace function count_${name}_list(
      of_organization integer, of_parent text, more bigint, first timestamptz
    ) returns boolean language plpgsql as $$
    declare
      list lists;
    begin
      if ${deferred} then
        return true;
      end if;
      insert into lists as l (name, organization_id, parent, total, tail)
      values ('${name}', of_organization, of_parent, more, more)
      on conflict (name, organization_id, parent) do update
        set total = l.total + more, tail = case when l.tail_from < first then l.tail + more else l.tail end
      returning l.tail, l.tail_from into list.tail, list.tail_from;
      if list.tail_from >= first then
        return false;
      end if;
      -- Once in a span.
      if list.tail >= ${2 * SPAN} and list.tail / ${SPAN} > (list.tail - more) / ${SPAN} then
        perform draw_${name}_list(of_organization, of_parent);
      end if;
      return true;
    end $$;

    -- Ranks follow what \`count_${name}_list\` has counted.
    create or replace function shift_${name}_list(
      of_organization integer, of_parent text, step integer, places list_place[]
    ) returns void language plpgsql as $$
    begin
      -- Not while rows are there that are not counted yet: the same statement's.
      if (
        select shift_list(l.id, step, places) > ${WIDEST} and l.total = (select count(*) from ${table} s where ${belongs})
        from lists l where ${ofList}
      ) then
        perform rebuild_${name}_list(of_organization, of_parent);
      end if;
    end $$;

    create or replace function ${name}_list_changed() returns trigger language plpgsql as $$
    declare
      step integer := case tg_op when 'INSERT' then 1 else -1 end;
      change record;
    begin
      for change in
        select ${organization('c')} as organization, ${restriction('c')} as parent, count(*) as rows, min(c.${at}) as first
        from changed c group by 1, 2 order by 1, 2
      loop
        continue when count_${name}_list(change.organization, change.parent, step * change.rows, change.first);
        perform shift_${name}_list(change.organization, change.parent, step, array(
          select ${place('c')} from changed c
          where ${organization('c')} = change.organization and ${restriction('c')} = change.parent));
      end loop;
      return null;
    end $$;

    -- A row that changes its place, or its list, leaves one and comes to another. Nothing is rebuilt: the statement's
    -- other rows have moved already, and are counted after it.
    create or replace function ${name}_list_moved() returns trigger language plpgsql as $$
    declare
      of_organization integer;
      of_parent text;
    begin${moved('old', -1)}${moved('new', 1)}
      return null;
    end $$;

    -- The lists of which \`lists\` does not say what a full scan says: docs/decisions/0007 tells when there may be any.
    create or replace function check_${name}_list() returns table (wrong_organization integer, wrong_parent text)
    language sql stable as $$
      with places as (
        select ${organization('s')} as organization_id, ${restriction('s')} as parent, s.${at} as at, ${uuid('s')} as id,
          1 as row, null::bigint as rank from ${table} s
        union all
        select l.organization_id, l.parent, r.at, r.id, 0,
          coalesce(l.ranks[array_position(l.blocks, b.block)] + r.rank, -1)
        from lists l join list_blocks b on b.list = l.id, unnest(b.ranks, b.moments, b.ids) r (rank, at, id)
        where l.name = '${name}'
      ), counted as (
        select organization_id, parent, sum(row) as total, max(rank) as last, coalesce(bool_or(rank <> before), false) as wrong
        from (
          select *, sum(row) over (partition by organization_id, parent order by at, id, row) as before from places
        ) ranked group by 1, 2
      )
      select organization_id, parent from counted c
      full join (select * from lists where name = '${name}') l using (organization_id, parent)
      where c.wrong or coalesce(c.total, 0) is distinct from coalesce(l.total, 0)
        or l.total - l.tail <> coalesce(c.last, 0)
        or cardinality(l.blocks) <> (select count(*) from list_blocks b where b.list = l.id)
    $$;

    create or replace trigger ${name}_list_inserted after insert on ${table}
      referencing new table as changed for each statement execute function ${name}_list_changed();
    create or replace trigger ${name}_list_deleted after delete on ${table}
      referencing old table as changed for each statement execute function ${name}_list_changed();
    create or replace trigger ${name}_list_moved after update on ${table}
      for each row when ((${keys('old')}) is distinct from (${keys('new')})) execute function ${name}_list_moved();
  `;
}

/** The SQL that begins to track a list, for a migration: as above, and what is there is counted. */
export function trackList(list: TrackedList, options?: { deferrable: boolean }): string {
  const { name, table, parent, shared } = list;
  return `${listFunctions(list, options)}
    select rebuild_${name}_list(organization, parent) from (
      select distinct ${shared ? '0' : 'organization_id'} as organization,
        ${parent ? `${parent.column}::text` : `''::text`} as parent from ${table}) of_table;`;
}

/** The SQL that undoes `trackList`, for a migration. */
export const forgetList = ({ name, table }: Pick<TrackedList, 'name' | 'table'>): string => `
  drop trigger ${name}_list_inserted on ${table};
  drop trigger ${name}_list_deleted on ${table};
  drop trigger ${name}_list_moved on ${table};
  drop function ${name}_list_changed(), ${name}_list_moved(), check_${name}_list(), draw_${name}_list(integer, text),
    rebuild_${name}_list(integer, text), count_${name}_list(integer, text, bigint, timestamptz),
    shift_${name}_list(integer, text, integer, list_place[]);
  delete from lists where name = '${name}';
`;
