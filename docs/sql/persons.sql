-- The SQL that src/exchange/persons composes, as PostgreSQL gets it. npm run sql writes this file.

-- Prepared statements

-- persons COUNT_RESPONSES: $1 integer, $2 uuid[], $3 text[], $4 text[], $5 text[]
select count(*)::int as count from idempotent_answers a where 
a.api_key_id in (select id from api_keys where organization_id = $1)
  and a.answer <> '{"status":410,"error":"Gone"}'
  and exists (
    select
    from (select concat_ws(' ', a.idempotency_key, a.headers, a.answer)) t (raw)
    where exists (select from unnest($2::uuid[]) lead (id) where position(lead.id::text in raw) > 0)
      or lower(raw) like any($3::text[])
      and lower(regexp_replace(raw, '\\(u[0-9a-fA-F]{4}|.)', ' ', 'g')) ~ any($4::text[])
      or cardinality($5::text[]) > 0
      and regexp_replace(raw, '\\(u[0-9a-fA-F]{4}|.)', ' ', 'g') ~ any($5)
  );

-- persons FIND_LEADS: $1 integer, $2 text[], $3 text[], $4 uuid[], $5 text[]
select id, document, concat_ws(' ', email, personal_emails, professional_emails) as addresses,
  array(
    select regexp_replace(phone ->> 'number', '\D', '', 'g')
    from jsonb_array_elements(lead_provided_phone_numbers || service_provided_phone_numbers) phone
    where phone ->> 'number' ~ '\d'
  ) as phones
from leads where organization_id = $1 and (
  id = any($4::uuid[])
  or lower(concat_ws(' ', email, personal_emails, professional_emails)) like any($5::text[])
    and regexp_split_to_array(lower(concat_ws(' ', email, personal_emails, professional_emails)), '[\s,;|<>]+') &&
      $2::text[]
  or cardinality($3::text[]) > 0
    and exists (
      select
      from jsonb_array_elements(lead_provided_phone_numbers || service_provided_phone_numbers) phone
      where regexp_replace(phone ->> 'number', '\D', '', 'g') = any($3)
    ))
order by position;

-- persons LEAD_ADDRESSES: $1 integer
select concat_ws(' ', email, personal_emails, professional_emails) as text
from leads
where organization_id = $1 and concat_ws(' ', email, personal_emails, professional_emails) like '%@%';

-- persons REPLACE_RESPONSES: $1 integer, $2 uuid[], $3 text[], $4 text[], $5 text[], $6 interval
update idempotent_answers a set answer = '{"status":410,"error":"Gone"}', status = 410, headers = '{}'
where a.created_at > now() - $6::interval and
a.api_key_id in (select id from api_keys where organization_id = $1)
  and a.answer <> '{"status":410,"error":"Gone"}'
  and exists (
    select
    from (select concat_ws(' ', a.idempotency_key, a.headers, a.answer)) t (raw)
    where exists (select from unnest($2::uuid[]) lead (id) where position(lead.id::text in raw) > 0)
      or lower(raw) like any($3::text[])
      and lower(regexp_replace(raw, '\\(u[0-9a-fA-F]{4}|.)', ' ', 'g')) ~ any($4::text[])
      or cardinality($5::text[]) > 0
      and regexp_replace(raw, '\\(u[0-9a-fA-F]{4}|.)', ' ', 'g') ~ any($5)
  );
