-- The SQL that src/contexts/leads composes, as PostgreSQL gets it. npm run sql writes this file.

-- Prepared statements

-- lead.create: $1 integer, $2 jsonb, $3 text ($1 is the organization)
with actor as (
  insert into audit_log (organization_id, change, operation, resource)
  select 0, '', '', '' where set_config('lanyard.actor', $3, true) is null
), given as materialized (
    select *
    from rows from (
      jsonb_to_recordset($2) as (
        "createdByEmail" text, "firstName" text, "lastName" text, "companyName" text, "email" text, "phoneNumbers" jsonb
      )
    )
      with ordinality as g ("createdByEmail", "firstName", "lastName", "companyName", "email", "phoneNumbers", n)
  ),
  taken as materialized (select list_take($1, 'leads', count(*)) as start from given),
  created as (
    insert into leads
      (organization_id, position, created_by, first_name, last_name, company_name, email, lead_provided_phone_numbers)
    select $1, start + n - 1, "createdByEmail", "firstName", "lastName", "companyName", "email",
      coalesce("phoneNumbers", '[]')
    from given, taken
    returning position, document
  )
select document from created order by position;

-- leads.filtered page: $1 integer, $2 text, $3 text, $4 text, $5 text[], $6 bigint, $7 boolean,
-- $8 timestamp with time zone, $9 bigint, $10 bigint ($1 is the organization)
select page.json, counted.total
from (
  select total
  from (
    select count(*) as total
    from leads
    where organization_id = $1
      and (
        $2::text is null
          or leads.email is not null
          and email_key(leads.organization_id, leads.email) = email_key($1, $2)
      )
      and (
        $4::text is null
          or leads.remote_ids <> '[]'
          and remote_id_keys(leads.organization_id, leads.remote_ids) @> array[remote_id_key($1, $3::text, $4)]
      )
      and (
        $6::bigint is null
          or leads.id in (select e.lead_id from event_leads e where e.organization_id = $1 and e.event_id = $6::bigint)
      )
      and ($7::boolean is null or (coalesce(leads.email, '') <> '') = $7)
      and ($8::timestamptz is null or leads.created_at >= $8)
      and (
        $5::text[] is null
          or lead_spelling(
            concat_ws(
              ' ', left(leads.first_name, 255), left(leads.last_name, 255), left(leads.company_name, 255),
                left(leads.email, 255)
            )
          ) ~ all((select lead_text_patterns($5::text[]))::text[])
          and exists (
            select
            from lead_words
            where organization_id = $1
              and position = leads.position
              and lead_words.words @@ (select lead_word_query($1, $5::text[]))
          )
      )
  ) counted
  where exists
    (select where $6::bigint is null union all select from events where organization_id = $1 and id = $6::bigint)
) counted
  left join lateral (
    select leads.document as json, position
    from (
      select *
      from (
        select *
        from leads
        where organization_id = $1
          and (
            $2::text is null
              or leads.email is not null
              and email_key(leads.organization_id, leads.email) = email_key($1, $2)
          )
          and (
            $4::text is null
              or leads.remote_ids <> '[]'
              and remote_id_keys(leads.organization_id, leads.remote_ids) @> array[remote_id_key($1, $3::text, $4)]
          )
          and (
            $6::bigint is null
              or leads.id in
                (select e.lead_id from event_leads e where e.organization_id = $1 and e.event_id = $6::bigint)
          )
          and ($7::boolean is null or (coalesce(leads.email, '') <> '') = $7)
          and ($8::timestamptz is null or leads.created_at >= $8)
          and (
            $5::text[] is null
              or lead_spelling(
                concat_ws(
                  ' ', left(leads.first_name, 255), left(leads.last_name, 255), left(leads.company_name, 255),
                    left(leads.email, 255)
                )
              ) ~ all((select lead_text_patterns($5::text[]))::text[])
              and exists (
                select
                from lead_words
                where organization_id = $1
                  and position = leads.position
                  and lead_words.words @@ (select lead_word_query($1, $5::text[]))
              )
          )
          and (position) >= (
            select position
            from leads
            where organization_id = $1
              and (
                $2::text is null
                  or leads.email is not null
                  and email_key(leads.organization_id, leads.email) = email_key($1, $2)
              )
              and (
                $4::text is null
                  or leads.remote_ids <> '[]'
                  and remote_id_keys(leads.organization_id, leads.remote_ids) @> array[remote_id_key($1, $3::text, $4)]
              )
              and (
                $6::bigint is null
                  or leads.id in
                    (select e.lead_id from event_leads e where e.organization_id = $1 and e.event_id = $6::bigint)
              )
              and ($7::boolean is null or (coalesce(leads.email, '') <> '') = $7)
              and ($8::timestamptz is null or leads.created_at >= $8)
              and (
                $5::text[] is null
                  or lead_spelling(
                    concat_ws(
                      ' ', left(leads.first_name, 255), left(leads.last_name, 255), left(leads.company_name, 255),
                        left(leads.email, 255)
                    )
                  ) ~ all((select lead_text_patterns($5::text[]))::text[])
                  and exists (
                    select
                    from lead_words
                    where organization_id = $1
                      and position = leads.position
                      and lead_words.words @@ (select lead_word_query($1, $5::text[]))
                  )
              )
            order by position
            limit 1 offset $10::bigint * $9::bigint
          )
        order by position
        limit 50
      ) leads
      order by position
      limit $9::bigint
    ) leads
  ) page on true
