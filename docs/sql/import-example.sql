-- What an import of a lead with a tag composes, in the order in which it is sent. npm run sql writes this file.

create temporary table staged_tag_groups as
select null::integer as line, null::integer as record_index, null::integer as entry_index, null::json as row_text,
  t.created_at, t.id, t.name, t.status, t.allows_multiple_selection, t.display_order, t.usage_instructions, t.required,
  t.all_events
from tag_groups t with no data;

create temporary table staged_tag_options as
select null::integer as line, null::integer as record_index, null::integer as entry_index, null::json as row_text, t.id,
  t.tag_group_id, t.display_order, t.value
from tag_options t with no data;

create temporary table staged_leads as
select null::integer as line, null::integer as record_index, null::integer as entry_index, null::json as row_text,
  t.created_at, t.id, t.ref, t.source, t.created_by, t.first_name, t.last_name, t.email, t.description, t.linkedin,
  t.facebook, t.twitter, t.job_title, t.address, t.profile_picture, t.is_enriched, t.number_of_scans, t.last_scanned_by,
  t.personal_emails, t.professional_emails, t.company_name, t.company_industry, t.company_linkedin,
  t.company_street_address, t.company_city, t.company_state, t.company_zip, t.company_country,
  t.lead_provided_phone_numbers, t.service_provided_phone_numbers, t.remote_ids, null::jsonb as read_only
from leads t with no data;

create temporary table staged_lead_tags as
select null::integer as line, null::integer as record_index, null::integer as entry_index, null::json as row_text,
  t.lead_id, t.tag_option_id, t.position
from lead_tags t with no data;

set local default_statistics_target = 10; analyze staged_users, staged_tag_groups, staged_tag_options, staged_events,
  staged_event_tag_groups, staged_event_users, staged_activations, staged_leads, staged_lead_tags,
  staged_lead_activations, staged_event_leads, staged_lead_activity_events, staged_industry_events;

select s.line, s.record_index, s.entry_index, s.id::text as value,
  to_json(coalesce('line ' || s.first_line, 'tagGroups[' || s.first_index || ']')) as details,
  count(*) over ()::integer as count
  from (
  select s.*, row_number() over w as nth, first_value(record_index) over w as first_index,
    first_value(line) over w as first_line
  from staged_tag_groups s where s.id in (select s.id from staged_tag_groups s group by 1 having count(*) > 1)
  window w as (partition by s.id order by record_index, entry_index)
) s where s.nth > 1 order by s.record_index, s.entry_index limit 20;

select s.line, s.record_index, s.entry_index, s.id::text as value, count(*) over ()::integer as count
from staged_tag_groups s join tag_groups t on t.id = s.id
where t.organization_id <> $1
order by s.record_index, s.entry_index
limit 20;

select s.line, s.record_index, s.entry_index, s.id::text as value,
  to_json(coalesce('line ' || s.first_line, 'tagGroups[' || s.first_index || ']')) as details,
  count(*) over ()::integer as count
  from (
  select s.*, row_number() over w as nth, first_value(record_index) over w as first_index,
    first_value(line) over w as first_line
  from staged_tag_options s where s.id in (select s.id from staged_tag_options s group by 1 having count(*) > 1)
  window w as (partition by s.id order by record_index, entry_index)
) s where s.nth > 1 order by s.record_index, s.entry_index limit 20;

select s.line, s.record_index, s.entry_index, s.id::text as value, count(*) over ()::integer as count
from staged_tag_options s join tag_options t on t.id = s.id
where t.organization_id <> $1
order by s.record_index, s.entry_index
limit 20;

select s.line, s.record_index, s.entry_index, s.id::text as value,
  to_json(coalesce('line ' || s.first_line, 'leads[' || s.first_index || ']')) as details,
  count(*) over ()::integer as count
  from (
  select s.*, row_number() over w as nth, first_value(record_index) over w as first_index,
    first_value(line) over w as first_line
  from staged_leads s where s.id in (select s.id from staged_leads s group by 1 having count(*) > 1)
  window w as (partition by s.id order by record_index, entry_index)
) s where s.nth > 1 order by s.record_index, s.entry_index limit 20;

select s.line, s.record_index, s.entry_index, s.id::text as value, count(*) over ()::integer as count
from staged_leads s join leads t on t.id = s.id
where t.organization_id <> $1
order by s.record_index, s.entry_index
limit 20;

