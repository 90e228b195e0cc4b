-- Functions that every context uses in defaults and triggers. They are applied before the migrations, the other files
-- after them.

-- A uuid of version 7 (RFC 9562): the clock's milliseconds, then random bits.
create or replace function uuid_v7() returns uuid language sql volatile parallel safe as $$
  select (lpad(to_hex((extract(epoch from clock_timestamp()) * 1000)::bigint), 12, '0') || '7'
    || substr(replace(gen_random_uuid()::text, '-', ''), 14))::uuid
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
