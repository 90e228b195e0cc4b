-- Functions that defaults and indexes of tables use. They are applied before the migrations, the other files after them.

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