select s.line, s.record_index, s.entry_index, s.tag_option_id::text as value, count(*) over ()::integer as count
  from staged_lead_tags s where s.tag_option_id is not null and not exists (
  select
  from tag_options t
  where t.organization_id = $1
    and t.id = s.tag_option_id
    and not exists (select from staged_tag_groups o where o.id = t.tag_group_id)
) and not exists (select from staged_tag_options r where r.id = s.tag_option_id)
order by s.record_index, s.entry_index
limit 20;

create temporary table before_tag_groups on commit drop as
      select t.id as key, md5(
        (
          select row_to_json(r)::text
          from (
            select t.id as "id", t.name as "name", t.status as "status",
              t.allows_multiple_selection as "allowsMultipleSelection", t.display_order as "displayOrder",
              t.usage_instructions as "usageInstructions", t.required as "required", t.all_events as "allEvents",
              coalesce(
                (
                  select json_agg(
                    (
                      select row_to_json(o)
                      from (select c.id as "id", c.display_order as "displayOrder", c.value as "value") o
                    )
                    order by c.display_order, c.id
                  )
                  from tag_options c
                  where c.organization_id = t.organization_id and c.tag_group_id = t.id
                ), '[]'
              ) as "tagOptions", iso_utc(t.created_at) as "createdAt"
          ) r
        )
      ) as state
      from tag_groups t
      where t.organization_id = $1 and (t.id in (select id from staged_tag_groups));

create temporary table before_leads on commit drop as
        select t.id as key, md5(t.document || coalesce((
  select json_agg(row(e.event_id, e.registered, e.checked_in) order by e.event_id)::text
  from event_leads e where e.organization_id = t.organization_id and e.lead_id = t.id
), '')) as state from leads t where t.organization_id = $1 and (t.id in (select id from staged_leads));

update tag_groups t set created_at = coalesce(s.created_at, t.created_at), name = s.name, status = s.status,
  allows_multiple_selection = s.allows_multiple_selection, display_order = s.display_order,
  usage_instructions = s.usage_instructions, required = s.required, all_events = s.all_events
from (
  select s.line, s.record_index, s.entry_index, s.created_at, s.id, s.name, s.status, s.allows_multiple_selection,
    s.display_order, s.usage_instructions, s.required, s.all_events
  from staged_tag_groups s
) s
where t.organization_id = $1 and t.id = s.id
  and (
    t.created_at, t.name, t.status, t.allows_multiple_selection, t.display_order, t.usage_instructions, t.required,
      t.all_events
  ) is distinct from (
    coalesce(s.created_at, t.created_at), s.name, s.status, s.allows_multiple_selection, s.display_order,
      s.usage_instructions, s.required, s.all_events
  );

with fresh as materialized (
  select s.*, 0::bigint as parent,
    row_number() over (partition by 0::bigint order by s.record_index, s.entry_index) - 1 as n
  from (
    select s.line, s.record_index, s.entry_index, s.created_at, s.id, s.name, s.status, s.allows_multiple_selection,
      s.display_order, s.usage_instructions, s.required, s.all_events
    from staged_tag_groups s
  ) s
  where not exists ( select from tag_groups t where t.organization_id = $1 and t.id = s.id )
), allocated as materialized (
  select parent, list_take($1, 'tag_groups', count(*)) as start, count(*) as reserved
  from fresh
  group by parent
  order by parent
) insert into tag_groups (
  organization_id, position, created_at, id, name, status, allows_multiple_selection, display_order, usage_instructions,
    required, all_events
)
select $1::integer as organization_id, start + n as position, coalesce(created_at, now())::timestamptz(3) as created_at,
  id as id, name as name, status as status, allows_multiple_selection as allows_multiple_selection,
  display_order as display_order, usage_instructions as usage_instructions, required as required,
  all_events as all_events
from fresh join allocated using (parent) order by parent, n;

delete from tag_options t using tag_groups o
where t.organization_id = $1 and o.organization_id = $1 and o.id = t.tag_group_id
  and o.id in (select id from staged_tag_groups)
  and not exists (
    select
    from (
      select s.line, s.record_index, s.entry_index, s.id, s.tag_group_id, s.display_order, s.value
      from staged_tag_options s
    ) s
    where s.id = t.id
  );

