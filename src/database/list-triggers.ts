import type { QueryRunner } from 'typeorm';
import { asUuid, fromUuid, LEAST_UUID, LISTS, type TrackedList } from './lists';

/**
 * Rows between two boundaries when they are drawn; deletions leave fewer, additions in the middle more. Finding a page
 * costs 0.1 to 0.2 µs for each row between the boundary and the page, and 0.02 µs for each block of the list; a change in
 * its middle writes a block anew, about a kilobyte, and the row of the list, 6 kB for a million rows.
 */
const SPAN = 64;
/** Boundaries of a block when it is drawn. */
const BOUNDARIES = 32;
/** Rows between two boundaries for which their block is drawn anew. */
const WIDEST = 2000;

/** SQL of the table of blocks, beside that of lists. */
export const LIST_BLOCKS = `
  create table if not exists list_blocks (
    list bigint not null constraint list_blocks_list_fkey references lists (id) on delete cascade,
    block integer not null,
    at timestamptz not null, -- where it begins: a moment
    id uuid not null, -- and an id; no row of the block is before
    ranks bigint[] not null, -- rows of the block before each boundary, of which the first need not be its beginning
    moments timestamptz[] not null, -- of the first row behind each boundary when it was drawn
    ids uuid[] not null, -- and its id
    constraint list_blocks_pkey primary key (list, block)
  ) with (fillfactor = 50);
  create unique index if not exists list_blocks_place_idx on list_blocks (list, at, id);`;

const NAMES = Object.values(LISTS).map(({ name }) => `'${name}'`);

