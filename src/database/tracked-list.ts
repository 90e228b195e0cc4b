/**
 * A list whose total and whose pages are found without counting and without skipping rows: the rows of a table, all of
 * an organization's or those with one value in a column, in an order given by a moment and an id.
 *
 * A row of the table `lists` holds the total, and boundaries at regular places with the number of rows before each.
 * Triggers keep it in the transaction of every change, whoever makes it. The row is the list's lock too: who adds or
 * removes holds it to the end of the transaction, so that rows become visible in the order of the list.
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
 * Rows between two boundaries when they are drawn; deletions leave fewer, additions in the middle more. Finding a page
 * costs 0.07 µs for each row between the boundary and the page, and 0.02 µs for each boundary that there is: so spans
 * are twice as wide whenever there would be more than `MOST`.
 */
const SPAN = 250;
const MOST = 2000;

/** SQL of what the triggers of all lists use. */
export const SPANS = `
  create function list_span(total bigint) returns bigint language sql immutable as $$
    select ${SPAN}::bigint << greatest(0, ceil(log(2, greatest(total, 1) / ${SPAN * MOST}.0)))::integer
  $$;

  -- The last of them stays.
  create function every_second(list anyarray) returns anyarray language sql immutable as $$
    select array_agg(one order by n) filter (where (cardinality(list) - n) % 2 = 0)
    from unnest(list) with ordinality a (one, n)
  $$;`;

/**
 * SQL with which an import settles what it noted.
 * @param order of the lists, by which they are settled one after the other
 */