update tag_options t set tag_group_id = s.tag_group_id, display_order = s.display_order, value = s.value
from (
  select s.line, s.record_index, s.entry_index, s.id, s.tag_group_id, s.display_order, s.value
  from staged_tag_options s
) s
where t.organization_id = $1 and t.id = s.id
  and (t.tag_group_id, t.display_order, t.value) is distinct from (s.tag_group_id, s.display_order, s.value);

insert into tag_options (organization_id, id, tag_group_id, display_order, value)
select $1, id, tag_group_id, display_order, value
from (
  select s.line, s.record_index, s.entry_index, s.id, s.tag_group_id, s.display_order, s.value
  from staged_tag_options s
) s
where not exists ( select from tag_options t where t.organization_id = $1 and t.id = s.id )
order by record_index, entry_index;

delete from lead_tags t using leads o
where t.organization_id = $1 and o.organization_id = $1 and o.id = t.lead_id
  and o.id in (select id from staged_leads)
  and not exists (
    select
    from (select s.line, s.record_index, s.entry_index, s.lead_id, s.tag_option_id, s.position from staged_lead_tags s )
      s
    where s.lead_id = t.lead_id and s.tag_option_id = t.tag_option_id
  );

update lead_tags t set position = s.position
from (select s.line, s.record_index, s.entry_index, s.lead_id, s.tag_option_id, s.position from staged_lead_tags s ) s
where t.organization_id = $1 and t.lead_id = s.lead_id and t.tag_option_id = s.tag_option_id
  and (t.position) is distinct from (s.position);

insert into lead_tags (organization_id, lead_id, tag_option_id, position)
select $1, lead_id, tag_option_id, position
from (select s.line, s.record_index, s.entry_index, s.lead_id, s.tag_option_id, s.position from staged_lead_tags s ) s
where not exists (
   select from lead_tags t where t.organization_id = $1 and t.lead_id = s.lead_id and t.tag_option_id = s.tag_option_id 
)
order by record_index, entry_index;

delete from lead_activations t using leads o
where t.organization_id = $1 and o.organization_id = $1 and o.id = t.lead_id
  and o.id in (select id from staged_leads)
  and not exists (
    select
    from (
      select s.line, s.record_index, s.entry_index, s.lead_id, s.activation_id, s.position, s.registered, s.checked_in
      from staged_lead_activations s
    ) s
    where s.lead_id = t.lead_id and s.activation_id = t.activation_id
  );

update leads t set created_at = coalesce(s.created_at, t.created_at), ref = s.ref, source = s.source,
  created_by = s.created_by, first_name = s.first_name, last_name = s.last_name, email = s.email,
  description = s.description, linkedin = s.linkedin, facebook = s.facebook, twitter = s.twitter,
  job_title = s.job_title, address = s.address, profile_picture = s.profile_picture, is_enriched = s.is_enriched,
  number_of_scans = s.number_of_scans, last_scanned_by = s.last_scanned_by, personal_emails = s.personal_emails,
  professional_emails = s.professional_emails, company_name = s.company_name, company_industry = s.company_industry,
  company_linkedin = s.company_linkedin, company_street_address = s.company_street_address,
  company_city = s.company_city, company_state = s.company_state, company_zip = s.company_zip,
  company_country = s.company_country, lead_provided_phone_numbers = s.lead_provided_phone_numbers,
  service_provided_phone_numbers = s.service_provided_phone_numbers, remote_ids = s.remote_ids