/** SQL of the functions that all lists use. */
const LIST_FUNCTIONS = `
  -- An import lasts, and must not hold up everybody else who adds to a list: within it, changes are noted, and
  -- counted in its last moment.
  create or replace function defer_lists() returns void language plpgsql as $$
  begin
    create temporary table deferred_lists (
      name text, organization_id integer, parent text, rows bigint, first timestamptz
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
    -- Summed up at last: to find and to change what was noted takes the longer the more often it was changed.
    insert into deferred_lists values (list, of_organization, of_parent, more, from_moment);
    return true;
  end $$;

  create or replace function settle_lists() returns void language plpgsql as $$
  declare
    change record;
    behind bigint;
  begin
    perform set_config('lanyard.lists', '', true);
    for change in
      select name, organization_id, parent, sum(rows)::bigint as rows, min(first) as first from deferred_lists
      group by 1, 2, 3 order by array_position(array[${NAMES}], name), organization_id, parent
    loop
      execute format('select count_%s_list($1, $2, $3, $4)', change.name) into behind
        using change.organization_id, change.parent, change.rows, change.first;
      execute format('select %s_%s_list($1, $2)', case when behind is null then 'rebuild' else 'draw' end, change.name)
        using change.organization_id, change.parent;
    end loop;
    drop table deferred_lists;
    if to_regproc('settle_words') is not null then -- a later migration makes this function
      perform settle_words();
    end if;
  end $$;

  -- No row is told of it, so that totals, documents and words would stay.
  create or replace function refuse_truncate() returns trigger language plpgsql as $$
  begin
    raise 'what Lanyard stores beside the rows of % would be left behind: delete the rows instead', tg_table_name
      using errcode = 'feature_not_supported';
  end $$;

  -- Whether ranks are such that a binary search finds the last one that is not above a number.
  create or replace function in_order(ranks bigint[]) returns boolean language sql immutable as $$
    select ranks = array(select rank from unnest(ranks) rank order by rank)
  $$;

  -- What is behind the last boundary of a list; or, of a block, from its beginning to the next one's, where boundaries
  -- are to be drawn anew (0: before the first).
  create or replace function list_stretch(
    of_list bigint, anew integer,
    out nth integer, -- which block of the list it is in, from 1; 0: before the first
    out kept integer, -- boundaries of that block which stay
    out before bigint, -- rows of the list before it
    out rows bigint, -- and of it
    out from_at timestamptz, out from_id uuid, out until_at timestamptz, out until_id uuid
  ) returns setof record rows 1 language sql stable as $$ -- a set, because PostgreSQL plans it with its caller then
    select l.nth, k.kept, r.before, coalesce(l.ranks[l.nth + 1], l.total) - r.before,
      coalesce(b.moments[k.kept], b.at, '-infinity'), coalesce(b.ids[k.kept], b.id, '${LEAST_UUID}'),
      coalesce(next.at, 'infinity'), coalesce(next.id, '${LEAST_UUID}')
    from (
      select *, case when anew is null then cardinality(blocks) else coalesce(array_position(blocks, anew), 0) end as nth
      from lists where id = of_list
    ) l
    left join list_blocks b on b.list = l.id and b.block = l.blocks[l.nth]
    left join list_blocks next on next.list = l.id and next.block = l.blocks[l.nth + 1]
    cross join lateral (
      select case when anew is null then coalesce(cardinality(b.ranks), 0) else 0 end as kept
    ) k
    cross join lateral (select coalesce(l.ranks[l.nth], 0) + coalesce(b.ranks[k.kept], 0) as before) r
  $$;

  -- Writes boundaries at so many rows ('steps') behind a stretch's beginning: behind those of its block that are kept
  -- while there is room, then to new blocks.
  create or replace function draw_boundaries(
    of_list bigint, nth integer, kept integer, before bigint, steps bigint[], moments timestamptz[], ids uuid[]
  ) returns void language plpgsql as $$
  declare
    own integer;
    own_rank bigint;
    newest integer;
  begin
    select l.blocks[nth], l.ranks[nth], (select coalesce(max(b), 0) from unnest(l.blocks) b)
      into own, own_rank, newest from lists l where l.id = of_list;
    with boundaries as (
      select at, id, rank, case when n = 0 and own is not null then own else newest + 1 + n end as block,
        case when n = 0 and own is not null then own_rank else min(rank) over (partition by n) end as block_rank
      from (
        select d.at, d.id, before + d.step as rank, (kept + d.i - 1) / ${BOUNDARIES} as n
        from unnest(steps, moments, ids) with ordinality d (step, at, id, i)
      ) d
    ), written as (
      insert into list_blocks as b (list, block, at, id, ranks, moments, ids)
      select of_list, block, min(at), (array_agg(id order by rank))[1],
        array_agg(rank - block_rank order by rank), array_agg(at order by rank), array_agg(id order by rank)
      from boundaries group by block
      on conflict on constraint list_blocks_pkey do update set ranks = b.ranks[:kept] || excluded.ranks,
        moments = b.moments[:kept] || excluded.moments, ids = b.ids[:kept] || excluded.ids
    ), added as (
      select array_agg(block::integer order by block) as blocks, array_agg(block_rank order by block) as ranks
      from (select distinct block, block_rank from boundaries where block is distinct from own) b
    )
    update lists l set -- arrays that stay are not written again
      blocks = case when added.blocks is null then l.blocks
        else l.blocks[:nth] || added.blocks || l.blocks[nth + 1:] end,
      ranks = case when added.ranks is null then l.ranks else l.ranks[:nth] || added.ranks || l.ranks[nth + 1:] end,
      tail = case nth when cardinality(l.blocks) then l.total - before - steps[cardinality(steps)] else l.tail end,
      tail_from = case nth when cardinality(l.blocks) then moments[cardinality(moments)] else l.tail_from end
    from added where l.id = of_list;
  end $$;

  -- The blocks of a list follow rows that came (a step of 1) or went (-1) at these places. A block without rows is
  -- dropped, and so is a boundary without rows up to the next.
  -- Returns the blocks in which two boundaries are too far apart now (0: before the first); none when rows went, which
  -- brings no boundaries apart.
  create or replace function shift_list(of_list bigint, step integer, places list_place[]) returns integer[]
  language plpgsql set plan_cache_mode = force_generic_plan as $$
  declare
    new_blocks integer[];
    new_ranks bigint[];
    all_rows bigint;
    changes record;
    n integer;
    end_of_block bigint;
    wide integer[] := '{}';
    gone boolean := false;
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
        case step when 1 then (
          select max(width) from (
            select rank - lag(rank, 1, 0::bigint) over (order by rank) as width from unnest(b.ranks) rank
          ) r
        ) end as widest
    )
    select array_agg(c.block order by c.n) as blocks, array_agg(step * cardinality(c.places) order by c.n) as rows,
      array_agg(coalesce(s.last, 0) order by c.n) as lasts, array_agg(s.widest order by c.n) as widest
    into changes
    from (select *, coalesce(array_position(new_blocks, block), 0) as n from changed) c left join shifted s using (block);
    for i in 1 .. cardinality(changes.blocks) loop
      n := coalesce(array_position(new_blocks, changes.blocks[i]), 0); -- another one behind a block that is gone
      new_ranks := new_ranks[:n] || array(
        select r.rank + changes.rows[i] from unnest(new_ranks[n + 1:]) with ordinality r (rank, n) order by r.n);
      end_of_block := coalesce(new_ranks[n + 1], all_rows);
      if step = 1 and greatest(changes.widest[i], end_of_block - coalesce(new_ranks[n], 0) - changes.lasts[i]) > ${WIDEST} then
        wide := wide || coalesce(changes.blocks[i], 0);
      end if;
      if end_of_block = new_ranks[n] then
        delete from list_blocks b where b.list = of_list and b.block = changes.blocks[i];
        new_blocks := new_blocks[:n - 1] || new_blocks[n + 1:];
        new_ranks := new_ranks[:n - 1] || new_ranks[n + 1:];
        gone := true;
      end if;
    end loop;
    select b.* into last from list_blocks b
      where b.list = of_list and b.block = new_blocks[cardinality(new_blocks)];
    update lists l set ranks = new_ranks, blocks = case when gone then new_blocks else l.blocks end,
      tail = l.total - coalesce(new_ranks[cardinality(new_ranks)] + last.ranks[cardinality(last.ranks)], 0),
      tail_from = coalesce(last.moments[cardinality(last.moments)], '-infinity')
      where l.id = of_list;
    return wide;
  end $$;
`;

