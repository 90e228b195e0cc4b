-- The SQL that src/exchange/persons composes, as PostgreSQL gets it. npm run sql writes this file.

-- Prepared statements

-- persons FIND_HASHED: $1 text, $2 integer, $3 text[], $4 timestamp with time zone[]
with line as materialized (
    select sha256, max(at) as at from unnest($3::text[], $4::timestamptz[]) l (sha256, at) group by sha256
  ),
  identifier as (
    select id as "leadId", 'lead' as kind, id::text as value from leads where organization_id = $2
    union all select l.id, 'address', a.address from leads l, lateral (
select 'email' as field, l.email as address where l.email is not null
union all select 'personalEmails', email_addresses(l.personal_emails)
union all select 'professionalEmails', email_addresses(l.professional_emails)) a where l.organization_id = $2
    union all select l.id, 'number', phone_key(number) from leads l, lateral (
select list.field, phone ->> 'number' as number
from (values ('phoneNumbers.leadProvided', l.lead_provided_phone_numbers),
  ('phoneNumbers.serviceProvided', l.service_provided_phone_numbers)) list (field, phones),
  jsonb_array_elements(phones) phone) n where l.organization_id = $2
  )
select "leadId", kind, value, at
from identifier
  join line on sha256 = encode(
    sha256(convert_to($1::text || ' ' || $2::int || ' ' || kind || ' ' || lower(value collate "C"), 'UTF8')), 'hex'
  );

-- persons HASH_ERASURE: $1 text, $2 integer, $3 text[], $4 text[], $5 uuid[]
select iso_utc(clock_timestamp()::timestamptz(3)) as at, array(
  select encode(
    sha256(convert_to($1::text || ' ' || $2::int || ' ' || kind || ' ' || lower(value collate "C"), 'UTF8')), 'hex'
  )
  from (
    select 'address' as kind, address as value
    from unnest($3::text[]) address
    union all
    select 'number', phone_key(number)
    from unnest($4::text[]) number
    union all
    select 'lead', id::text
    from unnest($5::uuid[]) id
  ) identifier) as sha256;

