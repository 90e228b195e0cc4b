-- The SQL of src/access, as PostgreSQL gets it. npm run sql writes this file.

-- Prepared statements

-- access ADD_USAGE: $1 uuid[], $2 integer[]
with uses as (select * from unnest($1::uuid[], $2::integer[]) as u(id, requests)),
  noted as (update api_keys k set last_used_at = now() from uses where k.id = uses.id returning k.id),
  swept as (delete from key_usage where minute < now() - interval '1 day')
insert into key_usage (api_key_id, minute, requests)
select id, date_trunc('minute', now()), requests from uses join noted using (id) order by id
on conflict (api_key_id, minute) do update set requests = key_usage.requests + excluded.requests;

-- access FIND_KEYS: $1 bytea[]
select encode(hash, 'base64') as hash, id as "keyId", organization_id as "organizationId", max_tokens as "maxTokens",
  refill_rate::float8 as "refillRate", simulate,
  coalesce(extract(epoch from expires_at) * 1000, 'infinity')::float8 as "expiresAt"
from api_keys where hash = any($1) and revoked_at is null;
