-- Functions without a table: defaults, indexes and triggers use them. They are applied before the migrations, the other
-- files after them.

-- A uuid of version 7 (RFC 9562): the clock's milliseconds, then random bits.
create or replace function uuid_v7() returns uuid language sql volatile parallel safe as $$
  select (lpad(to_hex((extract(epoch from clock_timestamp()) * 1000)::bigint), 12, '0') || '7'
    || substr(replace(gen_random_uuid()::text, '-', ''), 14))::uuid
$$;

-- A btree entry holds 2,704 bytes, and an eventUrl of 2,048 characters may be longer, so its SHA-256 is what is unique.
-- convert_to is only stable because conversions can be redefined; from UTF8 to UTF8 there is none.
create or replace function event_url_digest(url text) returns bytea language sql immutable strict parallel safe as $$
  select sha256(convert_to(url, 'UTF8'))
$$;

-- Refuses what would leave the counts of a list, or the documents of leads, as they were.
create or replace function refuse() returns trigger language plpgsql as $$
begin
  raise '% of % would leave what is kept of its rows as it is: delete the rows instead', tg_op, tg_table_name
    using errcode = 'feature_not_supported';
end $$;

-- ISO 8601 in UTC with milliseconds, whatever the session's time zone is: how the API shows date-times.
create or replace function iso_utc(moment timestamptz) returns text language sql stable parallel safe as $$
  select to_char(moment at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')
$$;

-- What a lead is found by: its e-mail address in small letters, and each of its remote ids. The organization is part of it,
-- so that PostgreSQL has one index to choose, whatever it believes of the size of an organization.
create or replace function email_key(org integer, email text) returns text language sql immutable parallel safe as $$
  select org::text || ' ' || lower(email)
$$;
create or replace function remote_id_key(org integer, integration_type text, id text) returns text
language sql immutable parallel safe as $$
  select org::text || ' ' || integration_type || ' ' || id
$$;
create or replace function remote_id_keys(org integer, remote_ids jsonb) returns text[]
language sql immutable parallel safe as $$
  -- Not by the function above: an index is built without a search path.
  select array_agg(org::text || ' ' || (value ->> 'integrationType') || ' ' || (value ->> 'id'))
  from jsonb_array_elements(remote_ids)
$$;