/** The SQL that makes the functions and triggers of a list. */
function listFunctions({ name, table, parent, at, id, shared, deferrable }: TrackedList): string {
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
  const deferred = deferrable !== false ? `defer_list('${name}', of_organization, of_parent, more, first)` : 'false';
  const noted = `
      if current_setting('lanyard.lists', true) = 'deferred' then
        insert into deferred_lists select '${name}', ${organization('c')}, ${restriction('c')}, step * count(*), min(c.${at})
          from changed c group by 2, 3;
        return null;
      end if;`;
  const moved = (row: string, step: number): string => `
      of_organization := ${organization(row)};
      of_parent := ${restriction(row)};
      if count_${name}_list(of_organization, of_parent, ${step}, ${row}.${at}) is null then
        perform shift_list(l.id, ${step}, array[${place(row)}]) from lists l where ${ofList};
      end if;`;

  return `
    -- Draws boundaries in what is behind the last, or those of a block anew (0: what is before the first).
    create or replace function draw_${name}_list(of_organization integer, of_parent text, anew integer default null)
    returns void language plpgsql as $$
    declare
      stretch record;
      drawn record;
    begin
      select l.id as list, s.* into stretch from lists l, list_stretch(l.id, anew) s where ${ofList};
      select count(*) as rows, array_agg(step order by step) filter (where is_boundary) as steps,
        array_agg(at order by step) filter (where is_boundary) as moments,
        array_agg(id order by step) filter (where is_boundary) as ids
      into drawn from (
        select *, step % ${SPAN} = 0 and (step > 0 or anew > 0) as is_boundary from (
          select row_number() over (order by s.${at}, s.${id.column}) - 1 as step, s.${at} as at, ${uuid('s')} as id
          from ${table} s where ${belongs}
            and (s.${at}, s.${id.column}) >= (stretch.from_at, ${fromUuid('stretch.from_id', id.type)})
            and (s.${at}, s.${id.column}) < (stretch.until_at, ${fromUuid('stretch.until_id', id.type)})
        ) s
      ) numbered;
      -- Not while rows are there that are not counted yet: the same statement's.
      if drawn.steps is not null and drawn.rows = stretch.rows then
        perform draw_boundaries(
          stretch.list, stretch.nth, stretch.kept, stretch.before, drawn.steps, drawn.moments, drawn.ids);
      end if;
    end $$;

    -- Counts a list anew and draws all its boundaries.
    create or replace function rebuild_${name}_list(of_organization integer, of_parent text) returns void
    language plpgsql as $$
    begin
      insert into lists (name, organization_id, parent, total, tail) values ('${name}', of_organization, of_parent, 0, 0)
        on conflict (name, organization_id, parent) do update set tail = 0; -- takes the lock
      delete from list_blocks b using lists l where b.list = l.id and ${ofList};
      update lists l set total = counted.rows, tail = counted.rows, tail_from = '-infinity', blocks = '{}', ranks = '{}'${shared ? ', version = gen_random_uuid()' : ''}
        from (select count(*) as rows from ${table} s where ${belongs}) counted where ${ofList};
      perform draw_${name}_list(of_organization, of_parent);
    end $$;

    -- Notes that a list has more rows (or fewer: a negative number), of which the first is at a moment.
    -- Returns how many are behind the last boundary now, or 0 if it is an import's; null if the first of them is not
    -- there: ranks must follow.
    create or replace function count_${name}_list(
      of_organization integer, of_parent text, more bigint, first timestamptz
    ) returns bigint language plpgsql as $$
    declare
      behind bigint;
      last timestamptz;
    begin
      if ${deferred} then
        return 0;
      end if;
      insert into lists as l (name, organization_id, parent, total, tail${shared ? ', version' : ''})
      values ('${name}', of_organization, of_parent, more, more${shared ? ', gen_random_uuid()' : ''})
      on conflict (name, organization_id, parent) do update
        set total = l.total + more, tail = case when l.tail_from < first then l.tail + more else l.tail end${shared ? ', version = excluded.version' : ''}
      returning l.tail, l.tail_from into behind, last;
      return case when last < first then behind end;
    end $$;

    create or replace function ${name}_list_changed() returns trigger language plpgsql as $$
    declare
      step integer := case tg_op when 'INSERT' then 1 else -1 end;
      change record;
      of_organization integer;
      of_parent text;
      behind bigint;
    begin${deferrable !== false ? noted : ''}
      for change in
        select ${organization('c')} as organization, ${restriction('c')} as parent, count(*) as rows, min(c.${at}) as first
        from changed c group by 1, 2 order by 1, 2
      loop
        of_organization := change.organization;
        of_parent := change.parent;
        behind := count_${name}_list(of_organization, of_parent, step * change.rows, change.first);
        if behind is null then
          perform draw_${name}_list(of_organization, of_parent, wide)
          from lists l, unnest(shift_list(l.id, step, array(
            select ${place('c')} from changed c
            where ${organization('c')} = of_organization and ${restriction('c')} = of_parent))) wide
          where ${ofList};
        elsif behind >= ${2 * SPAN} and behind / ${SPAN} > (behind - step * change.rows) / ${SPAN} then -- once in a span
          perform draw_${name}_list(of_organization, of_parent);
        end if;
      end loop;
      return null;
    end $$;

    -- A row that changes its place, or its list, leaves one and comes to another. Nothing is drawn: the statement's
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
        from lists l join list_blocks b on b.list = l.id,
          unnest(0 || b.ranks, b.at || b.moments, b.id || b.ids) r (rank, at, id)
        where l.name = '${name}'
      ), counted as (
        select organization_id, parent, sum(row) as total, coalesce(max(rank), 0) as last,
          coalesce(max(at) filter (where row = 0), '-infinity') as last_at, coalesce(bool_or(rank <> before), false) as wrong
        from (
          select *, sum(row) over (partition by organization_id, parent order by at, id, row) as before from places
        ) ranked group by 1, 2
      )
      select organization_id, parent from counted c
      full join (select * from lists where name = '${name}') l using (organization_id, parent)
      where c.wrong or coalesce(c.total, 0) is distinct from coalesce(l.total, 0)
        or l.total - l.tail <> c.last or l.tail_from <> c.last_at
        or cardinality(l.blocks) <> (select count(*) from list_blocks b where b.list = l.id and b.ranks <> '{}')
        or cardinality(l.blocks) <> cardinality(l.ranks)
        or l.ranks <> '{}' and (not in_order(l.ranks)
          or exists (select from list_blocks b where b.list = l.id and not in_order(b.ranks)))
    $$;

    ${keptFromTruncate(table)}
    create or replace trigger ${name}_list_inserted after insert on ${table}
      referencing new table as changed for each statement execute function ${name}_list_changed();
    create or replace trigger ${name}_list_deleted after delete on ${table}
      referencing old table as changed for each statement execute function ${name}_list_changed();
    create or replace trigger ${name}_list_moved after update on ${table}
      for each row when ((${keys('old')}) is distinct from (${keys('new')})) execute function ${name}_list_moved();
  `;
}

