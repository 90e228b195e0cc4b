/**
 * What a poll asks: the webhooks to look at, and the snapshot to compare the next poll with. An idle webhook is looked at when
 * its organization has a change that the poll's snapshot sees and the previous one (`$1`) did not, which is a change of a
 * transaction that began after that one, or that was open then and has ended since. `lowest` bounds the part of the log's index
 * that is read for it. Nothing can be missed, because both are compared with the snapshot of one and the same statement. `log`
 * names the log: a restore under a running server, or a reset, makes it another one, whose snapshots cannot be compared.
 *
 * `$2` is now, `$3` the ids that were due before and are not known to be idle, `$4` the ids that a delivery has in hand: these
 * are named for new changes only. A webhook without `moved_at` was changed by its operator, and one that was not looked at since
 * `$5` has its cursor refreshed. `$6` are the numbers of the resources of the
 * feed: a webhook that follows only some of them is now and then looked at in vain. `$7` are the names of this server's methods.
 */
export const POLL = `
  with compared as materialized (
    select pg_current_snapshot() as current, $1::pg_snapshot as previous
  ), bounds as materialized (
    select current, previous is null as is_first, pg_snapshot_xmax(previous)::text::bigint as previous_end,
      pg_snapshot_xmax(current)::text::bigint as current_end,
      array(select xid::text::bigint from pg_snapshot_xip(previous) xid
        except select xid::text::bigint from pg_snapshot_xip(current) xid) as ended
    from compared
  ), since as materialized (
    select *, least(previous_end, (select min(xid) from unnest(ended) xid)) as lowest from bounds
  ), looked_at as (
    select w.id, changed.is_changed
    from feed_readers w cross join since cross join lateral (
      select is_first or (lowest < current_end and exists (
        select from changes c
        where c.organization_id = w.organization_id and c.resource = any($6::smallint[])
          and c.xid >= since.lowest and c.xid < since.current_end
          and (c.xid >= since.previous_end or c.xid = any(since.ended)))) as is_changed) changed
    where (subscription is null or subscription = any($7::text[]))
      and paused_at is null and (next_attempt_at is null or next_attempt_at <= $2 or disabled_at is not null)
      and (disabled_at is null or waiting_since is null)
      and (is_changed or (w.id <> all($4::uuid[])
        and (w.id = any($3::uuid[]) or (next_attempt_at is not null and disabled_at is null) or moved_at is null or moved_at < $5)))
  )
  select current::text as snapshot, (
      select concat_ws(' ', generation, database_identity, 'changes'::regclass::oid) from changes_key) as log,
    array(select id from looked_at) as ids, array(select id from looked_at where is_changed) as changed
  from since`;

/** The number of rows of `feed_readers` in each state, as `stateOf` has it for one of them. */
export const STATE_COUNTS = `
    count(*) filter (where is_running and failing_since is null)::integer as active,
    count(*) filter (where is_running and failing_since is not null)::integer as failing,
    count(*) filter (where disabled_at is null and paused_at is not null)::integer as paused,
    count(*) filter (where disabled_at is not null)::integer as disabled`;

/** The readers of the feed. A row that is neither disabled nor paused `is_running`. */
export const READERS = `(select *, disabled_at is null and paused_at is null as is_running from feed_readers) readers`;

/** Readers by state, and the oldest change that waits for one. */
export const STATES = `select ${STATE_COUNTS}, min(waiting_since) as "waitingSince" from ${READERS}`;
