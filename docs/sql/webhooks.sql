-- The SQL of src/webhooks, as PostgreSQL gets it. npm run sql writes this file.

-- Prepared statements

-- webhooks ADD_SUBSCRIPTIONS: $1 text[]
insert into subscriptions (name) select unnest($1::text[]) on conflict (name) do nothing;

-- webhooks MISSING_ROWS: $1 text[], $2 jsonb
select s.name, o.id as "organizationId", o.created_at < s.created_at as "isOlder", w.id
from subscriptions s cross join organizations o
  left join feed_readers w on w.organization_id = o.id and w.subscription = s.name
where s.name = any($1) and (w.id is null or to_jsonb(w.resources) <> $2::jsonb -> s.name)
limit 200;

-- webhooks RETRY_SUBSCRIPTIONS: $1 text[]
update feed_readers set next_attempt_at = null, moved_at = null
where subscription = any($1) and failing_since is not null;

-- webhooks POLL: $1 pg_snapshot, $2 timestamp with time zone, $3 uuid[], $4 uuid[], $5 timestamp with time zone,
-- $6 smallint[], $7 text[]
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
      and (
        w.id = any($3::uuid[])
          or (next_attempt_at is not null and disabled_at is null)
          or moved_at is null
          or moved_at < $5
      )))
)
select current::text as snapshot, (
    select concat_ws(' ', generation, database_identity, 'changes'::regclass::oid) from changes_key) as log,
  array(select id from looked_at) as ids, array(select id from looked_at where is_changed) as changed
from since;

-- webhooks STATES
select 
count(*) filter (where is_running and failing_since is null)::integer as active,
count(*) filter (where is_running and failing_since is not null)::integer as failing,
count(*) filter (where disabled_at is null and paused_at is not null)::integer as paused,
count(*) filter (where disabled_at is not null)::integer as disabled, min(waiting_since) as "waitingSince"
from (select *, disabled_at is null and paused_at is null as is_running from feed_readers) readers;

-- Functions

CREATE OR REPLACE FUNCTION public.pause_webhooks()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  update feed_readers set paused_at = now() where paused_at is null;
  return null;
end $function$;
