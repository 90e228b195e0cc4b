-- The SQL that src/data/database composes, as PostgreSQL gets it. npm run sql writes this file.

-- Prepared statements

-- database CLAIM_KEY: $1 text, $2 text, $3 bytea
select free, fingerprint = $3 as same, answer as body, status, headers
from (select pg_try_advisory_xact_lock(hashtextextended($1 || ' ' || $2, 0)) as free) lock
  left join idempotent_answers on api_key_id = $1::uuid
    and idempotency_key = $2
    and created_at > now() - interval '24 hours';

-- database HAS_STORAGE_QUOTA: $1 uuid
select coalesce(sum(pg_column_size(answer)), 0) < 268435456 as "hasRoom" from idempotent_answers
where api_key_id = $1 and octet_length(answer) > 16384 and created_at > now() - interval '24 hours';