/** The SQL that refuses a `truncate` of a table from whose rows something else is made. */
export const keptFromTruncate = (table: string): string => `
  create or replace trigger ${table}_kept before truncate on ${table} execute function refuse_truncate();`;

/** The SQL that begins to track a list, for a migration: its functions and triggers, and what is there is counted. */
export function trackList(list: TrackedList): string {
  const { name, table, parent, shared } = list;
  return `${LIST_FUNCTIONS}
    ${listFunctions(list)}
    select rebuild_${name}_list(organization, parent) from (
      select distinct ${shared ? '0' : 'organization_id'} as organization,
        ${parent ? `${parent.column}::text` : `''::text`} as parent from ${table}) of_table;`;
}

/** The lists that a migration finds tracked: not those of later ones. */
export async function trackedLists(db: QueryRunner): Promise<TrackedList[]> {
  const found = (await db.query(`select tgname as trigger from pg_trigger`)) as { trigger: string }[];
  const triggers = new Set(found.map(({ trigger }) => trigger));
  return Object.values(LISTS).filter(({ name }) => triggers.has(`${name}_list_inserted`));
}

/**
 * The SQL that makes the functions and triggers of lists what this file says, for a migration: a new one whenever the file
 * changes what they are. Those of before blocks were drawn anew go first: they returned something else.
 */
export const renewLists = (lists: TrackedList[]): string => `
  alter table lists add column if not exists version uuid; -- as of the first migration, where it is new
  drop function if exists shift_list(bigint, integer, list_place[]), list_stretch(bigint, integer);
  ${LIST_FUNCTIONS}
  ${lists
    .map(
      (list) => `
  drop function if exists count_${list.name}_list(integer, text, bigint, timestamptz), draw_${list.name}_list(integer, text),
    shift_${list.name}_list(integer, text, integer, list_place[]);
  ${listFunctions(list)}`,
    )
    .join('')}
`;

/** The SQL that undoes `trackList`, for a migration. */
export const forgetList = ({ name, table }: Pick<TrackedList, 'name' | 'table'>): string => `
  drop trigger ${name}_list_inserted on ${table};
  drop trigger ${name}_list_deleted on ${table};
  drop trigger ${name}_list_moved on ${table};
  drop trigger if exists ${table}_kept on ${table};
  drop function ${name}_list_changed(), ${name}_list_moved(), check_${name}_list(), draw_${name}_list(integer, text, integer),
    rebuild_${name}_list(integer, text), count_${name}_list(integer, text, bigint, timestamptz);
  delete from lists where name = '${name}';
`;
