import { MAX_PAGE_SIZE } from '../database/limits';
import { limited } from '../database/paginate';
import type { Statement } from '../database/statements';
import { DATABASE_IDENTITY } from './database-identity';
import { type Followed, FOLLOWED } from './followed';

/** Changes of a page. */
export const MAX_CHANGES = 500;

export const SECRET: Statement = {
  name: 'changes.secret',
  text: `select encode(secret, 'hex') from changes_key`,
  shared: true,
};

/**
 * The state of the log, read in the same statement as its rows, so that a restore under a running server is noticed at once.
 * Its generation differs from that of another database, of a copy that was restored, and of a standby that was promoted. The
 * control file still has the old timeline right after a promotion; a standby has no log of its own to continue. Nor has a
 * database of which a restore has not filled `changes_key` yet.
 */
const LOG_STATE = `(select) one left join lateral (
      select own.database, encode(secret, 'hex') as secret, database_identity is distinct from own.database as is_foreign,
        case when not pg_is_in_recovery() then md5(concat_ws(' ', own.database,
          left(pg_walfile_name(pg_current_wal_lsn()), 8), 'changes'::regclass::oid, generation)) end as generation
      from changes_key, (select ${DATABASE_IDENTITY} as database offset 0) own) state on true`;

/** Transaction numbers from this one on are not assigned yet: a change that has one was written in another cluster. */
const NEXT_XID = `greatest(pg_snapshot_xmax(pg_current_snapshot())::text::bigint,
      pg_current_xact_id_if_assigned()::text::bigint + 1)`;

const STATE_FIELDS = `'database', state.database, 'secret', state.secret, 'isForeign', state.is_foreign,
      'generation', state.generation, 'nextXid', ${NEXT_XID}`;

/** Makes the log another one: all cursors of before are gone. */
export const RESET: Statement = {
  name: 'changes.reset',
  text: 'update changes_key set generation = generation + 1 returning generation::text',
  shared: true,
};

/** Rows that one call deletes: within the timeout of a request. */
export const CLAIMED_AT_ONCE = 20_000;

/** Takes over a log that was written in another database. */
export const CLAIM: Statement = { name: 'changes.claim', text: 'select claim_log($1, $2)', shared: true };

/** Cursors with too many positions for a URL name stored ones by their hash. */
export const STORE_POSITIONS: Statement = {
  name: 'changes.store positions',
  text: `
    insert into cursor_positions as p (organization_id, hash, positions) values ($1, decode($2, 'hex'), $3)
    on conflict (organization_id, hash) do update set used_at = now() where p.used_at < now() - interval '1 hour'`,
};
export const POSITIONS: Statement = {
  name: 'changes.positions',
  text: `select positions from cursor_positions where organization_id = $1 and hash = decode($2, 'hex')`,
};

/** At most `$2` that no cursor has named for `$1` days. */
export const PRUNE_POSITIONS = `
  with old as (
    select ctid from cursor_positions where used_at < now() - $1 * interval '1 day' limit $2 for update skip locked
  )
  delete from cursor_positions where ctid = any(array(select ctid from old)) returning 1`;

/** Of the same moment as all that a statement sees. */
const OPEN = `(select coalesce(json_agg(xid::text::bigint order by xid), '[]') from pg_snapshot_xip(pg_current_snapshot()) xid)`;

const ANCHOR = `json_build_array(resource, xid, seq, iso_utc(at))`;

/** Resources by their numbers. Of JSON the planner expects as many rows whatever it holds, so that it keeps its plan. */
const FOLLOWED_ROWS = 'jsonb_to_recordset($2::jsonb) followed (number smallint)';

/** The log of resources `$2` as it is: its newest change. */
export const LOG: Statement = {
  name: 'changes.log',
  text: `
    select json_build_object(${STATE_FIELDS}, 'open', ${OPEN}, 'anchor', (
      select ${ANCHOR} from ${FOLLOWED_ROWS} cross join lateral (
        select * from changes where organization_id = $1 and resource = number order by xid desc, seq desc limit 1) newest
      order by xid desc, seq desc limit 1))::text
    from ${LOG_STATE}`,
};

/**
 * Changes of resources `$2` in the parts `$3` of the log that were not told, and one more than `max`; whether the newest
 * that was told (`$4`) is still there, and whether some that were not have been swept.
 */
