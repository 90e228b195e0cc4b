import { LOG_STATE } from './changes.sql';

/**
 * The first changes that the reader `r` lacks: those of transactions that have ended, and had not in the snapshot up to which
 * the reader has all. Such transactions began after that snapshot, between those that are open now, or were open in it. What an
 * open transaction has written is not touched, because it may be millions of entries. `limit` lets PostgreSQL read one entry of
 * the log's key, and nothing else, for each resource of a reader that lacks nothing.
 * @param names, numbers parameters with the resources of the feed
 */
const missingChanges = (names: string, numbers: string): string => `(
    select greatest(gap.since, pg_snapshot_xmax(r.caught_up_to::pg_snapshot)::text::bigint) as since, gap.before
    from (
      select lag(xid, 1, 0::bigint) over (order by xid) + 1 as since, xid as before
      from (
        select xid::text::bigint as xid from pg_snapshot_xip(pg_current_snapshot()) xid
        union all select pg_snapshot_xmax(pg_current_snapshot())::text::bigint
      ) open
    ) gap
    union all
    select xid::text::bigint, xid::text::bigint + 1 from pg_snapshot_xip(r.caught_up_to::pg_snapshot) xid
    where pg_visible_in_snapshot(xid, pg_current_snapshot())
  ) ended
  cross join unnest(${names}::text[], ${numbers}::smallint[]) followed (name, number)
  cross join lateral (
    select at from changes c
    where c.organization_id = r.organization_id and c.resource = number and c.xid >= ended.since and c.xid < ended.before
    order by c.xid, c.seq limit 1
  ) missing
  where r.caught_up_to is not null and name = any(r.resources)`;

/**
 * Whether there may be a page for the reader `r` now, except for those that a delivery has in hand (`:inHand`). What a reader
 * has is compared in the log itself, so no process remembers anything, and no commit can fall between two polls, however long
 * its transaction was open. A reader that has not moved since `:refreshBefore` has its cursor stored anew, before its position
 * is pruned.
 */
export const IS_DUE = `r.paused_at is null and r.disabled_at is null and r.id <> all(:inHand::uuid[])
  and (r.subscription is null or r.subscription = any(:subscriptions::text[]))
  and case when r.next_attempt_at is not null then r.next_attempt_at <= :now
    else r.caught_up_to is null or r.moved_at < :refreshBefore
      or r.caught_up_log is distinct from (select state.generation from ${LOG_STATE})
      or exists (select from ${missingChanges(':names', ':numbers')}) end`;

/**
 * Lets the waits begin anew of readers that have moved in the future: the clock was set back, and nobody knows by how much. So it
 * delays no attempt by more than its wait. `$1` is the time.
 */
export const RESTART_WAITS = `
  update feed_readers set next_attempt_at = $1::timestamptz + (next_attempt_at - moved_at), moved_at = $1
  where moved_at > $1`;

/** Deletes webhooks whose keys have all expired or were revoked. */
export const DELETE_WITHOUT_KEY = `
  delete from feed_readers r
  where api_key_ids is not null and not exists (
    select from api_keys k where k.id = any(r.api_key_ids)
      and k.revoked_at is null and (k.expires_at is null or k.expires_at > now())
  )
  returning id, organization_id as "organizationId"`;

/** The number of rows of `feed_readers` in each state, as `stateOf` has it for one of them. */
export const STATE_COUNTS = `
    count(*) filter (where is_running and failing_since is null)::integer as active,
    count(*) filter (where is_running and failing_since is not null)::integer as failing,
    count(*) filter (where disabled_at is null and paused_at is not null)::integer as paused,
    count(*) filter (where disabled_at is not null)::integer as disabled`;

/** The readers of the feed. A row that is neither disabled nor paused `is_running`. */
export const READERS = `(select *, disabled_at is null and paused_at is null as is_running from feed_readers) r`;

/** Readers by state, and the oldest change that waits for one that is not paused. `$1` and `$2` are the resources of the feed. */
export const STATES = `
  select ${STATE_COUNTS}, min(coalesce(waiting_since, missing_since)) filter (where paused_at is null) as "waitingSince"
  from ${READERS} left join lateral (select min(at) as missing_since from ${missingChanges('$1', '$2')}) oldest on true`;