order by page.position;

-- leads page: $1 integer, $2 bigint, $3 bigint ($1 is the organization)
select page.json, counted.total
from (select coalesce((select rows from list_counts
  where (organization_id, list, shift, bucket) = ($1, 'leads', 40, 0)), 0) as total ) counted
    cross join list_seek($1, 'leads', $3::bigint * $2::bigint) seek
  left join lateral (
    select leads.document as json, position
    from (
      select *
      from (
        select *
        from leads
        where organization_id = $1
          and (position) >= (
            select position
            from leads
            where organization_id = $1 and position >= seek.start
            order by position
            limit 1 offset seek.rest
          )
        order by position
        limit 50
      ) leads
      order by position
      limit $2::bigint
    ) leads
  ) page on true
order by page.position;

-- lead.events page: $1 integer, $2 uuid, $3 bigint, $4 bigint ($1 is the organization)
with found as materialized (select * from event_leads where organization_id = $1 and lead_id = $2)
select page.json, counted.total
from (
  select count(*) as total
  from found having exists (select from leads where (leads.organization_id = $1) is true and id = $2)
) counted
  left join (
    select (
      select row_to_json(o)::text
      from (
        select event_leads.event_id as "eventId", events.name as "eventName", event_leads.registered as "registered",
          event_leads.checked_in as "checkedIn"
      ) o
    ) as json, associated_at, event_id
    from (
      select *
      from (select * from found order by associated_at, event_id offset $4::bigint * $3::bigint limit 50) event_leads
      order by associated_at, event_id
      limit $3::bigint
    ) event_leads
      join events on events.organization_id = $1 and events.id = event_leads.event_id
  ) page on true
order by page.associated_at, page.event_id;