const newsOf = (max: number): Statement => ({
  name: `changes.news ${max}`,
  text: `
    select json_build_object(${STATE_FIELDS}, 'open', ${OPEN},
      'isKept', $4::jsonb is null or exists (select from changes where organization_id = $1
        and resource = ($4 ->> 0)::smallint and xid = ($4 ->> 1)::bigint and seq = ($4 ->> 2)::bigint
        and at = ($4 ->> 3)::timestamptz),
      'isSwept', exists (
        select from ${FOLLOWED_ROWS} cross join lateral (
          select * from changes where organization_id = $1 and resource = number order by xid, seq limit 1) oldest
        where operation = 's' and (xid, seq) > (($3::jsonb -> 0 ->> 'xid')::bigint, ($3 -> 0 ->> 'seq')::bigint)),
      'changes', (
        select coalesce(json_agg(json_build_array(${ANCHOR}, operation, event_id, id, remote_ids) order by xid, seq), '[]')
        from (
          select news.* from ${FOLLOWED_ROWS}
            cross join jsonb_to_recordset($3) part (xid bigint, seq bigint, before bigint)
            cross join lateral (
              select * from changes l where organization_id = $1 and resource = number
                and (l.xid, l.seq) > (part.xid, part.seq) and l.xid < part.before
              order by l.xid, l.seq limit ${max + 1}) news
          order by news.xid, news.seq limit ${max + 1}) page))::text
    from ${LOG_STATE}`,
});

/** A page with a parameter in the place of its limit would be planned each time, for longer than it runs. */
export const NEWS: readonly Statement[] = [100, MAX_CHANGES].map(newsOf);
/** @param limit changes of the page */
export const newsFor = (limit: number): Statement => NEWS[Number(limit > 100)]!;

const remoteIdsOf = ({ remoteIds }: Followed): string => (remoteIds ? `${remoteIds}::text` : 'null::text');

/**
 * A row for each key (`$2` and `$3`): the record, if it is there, and its remote ids. Whatever PostgreSQL knows of an
 * organization, it looks for the key alone.
 */
const recordsOf = (resource: Followed): Statement => {
  const { name, table, item, key } = resource;
  const isIt = Object.entries({ event_id: key.eventId, id: key.id })
    .filter(([, column]) => column)
    .map(([given, column]) => `${table}.${column} = given.${given}`);
  return {
    name: `changes.${name}`,
    text: `
      select record, remote_ids
      from unnest($2::bigint[], $3::uuid[]) with ordinality given (event_id, id, nth) left join lateral (
        select ${item} as record, ${remoteIdsOf(resource)} as remote_ids from ${table}
        where (organization_id = $1) is true and ${isIt.join(' and ')} limit 1) found on true
      order by nth`,
  };
};

/** At most `$2` records that follow a row: its position (`$3`), of an event (`$4`) where each has a list of its own. */
const reading = (resource: Followed): Statement => {
  const { name, table, item, key, parent } = resource;
  const order = parent ? `${parent.column}, position` : 'position';
  const follows = parent ? `(${order}) > ($4::bigint, $3::bigint)` : 'position > $3::bigint and $4::bigint is not null';
  const rows = `select * from ${table} where organization_id = $1 and ${follows} order by ${order}`;
  return {
    name: `changes.${name} reading`,
    text: `
      select ${item} as record, ${remoteIdsOf(resource)} as remote_ids, ${key.eventId ?? 'null'} as event_id,
        ${key.id ?? 'null'} as id, position
      from (${limited(rows, table, '$2::integer', order)}) ${table}`,
  };
};

/** The records of one statement: the cost of those may be a megabyte each. */
export const RECORDS_AT_ONCE = MAX_PAGE_SIZE;
export const RECORDS = new Map(FOLLOWED.map((resource) => [resource, recordsOf(resource)]));
export const READING = new Map(FOLLOWED.map((resource) => [resource, reading(resource)]));

/**
 * Removes changes that are older than `$1` days, and keeps the newest of them as a mark: a cursor from before it has missed
 * some. Those after an open transaction stay: every cursor has that before it. They are looked for from the oldest on, of
 * each organization and resource in the log, also where that is deleted.
 */
export const SWEEP = `
  with recursive logs as (
    (select organization_id, resource from changes order by 1, 2 limit 1)
    union all
    select next.* from logs cross join lateral (
      select organization_id, resource from changes c
      where (c.organization_id, c.resource) > (logs.organization_id, logs.resource) order by 1, 2 limit 1) next
  ), old as (
    select organization_id, resource, xid, seq from logs cross join lateral (
      select xid, seq, operation, is_old, lead(is_old) over (order by xid, seq) as is_next_old
      from (
        select c.*, bool_and(at < now() - $1 * interval '1 day') over (order by xid, seq) as is_old from changes c
        where c.organization_id = logs.organization_id and c.resource = logs.resource
          and xid < pg_snapshot_xmin(pg_current_snapshot())::text::bigint order by xid, seq limit $2
      ) oldest) each
    where is_old and (operation <> 's' or is_next_old) limit $2
  ), mark as (
    select distinct on (organization_id, resource) * from old order by organization_id, resource, xid desc, seq desc
  ), marked as (
    update changes c set operation = 's', remote_ids = null from mark m
    where (c.organization_id, c.resource, c.xid, c.seq) = (m.organization_id, m.resource, m.xid, m.seq)
      and c.operation <> 's'
  ), swept as (
    delete from changes c using mark m
    where (c.organization_id, c.resource) = (m.organization_id, m.resource) and (c.xid, c.seq) < (m.xid, m.seq)
  )
  select from old`;
