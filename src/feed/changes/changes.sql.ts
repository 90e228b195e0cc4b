import { limitedRows } from '../../data/database/paginate';
import type { Statement } from '../../data/database/statements';
import { DATABASE_IDENTITY } from './database-identity';
import type { FeedResource } from './feed-resource';

/** Maximum changes of a page. */
export const MAX_CHANGES = 500;

export const SECRET: Statement = {
  name: 'changes.secret',
  text: `select encode(secret, 'hex') from changes_key`,
  isShared: true,
};

/**
 * The state of the log. It is read in the same statement as the rows of the log, so that a restore under a running server is
 * noticed at once. The generation differs between databases, restored copies, and a promoted standby and its primary. The
 * write-ahead log names the timeline, because the control file still has the old one right after a promotion. The generation
 * is null where there is no log to continue: on a standby, and while a restore has not filled `changes_key` yet.
 */
export const LOG_STATE = `(select) one left join lateral (
      select own.database, encode(secret, 'hex') as secret, database_identity is distinct from own.database as is_foreign,
        case when not pg_is_in_recovery() then md5(concat_ws(' ', own.database,
          left(pg_walfile_name(pg_current_wal_lsn()), 8), 'changes'::regclass::oid, generation)) end as generation
      from changes_key, (select ${DATABASE_IDENTITY} as database offset 0) own) state on true`;

/** The next transaction number. A change with this number or a higher one was written in another cluster. */
const NEXT_XID = `greatest(pg_snapshot_xmax(pg_current_snapshot())::text::bigint,
      pg_current_xact_id_if_assigned()::text::bigint + 1)`;

const STATE_FIELDS = `'database', state.database, 'secret', state.secret, 'isForeign', state.is_foreign,
      'generation', state.generation, 'snapshot', pg_current_snapshot()::text, 'nextXid', ${NEXT_XID}`;

/** Starts a new generation of the log, which invalidates all cursors. */
export const RESET: Statement = {
  name: 'changes.reset',
  text: 'update changes_key set generation = generation + 1 returning generation::text',
  isShared: true,
};

/**
 * Invalidates all cursors if the log lacks a change of `$1`, which was read from it. A change that was pruned does not count:
 * the log then begins with a later mark.
 */
export const FORGET_LOST_LOG = `
  update changes_key set generation = generation + 1 where exists (
    select from jsonb_to_recordset($1) sent (organization_id integer, resource smallint, xid bigint, seq bigint, at timestamptz)
    where not exists (
      select from changes c where c.organization_id = sent.organization_id and c.resource = sent.resource
        and ((c.xid, c.seq, c.at) = (sent.xid, sent.seq, sent.at)
          or c.operation = 's' and (c.xid, c.seq) > (sent.xid, sent.seq))))`;

/** How many rows one call deletes: few enough for the timeout of a request. */
export const CLAIM_BATCH_SIZE = 20_000;

/** Takes over a log that was written in another database (change.functions.ts). */
export const CLAIM: Statement = { name: 'changes.claim', text: 'select claim_log($1, $2) as outcome', isShared: true };

/** A cursor with too many positions for a URL refers to stored ones by their hash. */
export const STORE_POSITIONS: Statement = {
  name: 'changes.store positions',
  text: `
    insert into cursor_positions as p (organization_id, hash, positions) values ($1, decode($2, 'hex'), $3)
    on conflict (organization_id, hash) do update set used_at = now() where p.used_at < now() - interval '1 hour'`,
};
export const LOAD_POSITIONS: Statement = {
  name: 'changes.load positions',
  text: `select positions from cursor_positions where organization_id = $1 and hash = decode($2, 'hex')`,
};

/** Deletes at most `$2` stored positions that no cursor has referred to for `$1` days. */
export const PRUNE_POSITIONS = `
  with old as (
    select ctid from cursor_positions where used_at < now() - $1 * interval '1 day' limit $2 for update skip locked
  )
  delete from cursor_positions where ctid = any(array(select ctid from old)) returning 1`;

/** The transactions that were open when the statement began, as the rest of the statement sees the database. */
const OPEN_TRANSACTIONS = `(select coalesce(json_agg(xid::text::bigint order by xid), '[]') from pg_snapshot_xip(pg_current_snapshot()) xid)`;

/** A change as `LastEmitted` has it. */
const LOG_ENTRY_ID = `json_build_array(resource, xid, seq, iso_utc(at))`;

/**
 * The resources by their numbers. The planner expects the same number of rows of any JSON, so that it keeps its plan; of an
 * array it would expect as many as the array has.
 */
const RESOURCE_ROWS = 'jsonb_to_recordset($2::jsonb) followed (number smallint)';

/** The state of the log, and the newest change of the resources `$2`. */
export const LOG_STATUS: Statement = {
  name: 'changes.log status',
  text: `
    select json_build_object(${STATE_FIELDS}, 'openTransactions', ${OPEN_TRANSACTIONS}, 'newest', (
      select ${LOG_ENTRY_ID} from ${RESOURCE_ROWS} cross join lateral (
        select * from changes where organization_id = $1 and resource = number order by xid desc, seq desc limit 1) newest
      order by xid desc, seq desc limit 1))::text
    from ${LOG_STATE}`,
};