-- leads.matchEmail: $1 integer, $2 jsonb ($1 is the organization)
with given as materialized (
    select value, n, min(n) over (partition by lower(value #>> '{}')) as first
    from jsonb_array_elements($2::jsonb) with ordinality g (value, n)
  ),
  found as materialized (
    select value, n, first, (select id from (
  select l.id, l.position
  from leads l
  where (l.organization_id = $1) is true
    and l.email is not null
    and email_key(l.organization_id, l.email) = email_key($1, value #>> '{}') offset 0
) l order by position limit 1) as id from given
  ),
  locked as materialized (
    select *
    from leads
    where (leads.organization_id = $1) is true and id = any(array(select id from found))
    order by id for no key update
  )
select json_build_object('id', found.id, 'firstIndex', first - 1, 'isLocked', locked.id is not null)::text
from found
  left join locked on locked.id = found.id
  and locked.email is not null
  and email_key(locked.organization_id, locked.email) = email_key($1, value #>> '{}')
order by n;

-- leads.matchRemoteId: $1 integer, $2 jsonb ($1 is the organization)
with given as materialized (
    select value, n, min(n) over (partition by remote_id_key($1, value ->> 'integrationType', value ->> 'id')) as first
    from jsonb_array_elements($2::jsonb) with ordinality g (value, n)
  ),
  found as materialized (
    select value, n, first, (select id from (
  select l.id, l.position from leads l where (l.organization_id = $1) is true and l.remote_ids <> '[]' and
remote_id_keys(l.organization_id, l.remote_ids) @> array[remote_id_key($1, value ->> 'integrationType', value ->> 'id')]
  offset 0
) l order by position limit 1) as id from given
  ),
  locked as materialized (
    select *
    from leads
    where (leads.organization_id = $1) is true and id = any(array(select id from found))
    order by id for no key update
  )
select json_build_object('id', found.id, 'firstIndex', first - 1, 'isLocked', locked.id is not null)::text
from found left join locked on locked.id = found.id and locked.remote_ids <> '[]' and
remote_id_keys(locked.organization_id, locked.remote_ids) @>
  array[remote_id_key($1, value ->> 'integrationType', value ->> 'id')]
order by n;

-- lead.patch: $1 integer, $2 uuid, $3 jsonb, $4 text ($1 is the organization)
with actor as (
  insert into audit_log (organization_id, change, operation, resource)
  select 0, '', '', '' where set_config('lanyard.actor', $4, true) is null
)
update leads set
  first_name = case when $3::jsonb ? 'firstName' then $3::jsonb ->> 'firstName' else first_name end,
  last_name = case when $3::jsonb ? 'lastName' then $3::jsonb ->> 'lastName' else last_name end,
  email = case when $3::jsonb ? 'email' then $3::jsonb ->> 'email' else email end,
  address = case when $3::jsonb ? 'address' then $3::jsonb ->> 'address' else address end,
  linkedin = case when $3::jsonb ? 'linkedin' then $3::jsonb ->> 'linkedin' else linkedin end,
  facebook = case when $3::jsonb ? 'facebook' then $3::jsonb ->> 'facebook' else facebook end,
  twitter = case when $3::jsonb ? 'twitter' then $3::jsonb ->> 'twitter' else twitter end,
  profile_picture = case when $3::jsonb ? 'profilePicture' then $3::jsonb ->> 'profilePicture' else profile_picture end,
  description = case when $3::jsonb ? 'description' then $3::jsonb ->> 'description' else description end,
  job_title = case when $3::jsonb ? 'jobTitle' then $3::jsonb ->> 'jobTitle' else job_title end,
  lead_provided_phone_numbers = case when $3::jsonb ? 'phoneNumbers' then
    coalesce(nullif($3::jsonb -> 'phoneNumbers', 'null'), '[]') else coalesce(lead_provided_phone_numbers, '[]') end,
  remote_ids = case when $3::jsonb ? 'remoteId' then set_remote_id(coalesce(remote_ids, '[]'), $3::jsonb -> 'remoteId')
    else coalesce(remote_ids, '[]') end
where organization_id = $1 and id = $2
returning leads.document;

-- leads.upsert: $1 integer, $2 jsonb, $3 uuid[], $4 text ($1 is the organization)
with actor as (
  insert into audit_log (organization_id, change, operation, resource)
  select 0, '', '', '' where set_config('lanyard.actor', $4, true) is null
), stored as materialized (select * from leads where (leads.organization_id = $1) is true and id = any($3::uuid[])),
  wanted as materialized (
    select given.id, n, row_number() over (partition by given.id is null order by n) - 1 as nth,
      entry ->> 'createdByEmail' as created_by, entry ->> 'companyName' as company_name, document,
      case when entry ? 'firstName' then entry ->> 'firstName' else first_name end as first_name,
      case when entry ? 'lastName' then entry ->> 'lastName' else last_name end as last_name,
      case when entry ? 'email' then entry ->> 'email' else email end as email,
      case when entry ? 'address' then entry ->> 'address' else address end as address,
      case when entry ? 'linkedin' then entry ->> 'linkedin' else linkedin end as linkedin,
      case when entry ? 'facebook' then entry ->> 'facebook' else facebook end as facebook,
      case when entry ? 'twitter' then entry ->> 'twitter' else twitter end as twitter,
      case when entry ? 'profilePicture' then entry ->> 'profilePicture' else profile_picture end as profile_picture,
      case when entry ? 'description' then entry ->> 'description' else description end as description,
      case when entry ? 'jobTitle' then entry ->> 'jobTitle' else job_title end as job_title,
      case when entry ? 'phoneNumbers' then coalesce(nullif(entry -> 'phoneNumbers', 'null'), '[]') else
        coalesce(lead_provided_phone_numbers, '[]') end as lead_provided_phone_numbers,
      case when entry ? 'remoteId' then set_remote_id(coalesce(remote_ids, '[]'), entry -> 'remoteId') else
        coalesce(remote_ids, '[]') end as remote_ids
    from rows from (jsonb_array_elements($2::jsonb), unnest($3::uuid[])) with ordinality as given (entry, id, n)
      left join stored on stored.id = given.id
  ),
  updated as (
    update leads set first_name = w.first_name, last_name = w.last_name, email = w.email, address = w.address,
      linkedin = w.linkedin, facebook = w.facebook, twitter = w.twitter, profile_picture = w.profile_picture,
      description = w.description, job_title = w.job_title, lead_provided_phone_numbers = w.lead_provided_phone_numbers,
      remote_ids = w.remote_ids
    from wanted w
    where (leads.organization_id = $1) is true and leads.id = any($3) and leads.id = w.id
      and (
        leads.first_name, leads.last_name, leads.email, leads.address, leads.linkedin, leads.facebook, leads.twitter,
          leads.profile_picture, leads.description, leads.job_title, leads.lead_provided_phone_numbers, leads.remote_ids
      ) is distinct from (
        w.first_name, w.last_name, w.email, w.address, w.linkedin, w.facebook, w.twitter, w.profile_picture,
          w.description, w.job_title, w.lead_provided_phone_numbers, w.remote_ids
      )
    returning w.n, leads.document
  ),
  taken as materialized (
    select list_take($1, 'leads', count(*)) as start from wanted where id is null having count(*) > 0
  ),
  created as (
    insert into leads (
      organization_id, position, created_by, company_name, first_name, last_name, email, address, linkedin, facebook,
        twitter, profile_picture, description, job_title, lead_provided_phone_numbers, remote_ids
    )
    select $1, start + nth, created_by, w.company_name, w.first_name, w.last_name, w.email, w.address, w.linkedin,
      w.facebook, w.twitter, w.profile_picture, w.description, w.job_title, w.lead_provided_phone_numbers, w.remote_ids
    from wanted w, taken where id is null order by nth
    returning position, document
  )
select format('{"outcome":"%s","lead":%s}',
  case when c.nth is not null then 'created' when u.n is not null then 'updated' else 'unchanged' end,
  coalesce(c.document, u.document, w.document))
from wanted w left join updated u on u.n = w.n
  left join (select position - start as nth, document from created, taken) c on w.id is null and c.nth = w.nth
order by w.n;

-- Functions

CREATE OR REPLACE FUNCTION public.changes_of_leads()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  if tg_op <> 'UPDATE' then
    insert into changes (organization_id, resource, operation, event_id, id, remote_ids)
    select organization_id, 4, case tg_op when 'INSERT' then 'c' else 'd' end, null::bigint, changed.id,
      case tg_op when 'DELETE' then remote_ids end from changed;
    if tg_op = 'INSERT' then
      perform audit_records(
        'leads', 'created', array_agg(changed.organization_id order by changed.position),
          array_agg(null::bigint order by changed.position), array_agg(changed.id order by changed.position)
      )
      from changed;
    else
      perform set_config('lanyard.deleted_at', statement_timestamp()::text, true);
      execute $sql$
      select audit_records(
        'leads', 'deleted', array_agg(changed.organization_id order by changed.position),
          array_agg(null::bigint order by changed.position), array_agg(changed.id order by changed.position)
      )
      from changed
      where $sql$
        || audit_has_parents(tg_relid);
    end if;
  else
    if old.document is distinct from new.document then
      insert into changes (organization_id, resource, operation, event_id, id, remote_ids) values
        (new.organization_id, 4, 'u', null::bigint, new.id, null);
    end if;
    if not audit_follows_delete(tg_relid) then
      perform audit_records('leads', 'updated', array[new.organization_id], array[null::bigint], array[new.id]);
    end if;
  end if;
  return null;
end $function$;

CREATE OR REPLACE FUNCTION public.email_addresses(list text)
 RETURNS SETOF text
 LANGUAGE sql
 IMMUTABLE PARALLEL SAFE
AS $function$
  select match[1]
  from regexp_matches(
    list,
      '((?:"(?:(?:[^"\\]|\\.)*")?|[^\u0001-\u0020"(),:;<>@\[\\\]\u007f-\u00a0\s]+)@[^\u0001-\u002c/\u003a-\u0040\u005b-\u005e\u0060\u007b-\u00a0\s]*[^.\u0001-\u002c/\u003a-\u0040\u005b-\u005e\u0060\u007b-\u00a0\s])',
      'g'
  ) match
$function$;

CREATE OR REPLACE FUNCTION public.lead_document(lead leads)
 RETURNS text
 LANGUAGE plpgsql
 STABLE
AS $function$
begin
  return (
    select row_to_json(o)::text
    from (
      select lead.id as "id",
        to_char(lead.created_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as "createdAt",
        lead.is_enriched as "isEnriched", lead.first_name as "firstName", lead.last_name as "lastName",
        lead.email as "email", lead.description as "description", lead.linkedin as "linkedin",
        lead.facebook as "facebook", lead.twitter as "twitter", lead.job_title as "jobTitle", lead.address as "address",
        (
          select row_to_json(o)
          from (
            select lead.lead_provided_phone_numbers as "leadProvided",
              lead.service_provided_phone_numbers as "serviceProvided"
          ) o
        ) as "phoneNumbers", (
        select row_to_json(o)
        from (
          select lead.company_name as "name", lead.company_industry as "industry", lead.company_linkedin as "linkedin",
            lead.company_street_address as "streetAddress", lead.company_city as "city", lead.company_state as "state",
            lead.company_zip as "zip", lead.company_country as "country"
        ) o
      ) as "company", lead.number_of_scans as "numberOfScans", lead.last_scanned_by as "lastScannedBy", coalesce(
        (
          select json_agg(row_to_json(o))
          from (
            select a.activation_id as "activationId", a.checked_in as "checkedIn", a.registered as "registered"
            from lead_activations a
            where a.organization_id = lead.organization_id and a.lead_id = lead.id
            order by a.position
          ) o
        ), '[]'
      ) as "activations", coalesce(
        (
          select json_agg(row_to_json(o))
          from (
            select t.tag_option_id as "tagOptionId",
              (select o.value from tag_options o where o.organization_id = t.organization_id and o.id = t.tag_option_id)
              as "value"
            from lead_tags t
            where t.organization_id = lead.organization_id and t.lead_id = lead.id
            order by t.position
          ) o
        ), '[]'
      ) as "tags", coalesce(
        (
          select json_agg(e.id order by e.position)
          from lead_activity_events e
          where e.organization_id = lead.organization_id and e.lead_id = lead.id
        ), '[]'
      ) as "leadActivityEvents", lead.remote_ids as "remoteIds", lead.personal_emails as "personalEmails",
        lead.professional_emails as "professionalEmails"
    ) o
  );
end $function$;

CREATE OR REPLACE FUNCTION public.lead_spelling(value text)
 RETURNS text
 LANGUAGE plpgsql
 IMMUTABLE PARALLEL SAFE
AS $function$
begin
  if octet_length(value) = length(value) then
    return lower(value collate "C");
  end if;
  value :=
    regexp_replace(normalize(value, nfd), '[\u0300-\u036f\u05b0-\u05bc\u05c1\u05c2\u0640\u064b-\u065f\u0670]', '', 'g');
  value := translate(lower(value), 'øłđħŧıς‘’ʼ', 'oldhtiσ''''''');
  return replace(normalize(value), 'ß', 'ss');
end $function$;

CREATE OR REPLACE FUNCTION public.lead_text_patterns(words text[])
 RETURNS text[]
 LANGUAGE sql
 IMMUTABLE PARALLEL SAFE
AS $function$
  select coalesce(array_agg('(^|\s|[\u0001-\u002f\u003a-\u0060\u007b-\u007f'
    '\u0080-\u00a9\u00ab-\u00b4\u00b6-\u00b9\u00bb-\u00bf\u00d7\u00f7\u02c2-\u02c5\u02d2-\u02df'
      '\u02e5-\u02eb\u02ed\u02ef-\u02ff\u0375\u037e\u0384-\u0385\u0387\u03f6\u0482\u055a-\u055f'
      '\u0589-\u058f\u05be\u05c0\u05c3\u05c6\u05f3-\u060f\u061b-\u061f\u066a-\u066d\u06d4\u06dd-\u06de'
      '\u06e9\u06fd-\u06fe\u0700-\u070f\u07f6-\u07f9\u07fe-\u07ff\u0830-\u083e\u085e\u0888\u0890-\u0891'
      '\u08e2\u0964-\u0965\u0970\u0e3f\u0e4f\u0e5a-\u0e5b\u2000-\u2070\u2074-\u207e\u2080-\u208e'
      '\u20a0-\u20c1\u2100-\u2101\u2103-\u2106\u2108-\u2109\u2114\u2116-\u2118\u211e-\u2123\u2125\u2127'
      '\u2129\u212e\u213a-\u213b\u2140-\u2144\u214a-\u214d\u214f-\u2182\u2185-\u2bff\u2ce5-\u2cea'
      '\u2cf9-\u2cff\u2d70\u2e00-\u2e2e\u2e30-\u3004\u3007-\u3029\u3030\u3036-\u303a\u303d-\u303f'
      '\u309b-\u309c\u30a0\u30fb\u3190-\u319f\u31c0-\u31ef\u3200-\u33ff\ufb29\ufbb2-\ufbd2\ufd3e-\ufd4f'
      '\ufd90-\ufd91\ufdc8-\ufdcf\ufdfc-\ufdff\ufe10-\ufe19\ufe30-\ufe6b\ufeff-\uff0f\uff1a-\uff20'
      '\uff3b-\uff40\uff5b-\uff65\uffe0-\ufffd\U0001f000-\U0001faff'
    '](?![\u0001-\u002f\u003a-\u0060\u007b-\u007f'
    '\u0080-\u00a9\u00ab-\u00b4\u00b6-\u00b9\u00bb-\u00bf\u00d7\u00f7\u02c2-\u02c5\u02d2-\u02df'
      '\u02e5-\u02eb\u02ed\u02ef-\u02ff\u0375\u037e\u0384-\u0385\u0387\u03f6\u0482\u055a-\u055f'
      '\u0589-\u058f\u05be\u05c0\u05c3\u05c6\u05f3-\u060f\u061b-\u061f\u066a-\u066d\u06d4\u06dd-\u06de'
      '\u06e9\u06fd-\u06fe\u0700-\u070f\u07f6-\u07f9\u07fe-\u07ff\u0830-\u083e\u085e\u0888\u0890-\u0891'
      '\u08e2\u0964-\u0965\u0970\u0e3f\u0e4f\u0e5a-\u0e5b\u2000-\u2070\u2074-\u207e\u2080-\u208e'
      '\u20a0-\u20c1\u2100-\u2101\u2103-\u2106\u2108-\u2109\u2114\u2116-\u2118\u211e-\u2123\u2125\u2127'
      '\u2129\u212e\u213a-\u213b\u2140-\u2144\u214a-\u214d\u214f-\u2182\u2185-\u2bff\u2ce5-\u2cea'
      '\u2cf9-\u2cff\u2d70\u2e00-\u2e2e\u2e30-\u3004\u3007-\u3029\u3030\u3036-\u303a\u303d-\u303f'
      '\u309b-\u309c\u30a0\u30fb\u3190-\u319f\u31c0-\u31ef\u3200-\u33ff\ufb29\ufbb2-\ufbd2\ufd3e-\ufd4f'
      '\ufd90-\ufd91\ufdc8-\ufdcf\ufdfc-\ufdff\ufe10-\ufe19\ufe30-\ufe6b\ufeff-\uff0f\uff1a-\uff20'
      '\uff3b-\uff40\uff5b-\uff65\uffe0-\ufffd\U0001f000-\U0001faff'
    ']))' || regexp_replace(spelled, '([!-/:-@\[-`{-~])', '\\\1', 'g')), '{}')
  from unnest(words) word cross join lead_spelling(word) spelled
  where lead_word_breaks(spelled, ' ') <> spelled
$function$;

CREATE OR REPLACE FUNCTION public.lead_word_breaks(value text, separator text)
 RETURNS text
 LANGUAGE plpgsql
 IMMUTABLE PARALLEL SAFE
AS $function$
begin
  if octet_length(value) = length(value) then
    return regexp_replace(value, '[^a-z0-9]+', separator, 'g');
  end if;
  return regexp_replace(value, '[\u0001-\u002f\u003a-\u0060\u007b-\u007f'
    '\u0080-\u00a9\u00ab-\u00b4\u00b6-\u00b9\u00bb-\u00bf\u00d7\u00f7\u02c2-\u02c5\u02d2-\u02df'
      '\u02e5-\u02eb\u02ed\u02ef-\u02ff\u0375\u037e\u0384-\u0385\u0387\u03f6\u0482\u055a-\u055f'
      '\u0589-\u058f\u05be\u05c0\u05c3\u05c6\u05f3-\u060f\u061b-\u061f\u066a-\u066d\u06d4\u06dd-\u06de'
      '\u06e9\u06fd-\u06fe\u0700-\u070f\u07f6-\u07f9\u07fe-\u07ff\u0830-\u083e\u085e\u0888\u0890-\u0891'
      '\u08e2\u0964-\u0965\u0970\u0e3f\u0e4f\u0e5a-\u0e5b\u2000-\u2070\u2074-\u207e\u2080-\u208e'
      '\u20a0-\u20c1\u2100-\u2101\u2103-\u2106\u2108-\u2109\u2114\u2116-\u2118\u211e-\u2123\u2125\u2127'
      '\u2129\u212e\u213a-\u213b\u2140-\u2144\u214a-\u214d\u214f-\u2182\u2185-\u2bff\u2ce5-\u2cea'
      '\u2cf9-\u2cff\u2d70\u2e00-\u2e2e\u2e30-\u3004\u3007-\u3029\u3030\u3036-\u303a\u303d-\u303f'
      '\u309b-\u309c\u30a0\u30fb\u3190-\u319f\u31c0-\u31ef\u3200-\u33ff\ufb29\ufbb2-\ufbd2\ufd3e-\ufd4f'
      '\ufd90-\ufd91\ufdc8-\ufdcf\ufdfc-\ufdff\ufe10-\ufe19\ufe30-\ufe6b\ufeff-\uff0f\uff1a-\uff20'
      '\uff3b-\uff40\uff5b-\uff65\uffe0-\ufffd\U0001f000-\U0001faff'
    ']+', separator, 'g');
end $function$;

CREATE OR REPLACE FUNCTION public.remote_id_key(org integer, integration_type text, id text)
 RETURNS text
 LANGUAGE sql
 IMMUTABLE PARALLEL SAFE
AS $function$
  select org::text || ' ' || integration_type || ' ' || case
    when integration_type = 'SALES_FORCE' and id ~ '^[0-9A-Za-z]{15}$'
      then id || substr(
        'ABCDEFGHIJKLMNOPQRSTUVWXYZ012345', 1 + reverse(
          translate(
            substr(id, 1, 5), 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789',
              '11111111111111111111111111000000000000000000000000000000000000'
          )
        )::bit(5)::integer, 1
      ) || substr(
        'ABCDEFGHIJKLMNOPQRSTUVWXYZ012345', 1 + reverse(
          translate(
            substr(id, 6, 5), 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789',
              '11111111111111111111111111000000000000000000000000000000000000'
          )
        )::bit(5)::integer, 1
      ) || substr(
        'ABCDEFGHIJKLMNOPQRSTUVWXYZ012345', 1 + reverse(
          translate(
            substr(id, 11, 5), 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789',
              '11111111111111111111111111000000000000000000000000000000000000'
          )
        )::bit(5)::integer, 1
      )
    else id end
$function$;

CREATE OR REPLACE FUNCTION public.remote_id_keys(org integer, remote_ids jsonb)
 RETURNS text[]
 LANGUAGE sql
 IMMUTABLE PARALLEL SAFE
AS $function$
  -- Not by the function above: an index is built without a search path.
  select array_agg(org::text || ' ' || (value ->> 'integrationType') || ' ' || case
    when (value ->> 'integrationType') = 'SALES_FORCE' and (value ->> 'id') ~ '^[0-9A-Za-z]{15}$'
      then (value ->> 'id') || substr(
        'ABCDEFGHIJKLMNOPQRSTUVWXYZ012345', 1 + reverse(
          translate(
            substr((value ->> 'id'), 1, 5), 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789',
              '11111111111111111111111111000000000000000000000000000000000000'
          )
        )::bit(5)::integer, 1
      ) || substr(
        'ABCDEFGHIJKLMNOPQRSTUVWXYZ012345', 1 + reverse(
          translate(
            substr((value ->> 'id'), 6, 5), 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789',
              '11111111111111111111111111000000000000000000000000000000000000'
          )
        )::bit(5)::integer, 1
      ) || substr(
        'ABCDEFGHIJKLMNOPQRSTUVWXYZ012345', 1 + reverse(
          translate(
            substr((value ->> 'id'), 11, 5), 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789',
              '11111111111111111111111111000000000000000000000000000000000000'
          )
        )::bit(5)::integer, 1
      )
    else (value ->> 'id') end)
  from jsonb_array_elements(remote_ids)
$function$;

CREATE OR REPLACE FUNCTION public.render_lead()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  if tg_op = 'UPDATE' or new.document is null
      or current_setting('lanyard.inserts_derived_columns', true) is distinct from 'on' then
    new.document := lead_document(new);
  end if;
  return new;
end $function$;

CREATE OR REPLACE FUNCTION public.store_lead_words()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
declare
  lead record;
begin
  if tg_op = 'INSERT' then
    insert into lead_words (organization_id, position, words)
    select organization_id, position,
      words_of_lead(changed.organization_id, changed.first_name, changed.last_name, changed.company_name, changed.email)
    from changed
    order by position;
  elsif tg_op = 'DELETE' then
    -- One by one: PostgreSQL, which does not know how many there are, might read the whole table for a join.
    for lead in select organization_id, position from changed order by position loop
      delete from lead_words where organization_id = lead.organization_id and position = lead.position;
    end loop;
  else
    update lead_words set words =
      words_of_lead(new.organization_id, new.first_name, new.last_name, new.company_name, new.email)
    where organization_id = new.organization_id and position = new.position;
  end if;
  return null;
end $function$;

CREATE
  OR REPLACE FUNCTION public.words_of_lead(org integer, first_name text, last_name text, company_name text, email text)
 RETURNS tsvector
 LANGUAGE plpgsql
 IMMUTABLE PARALLEL SAFE
AS $function$
declare
  own constant text := org || ' ';
begin
  return array_to_tsvector(array_remove(
    string_to_array(
      own || lead_word_breaks(
        lead_spelling(
          concat_ws(' ', left(first_name, 255), left(last_name, 255), left(company_name, 255), left(email, 255))
        ), E'\x01' || own
      ), E'\x01'
    ), own));
end $function$;