from (
  select s.line, s.record_index, s.entry_index, s.created_at, s.id, s.ref, s.source, s.created_by, s.first_name,
    s.last_name, s.email, s.description, s.linkedin, s.facebook, s.twitter, s.job_title, s.address, s.profile_picture,
    s.is_enriched, s.number_of_scans, s.last_scanned_by, s.personal_emails, s.professional_emails, s.company_name,
    s.company_industry, s.company_linkedin, s.company_street_address, s.company_city, s.company_state, s.company_zip,
    s.company_country, s.lead_provided_phone_numbers, s.service_provided_phone_numbers, s.remote_ids
  from staged_leads s
) s
where t.organization_id = $1 and t.id = s.id
  and (
    t.created_at, t.ref, t.source, t.created_by, t.first_name, t.last_name, t.email, t.description, t.linkedin,
      t.facebook, t.twitter, t.job_title, t.address, t.profile_picture, t.is_enriched, t.number_of_scans,
      t.last_scanned_by, t.personal_emails, t.professional_emails, t.company_name, t.company_industry,
      t.company_linkedin, t.company_street_address, t.company_city, t.company_state, t.company_zip, t.company_country,
      t.lead_provided_phone_numbers, t.service_provided_phone_numbers, t.remote_ids
  ) is distinct from (
    coalesce(s.created_at, t.created_at), s.ref, s.source, s.created_by, s.first_name, s.last_name, s.email,
      s.description, s.linkedin, s.facebook, s.twitter, s.job_title, s.address, s.profile_picture, s.is_enriched,
      s.number_of_scans, s.last_scanned_by, s.personal_emails, s.professional_emails, s.company_name,
      s.company_industry, s.company_linkedin, s.company_street_address, s.company_city, s.company_state, s.company_zip,
      s.company_country, s.lead_provided_phone_numbers, s.service_provided_phone_numbers, s.remote_ids
  );

with fresh as materialized (
  select s.*, 0::bigint as parent,
    row_number() over (partition by 0::bigint order by s.record_index, s.entry_index) - 1 as n
  from (
    select s.line, s.record_index, s.entry_index, s.created_at, s.id, s.ref, s.source, s.created_by, s.first_name,
      s.last_name, s.email, s.description, s.linkedin, s.facebook, s.twitter, s.job_title, s.address, s.profile_picture,
      s.is_enriched, s.number_of_scans, s.last_scanned_by, s.personal_emails, s.professional_emails, s.company_name,
      s.company_industry, s.company_linkedin, s.company_street_address, s.company_city, s.company_state, s.company_zip,
      s.company_country, s.lead_provided_phone_numbers, s.service_provided_phone_numbers, s.remote_ids
    from staged_leads s
  ) s
  where not exists ( select from leads t where t.organization_id = $1 and t.id = s.id )
), allocated as materialized (
  select parent, list_take($1, 'leads', count(*)) as start, count(*) as reserved
  from fresh
  group by parent
  order by parent
) insert into leads (
  organization_id, position, created_at, id, ref, source, created_by, first_name, last_name, email, description,
    linkedin, facebook, twitter, job_title, address, profile_picture, is_enriched, number_of_scans, last_scanned_by,
    personal_emails, professional_emails, company_name, company_industry, company_linkedin, company_street_address,
    company_city, company_state, company_zip, company_country, lead_provided_phone_numbers,
    service_provided_phone_numbers, remote_ids, document
)
select lead.*, (
  select row_to_json(o)::text
  from (
    select lead.id as "id", to_char(lead.created_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as "createdAt",
      lead.is_enriched as "isEnriched", lead.first_name as "firstName", lead.last_name as "lastName",
      lead.email as "email", lead.description as "description", lead.linkedin as "linkedin",
      lead.facebook as "facebook", lead.twitter as "twitter", lead.job_title as "jobTitle", lead.address as "address", (
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
)
from
  (select $1::integer as organization_id, start + n as position, coalesce(created_at, now())::timestamptz(3) as created_at, id as id, ref as ref, source as source, created_by as created_by, first_name as first_name, last_name as last_name, email as email, description as description, linkedin as linkedin, facebook as facebook, twitter as twitter, job_title as job_title, address as address, profile_picture as profile_picture, coalesce(is_enriched, 'false'::boolean) as is_enriched, coalesce(number_of_scans, '0'::integer) as number_of_scans, last_scanned_by as last_scanned_by, personal_emails as personal_emails, professional_emails as professional_emails, company_name as company_name, company_industry as company_industry, company_linkedin as company_linkedin, company_street_address as company_street_address, company_city as company_city, company_state as company_state, company_zip as company_zip, company_country as company_country, coalesce(lead_provided_phone_numbers, '[]'::jsonb) as lead_provided_phone_numbers, coalesce(service_provided_phone_numbers, '[]'::jsonb) as service_provided_phone_numbers, coalesce(remote_ids, '[]'::jsonb) as remote_ids
from fresh join allocated using (parent) order by parent, n) lead;

select s.line, s.record_index, s.entry_index, null::text as value, count(*) over ()::integer as count
from staged_leads s
join leads t on t.organization_id = $1 and t.id = s.id
where s.read_only is not null and not t.document::jsonb @> s.read_only order by s.record_index, s.entry_index limit 20;