-- persons COUNT_RESPONSES: $1 integer, $2 uuid[], $3 text[], $4 text[], $5 text[], $6 text[]
select count(*)::int as count from idempotent_answers a where 
a.api_key_id in (select id from api_keys where organization_id = $1)
  and a.answer <> '{"status":410,"error":"Gone"}'
  and (
    exists (
      select
      from unnest($2::uuid[]) lead (id)
      where position(lead.id::text in concat_ws(' ', a.idempotency_key, a.headers, a.answer)) > 0
    )
      or case when (
        lower(concat_ws(' ', a.idempotency_key, a.headers, a.answer)) like any($3::text[])
          or concat_ws(' ', a.idempotency_key, a.headers, a.answer) ~ any($5::text[])
      ) then exists (
        select
        from jsonb_path_query(jsonb_build_array(a.idempotency_key, a.headers, a.answer::jsonb), 'strict $.**') value,
          lateral (select value #>> '{}') t (text)
        where jsonb_typeof(value) = 'string'
          and (
            lower(text) = any($4::text[])
              or text ~ any($6::text[])
              or exists (select from email_addresses(text) address where lower(address) = any($4::text[]))
          )
      ) else false end
  );

-- persons FIND_LEADS: $1 integer, $2 uuid[], $3 text[], $4 text[], $5 text[], $6 text[]
select l.id, l.document, concat_ws(' ', l.first_name, l.last_name) as name, l.created_at as "createdAt", matches
from leads l cross join lateral (
  select json_agg(json_build_object('kind', kind, 'field', field, 'text', text, 'value', value)) as matches from (
    select 'id' as kind, 'id' as field, l.id::text as text, l.id::text as value where l.id = any($2::uuid[])
    union all
    select 'address', field, address, lower(address) from (
select 'email' as field, l.email as address where l.email is not null
union all select 'personalEmails', email_addresses(l.personal_emails)
union all select 'professionalEmails', email_addresses(l.professional_emails)) a where lower(address) = any($3::text[])
    union all
    select case when phone_key(number) = any($5::text[]) then 'number' else 'ending' end, field, number,
      phone_key(number)
    from (
select list.field, phone ->> 'number' as number
from (values ('phoneNumbers.leadProvided', l.lead_provided_phone_numbers),
  ('phoneNumbers.serviceProvided', l.service_provided_phone_numbers)) list (field, phones),
  jsonb_array_elements(phones) phone) n
    where phone_key(number) = any($5::text[])
      or exists (select from unnest($6::text[]) ending where least(length(phone_ending(number)), length(ending)) >= 7
  and right(phone_ending(number), length(ending)) = right(ending, length(phone_ending(number))))
  ) m
) m
where l.organization_id = $1 and (
  l.id = any($2::uuid[])
  or lower(concat_ws(' ', l.email, l.personal_emails, l.professional_emails)) like any($4::text[])
  or l.lead_provided_phone_numbers::text || l.service_provided_phone_numbers::text ~ any(array(
    select array_to_string(string_to_array(right(digits, 7), null), '([^1-9]|\\u00[01][0-9a-f])*')
    from unnest($5::text[] || $6::text[]) digits))) and matches is not null
order by l.position;

-- persons FIND_NEEDLES: $1 integer, $2 text[], $3 text[], $4 uuid[], $5 uuid[]
with leads_named as materialized (select * from leads where organization_id = $1 and id = any($4::uuid[])),
  others as materialized (select * from leads where organization_id = $1 and id = any($5::uuid[])),
  address as (
    select value, bool_or(is_named) as is_named from (
      select lower(address) as value, true as is_named from unnest($2::text[]) address
      union all select lower(a.address), false from leads_named l, lateral (
select 'email' as field, l.email as address where l.email is not null
union all select 'personalEmails', email_addresses(l.personal_emails)
union all select 'professionalEmails', email_addresses(l.professional_emails)) a
    ) each
    where value not in (select lower(a.address) from others o, lateral (
select 'email' as field, o.email as address where o.email is not null
union all select 'personalEmails', email_addresses(o.personal_emails)
union all select 'professionalEmails', email_addresses(o.professional_emails)) a)
    group by value
  ),
  number as (
    select value, max(ending) as ending, bool_or(is_named) as is_named from (
      select phone_key(number) as value, phone_ending(number) as ending, true as is_named from unnest($3::text[]) number
      union all select phone_key(n.number), phone_ending(n.number), false from leads_named l, lateral (
select list.field, phone ->> 'number' as number
from (values ('phoneNumbers.leadProvided', l.lead_provided_phone_numbers),
  ('phoneNumbers.serviceProvided', l.service_provided_phone_numbers)) list (field, phones),
  jsonb_array_elements(phones) phone) n
    ) each
    where length(value) >= 5
      and value not in (select phone_key(n.number) from others o, lateral (
select list.field, phone ->> 'number' as number
from (values ('phoneNumbers.leadProvided', o.lead_provided_phone_numbers),
  ('phoneNumbers.serviceProvided', o.service_provided_phone_numbers)) list (field, phones),
  jsonb_array_elements(phones) phone) n)
    group by value
  )
select array(select value from address) as emails,
  array(
    select '%' || regexp_replace(value, '([\\%_])', '\\\1', 'g') || '%'
    from address
    union
    select '%' ||
      regexp_replace(substr(to_json(value)::text, 2, length(to_json(value)::text) - 2), '([\\%_])', '\\\1', 'g') || '%'
    from address
  ) as "emailPatterns",
  array(select value from number) as phones,
  array(
    select '(?<![0-9])(00)?' || array_to_string(string_to_array(value, null), '[[:space:]().+/-]*') || '(?![0-9])'
    from number
  ) as "phonePatterns",
  -- Digits of an ID or a date are no word.
  array(
    select '(?<![[:alnum:]-])(00)?' || array_to_string(string_to_array(value, null), '[[:space:]().+/-]*') ||
      '(?![[:alnum:]:-])'
    from number
  ) as "phoneWords",
  array(select ending from number) as "phoneEndings",
  array(select value from address where is_named) as "namedEmails",
  array(select value from number where is_named) as "namedPhones";

-- persons FIND_OWN_ADDRESSES: $1 integer, $2 uuid[], $3 text[], $4 text[]
with own as materialized (
  select lower(a.address) as address from leads l, lateral (
select 'email' as field, l.email as address where l.email is not null
union all select 'personalEmails', email_addresses(l.personal_emails)
union all select 'professionalEmails', email_addresses(l.professional_emails)) a
  where l.organization_id = $1 and l.id = any($2::uuid[])
)
select address from unnest($4::text[]) address
where lower(address) = any($3::text[]) or lower(address) in (select address from own);

-- persons REPLACE_RESPONSES: $1 integer, $2 uuid[], $3 text[], $4 text[], $5 text[], $6 text[], $7 interval
update idempotent_answers a set answer = '{"status":410,"error":"Gone"}', status = 410, headers = '{}'
where a.created_at > now() - $7::interval and
a.api_key_id in (select id from api_keys where organization_id = $1)
  and a.answer <> '{"status":410,"error":"Gone"}'
  and (
    exists (
      select
      from unnest($2::uuid[]) lead (id)
      where position(lead.id::text in concat_ws(' ', a.idempotency_key, a.headers, a.answer)) > 0
    )
      or case when (
        lower(concat_ws(' ', a.idempotency_key, a.headers, a.answer)) like any($3::text[])
          or concat_ws(' ', a.idempotency_key, a.headers, a.answer) ~ any($5::text[])
      ) then exists (
        select
        from jsonb_path_query(jsonb_build_array(a.idempotency_key, a.headers, a.answer::jsonb), 'strict $.**') value,
          lateral (select value #>> '{}') t (text)
        where jsonb_typeof(value) = 'string'
          and (
            lower(text) = any($4::text[])
              or text ~ any($6::text[])
              or exists (select from email_addresses(text) address where lower(address) = any($4::text[]))
          )
      ) else false end
  );