export const settleLists = (order: string): string => `
  create or replace function settle_lists() returns void language plpgsql as $$
  declare
    change record;
    in_order boolean;
  begin
    perform set_config('lanyard.lists', '', true);
    for change in select * from deferred_lists order by ${order}, organization_id, parent loop
      in_order := false;
      if not change.rebuild then
        execute format('select count_%s_list($1, $2, $3, $4)', change.name) into in_order
          using change.organization_id, change.parent, change.rows, change.first;
      end if;
      if not in_order then
        execute format('select rebuild_%s_list($1, $2)', change.name) using change.organization_id, change.parent;
      end if;
    end loop;
    drop table deferred_lists;
  end $$`;

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
  const numbered = `select row_number() over (order by s.${at}, s.${id.column}) - 1 as n, s.${at} as at, ${uuid('s')} as id
    from ${table} s where ${belongs}`;
  const shifted = (row: string, step: number): string =>
    `perform shift_${name}_list(${organization(row)}, ${restriction(row)}, ${step}, ${place(row)});`;
  const deferred = (more: string, first: string): string =>
    deferrable ? `defer_list('${name}', of_organization, of_parent, ${more}, ${first}, false)` : 'false';
  const ofList = `l.name = '${name}' and l.organization_id = of_organization and l.parent = of_parent`;

  return `
    -- Counts a list anew and draws its boundaries.
    create or replace function rebuild_${name}_list(of_organization integer, of_parent text) returns void
    language plpgsql as $$
    declare
      span bigint;
    begin
      insert into lists (name, organization_id, parent, total, tail) values ('${name}', of_organization, of_parent, 0, 0)
        on conflict (name, organization_id, parent) do update set tail = 0; -- takes the lock
      span := list_span((select count(*) from ${table} s where ${belongs}));
      update lists l
      set total = drawn.total, tail = drawn.total - coalesce(drawn.ranks[cardinality(drawn.ranks)], 0),
        moments = coalesce(drawn.moments, '{}'), ids = coalesce(drawn.ids, '{}'), ranks = coalesce(drawn.ranks, '{}'),
        tail_from = coalesce(drawn.moments[cardinality(drawn.ranks)], '-infinity')
      from (
        select count(*) as total, array_agg(n order by n) filter (where n % span = 0 and n > 0) as ranks,
          array_agg(at order by n) filter (where n % span = 0 and n > 0) as moments,
          array_agg(id order by n) filter (where n % span = 0 and n > 0) as ids
        from (${numbered}) numbered
      ) drawn
      where ${ofList};
    end $$;

    -- Notes that a list has more rows (or fewer: a negative number), of which the first is at a moment.
    -- Returns whether they are all behind the last boundary; else the boundaries' ranks must follow.
    create or replace function count_${name}_list(
      of_organization integer, of_parent text, more bigint, first timestamptz
    ) returns boolean language plpgsql as $$
    declare
      list lists;
      span bigint;
    begin
      insert into lists as l (name, organization_id, parent, total, tail)
      values ('${name}', of_organization, of_parent, more, more)
      on conflict (name, organization_id, parent) do update
        set total = l.total + more, tail = case when l.tail_from < first then l.tail + more else l.tail end
      returning l.name, l.organization_id, l.parent, l.total, l.tail, l.tail_from into
        list.name, list.organization_id, list.parent, list.total, list.tail, list.tail_from;
      if list.tail_from >= first then
        return false;
      end if;
      span := list_span(list.total);
      -- Once in a span; and later, when rows are there that are not counted yet: the same statement's.
      if list.tail >= 2 * span and list.tail / span > (list.tail - more) / span then
        update lists l
        set moments = l.moments || drawn.moments, ids = l.ids || drawn.ids, ranks = l.ranks || drawn.ranks,
          tail = l.total - drawn.ranks[cardinality(drawn.ranks)],
          tail_from = drawn.moments[cardinality(drawn.ranks)]
        from (
          select count(*) as rows,
            array_agg(list.total - list.tail + n order by n) filter (where n % span = 0 and n > 0) as ranks,
            array_agg(at order by n) filter (where n % span = 0 and n > 0) as moments,
            array_agg(id order by n) filter (where n % span = 0 and n > 0) as ids
          from (
            ${numbered} and (s.${at}, s.${id.column}) >= (
              select coalesce(l.moments[cardinality(l.ranks)], '-infinity'),
                ${fromUuid(`coalesce(l.ids[cardinality(l.ranks)], '${LEAST_UUID}')`, id.type)}
              from lists l where ${ofList})
          ) numbered
        ) drawn
        where ${ofList} and drawn.rows = list.tail;
        update lists l set moments = every_second(l.moments), ids = every_second(l.ids), ranks = every_second(l.ranks)
        where ${ofList} and cardinality(l.ranks) > ${MOST};
      end if;
      return true;
    end $$;

    create or replace function ${name}_list_changed() returns trigger language plpgsql as $$
    declare
      step integer := case tg_op when 'INSERT' then 1 else -1 end;
      change record;
      of_organization integer;
      of_parent text;
      list lists;
      boundaries list_place[];
      widest bigint;
    begin
      for change in
        select ${organization('c')} as organization, ${restriction('c')} as parent, count(*) as rows, min(c.${at}) as first
        from changed c group by 1, 2 order by 1, 2
      loop
        of_organization := change.organization;
        of_parent := change.parent;
        continue when ${deferred('step * change.rows', 'change.first')};
        continue when count_${name}_list(of_organization, of_parent, step * change.rows, change.first);
        select l.* into list from lists l where ${ofList};
        boundaries := array(select (b.at, b.id)::list_place from unnest(list.moments, list.ids) b (at, id));
        -- Ranks follow; a boundary without rows up to the next is dropped.
        with moved as (
          select width_bucket(${place('c')}, boundaries) as span, step * count(*) as rows from changed c
          where ${organization('c')} = of_organization and ${restriction('c')} = of_parent group by 1
        ), ranked as (
          select r.n, r.rank + coalesce(sum(m.rows) over (order by r.n), 0) as rank
          from unnest(list.ranks) with ordinality r (rank, n) left join moved m on m.span = r.n - 1
        ), spans as (
          select n, rank::bigint, (lead(rank, 1, list.total) over (order by n) - rank)::bigint as rows from ranked
        )
        select array_agg(s.rank order by s.n), array_agg(list.moments[s.n] order by s.n),
          array_agg(list.ids[s.n] order by s.n), greatest(max(s.rows), min(s.rank))
        into list.ranks, list.moments, list.ids, widest from spans s where s.rows > 0;
        -- Not while rows are there that are not counted yet: the same statement's.
        if widest > 8 * list_span(list.total) and list.total = (select count(*) from ${table} s where ${belongs}) then
          perform rebuild_${name}_list(of_organization, of_parent);
        else
          update lists l
          set ranks = coalesce(list.ranks, '{}'), moments = coalesce(list.moments, '{}'), ids = coalesce(list.ids, '{}'),
            tail = l.total - coalesce(list.ranks[cardinality(list.ranks)], 0),
            tail_from = coalesce(list.moments[cardinality(list.ranks)], '-infinity')
          where ${ofList};
        end if;
      end loop;
      return null;
    end $$;

    -- Counts one row more or less at a place.
    create or replace function shift_${name}_list(
      of_organization integer, of_parent text, step integer, place list_place
    ) returns void language plpgsql as $$
    begin
      if ${deferred('step', 'place.at')} or count_${name}_list(of_organization, of_parent, step, place.at) then
        return;
      end if;
      update lists l
      set ranks = coalesce(shifted.ranks, '{}'), tail = l.total - coalesce(shifted.ranks[cardinality(shifted.ranks)], 0)
      from (
        select array_agg(b.rank + case when (b.at, b.id)::list_place > place then step else 0 end order by b.n) as ranks
        from lists l, unnest(l.ranks, l.moments, l.ids) with ordinality b (rank, at, id, n) where ${ofList}
      ) shifted
      where ${ofList};
    end $$;

    -- A row that changes its place, or its list, leaves one and comes to another.
    create or replace function ${name}_list_moved() returns trigger language plpgsql as $$
    begin
      ${shifted('old', -1)}
      ${shifted('new', 1)}
      return null;
    end $$;

    -- The lists of which \`lists\` does not say what a full scan says: docs/decisions/0007 tells when there may be any.
    create or replace function check_${name}_list() returns table (wrong_organization integer, wrong_parent text)
    language sql stable as $$
      with known as materialized (
        select organization_id, parent,
          array(select (b.at, b.id)::list_place from unnest(moments, ids) b (at, id)) as boundaries
        from lists where name = '${name}'
      ), counted as (
        select ${organization('s')} as organization_id, ${restriction('s')} as parent,
          width_bucket(${place('s')}, coalesce(l.boundaries, '{}')) as span, count(*) as rows
        from ${table} s left join known l on l.organization_id = ${organization('s')} and l.parent = ${restriction('s')}
        group by 1, 2, 3
      )
      select organization_id, parent from (select organization_id, parent, sum(rows) as total from counted group by 1, 2) c
      full join (select * from lists where name = '${name}') l using (organization_id, parent)
      where coalesce(c.total, 0) is distinct from coalesce(l.total, 0)
        or l.total - l.tail <> coalesce(l.ranks[cardinality(l.ranks)], 0)
        or exists (
          select from unnest(l.ranks) with ordinality r (rank, n)
          where rank <> (select coalesce(sum(rows), 0) from counted b
            where b.organization_id = l.organization_id and b.parent = l.parent and b.span < n))
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
  drop function ${name}_list_changed(), ${name}_list_moved(), check_${name}_list(), rebuild_${name}_list(integer, text),
    count_${name}_list(integer, text, bigint, timestamptz), shift_${name}_list(integer, text, integer, list_place);
  delete from lists where name = '${name}';
`;
