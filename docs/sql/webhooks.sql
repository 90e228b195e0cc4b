-- The SQL that src/webhooks composes, as PostgreSQL gets it. npm run sql writes this file.

-- Prepared statements

-- webhooks STATES
select 
count(*) filter (where is_running and failing_since is null)::integer as active,
count(*) filter (where is_running and failing_since is not null)::integer as failing,
count(*) filter (where disabled_at is null and paused_at is not null)::integer as paused,
count(*) filter (where disabled_at is not null)::integer as disabled, min(waiting_since) as "waitingSince"
from (select *, disabled_at is null and paused_at is null as is_running from feed_readers) readers;