/**
 * The changes of the resources `$2` in the ranges `$3` of the log, and one more than `max`, which shows that there are more.
 * `isKept` says whether the last emitted change (`$4`) is still there, `isPruned` whether changes were pruned that the cursor
 * has not seen.
 */
const pendingChanges = (max: number): Statement => ({
  name: `changes.pending ${max}`,
  text: `
    select json_build_object(${STATE_FIELDS}, 'openTransactions', ${OPEN_TRANSACTIONS},
      'isKept', $4::jsonb is null or exists (select from changes where organization_id = $1
        and resource = ($4 ->> 0)::smallint and xid = ($4 ->> 1)::bigint and seq = ($4 ->> 2)::bigint
        and at = ($4 ->> 3)::timestamptz),
      'isPruned', exists (
        select from ${RESOURCE_ROWS} cross join lateral (
          select * from changes where organization_id = $1 and resource = number order by xid, seq limit 1) oldest
        where operation = 's' and (xid, seq) > (($3::jsonb -> 0 ->> 'xid')::bigint, ($3 -> 0 ->> 'seq')::bigint)),
      'entries', (
        select coalesce(json_agg(json_build_array(${LOG_ENTRY_ID}, operation, event_id, id, remote_ids) order by xid, seq), '[]')
        from (
          select pending.* from ${RESOURCE_ROWS}
            cross join jsonb_to_recordset($3) range (xid bigint, seq bigint, before bigint)
            cross join lateral (
              select * from changes l where organization_id = $1 and resource = number
                and (l.xid, l.seq) > (range.xid, range.seq) and l.xid < range.before
              order by l.xid, l.seq limit ${max + 1}) pending
          order by pending.xid, pending.seq limit ${max + 1}) page))::text
    from ${LOG_STATE}`,
});

/** The page sizes that have a statement of their own: with a parameter as its limit, a page is planned each time. */
export const PENDING_CHANGES: readonly Statement[] = [100, MAX_CHANGES].map(pendingChanges);

/** @param limit maximum changes of the page */
export const pendingChangesFor = (limit: number): Statement => PENDING_CHANGES[Number(limit > 100)]!;

const remoteIdsSql = ({ remoteIds }: FeedResource): string => (remoteIds ? `${remoteIds.column}::text` : 'null::text');

/**
 * A row for each key (`$2` and `$3`): the record, if it exists, and its remote ids. The condition on the organization is
 * written so that PostgreSQL always looks up the key, whatever its statistics of an organization say.
 */
export const recordsByKey = (resource: FeedResource): Statement => {
  const { name, table, recordSql, key } = resource;
  const hasKey = [
    ...(key.integer ? [`${table}.${key.integer.column} = wanted.event_id`] : []),
    ...(key.uuid ? [`${table}.${key.uuid.column} = wanted.id`] : []),
  ];
  return {
    name: `changes.${name}`,
    text: `
      select record, remote_ids
      from unnest($2::bigint[], $3::uuid[]) with ordinality wanted (event_id, id, nth) left join lateral (
        select ${recordSql} as record, ${remoteIdsSql(resource)} as remote_ids from ${table}
        where (organization_id = $1) is true and ${hasKey.join(' and ')} limit 1) found on true
      order by nth`,
  };
};

/**
 * At most `$2` records in the order of their list: those after the position `$3`, or after that position of the parent `$4`
 * where each parent, such as an event, has a list of its own.
 */
export const snapshotPage = (resource: FeedResource): Statement => {
  const { name, table, recordSql, key, parent } = resource;
  const order = parent ? `${parent.column}, position` : 'position';
  const follows = parent
    ? `(${order}) > ($4::${parent.type}, $3::bigint)`
    : 'position > $3::bigint and $4::bigint is not null';
  const rows = `select * from ${table} where organization_id = $1 and ${follows} order by ${order}`;
  return {
    name: `changes.${name} snapshot`,
    text: `
      select ${recordSql} as record, ${remoteIdsSql(resource)} as remote_ids, ${key.integer?.column ?? 'null'} as event_id,
        ${key.uuid?.column ?? 'null'} as id, position, ${parent?.column ?? 'null'} as parent
      from (${limitedRows(rows, table, '$2::integer', order)}) ${table}`,
  };
};

/**
 * Deletes changes that are older than `$1` days, and keeps the newest of them as a mark: a cursor from before the mark has
 * missed some. Changes after an open transaction stay, because every cursor still has that transaction to emit. For each
 * organization and resource in the log, including deleted organizations, the statement begins with the oldest change.
 */
export const PRUNE_CHANGES = `
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
  ), pruned as (
    delete from changes c using mark m
    where (c.organization_id, c.resource) = (m.organization_id, m.resource) and (c.xid, c.seq) < (m.xid, m.seq)
  )
  select from old`;
