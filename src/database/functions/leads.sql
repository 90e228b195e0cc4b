-- The JSON of a lead, stored beside it (docs/decisions/0009). Whatever changes what it shows renders it again, in the same
-- transaction.

-- The JSON of a lead as the API shows it: the one place that renders it.
create or replace function lead_document(lead leads) returns text language plpgsql stable as $$
begin
  return (select row_to_json(r)::text from (
    select lead.id, to_char(lead.created_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as "createdAt",
      lead.is_enriched as "isEnriched", lead.first_name as "firstName", lead.last_name as "lastName", lead.email,
      lead.description, lead.linkedin, lead.facebook, lead.twitter, lead.job_title as "jobTitle", lead.address,
      (select row_to_json(o) from (select lead.lead_provided_phone_numbers as "leadProvided",
        lead.service_provided_phone_numbers as "serviceProvided") o) as "phoneNumbers",
      (select row_to_json(o) from (select lead.company_name as name, lead.company_industry as industry,
        lead.company_linkedin as linkedin, lead.company_street_address as "streetAddress",
        lead.company_city as city, lead.company_state as state, lead.company_zip as zip,
        lead.company_country as country) o) as company,
      lead.number_of_scans as "numberOfScans", lead.last_scanned_by as "lastScannedBy",
      coalesce((select json_agg(row_to_json(o)) from (
        select a.activation_id as "activationId", a.checked_in as "checkedIn", a.registered
        from lead_activations a where a.organization_id = lead.organization_id and a.lead_id = lead.id
        order by a.position) o), '[]'::json) as activations,
      coalesce((select json_agg(row_to_json(o)) from (
        select t.tag_option_id as "tagOptionId", (select o.value from tag_options o
          where o.organization_id = t.organization_id and o.id = t.tag_option_id) as value
        from lead_tags t where t.organization_id = lead.organization_id and t.lead_id = lead.id
        order by t.position) o), '[]'::json) as tags,
      coalesce((select json_agg(e.id order by e.position) from lead_activity_events e
        where e.organization_id = lead.organization_id and e.lead_id = lead.id), '[]'::json) as "leadActivityEvents",
      lead.remote_ids as "remoteIds", lead.personal_emails as "personalEmails",
      lead.professional_emails as "professionalEmails"
  ) r);
end $$;

-- Before insert or update of leads, for each row.
create or replace function render_lead() returns trigger language plpgsql as $$
begin
  new.document := lead_document(new);
  return new;
end $$;

-- After a change of what leads show, for each row that is updated, and for each statement that inserts or deletes. Leads
-- are rendered one by one in the order of their ids, so that two changes do not deadlock.
create or replace function render_leads() returns trigger language plpgsql as $$
declare
  leads_changed uuid[];
  options uuid[];
  lead uuid;
begin
  if tg_table_name = 'tag_options' then
    leads_changed := array(select lead_id from lead_tags
      where organization_id = new.organization_id and tag_option_id = new.id);
  elsif tg_op = 'UPDATE' then
    leads_changed := array[old.lead_id, new.lead_id];
  else
    leads_changed := array(select distinct lead_id from changed);
  end if;
  -- A concurrent rename of one of these tags waits, and then finds its leads.
  if tg_table_name = 'lead_tags' and tg_op = 'UPDATE' then
    options := array[new.tag_option_id];
  elsif tg_table_name = 'lead_tags' and tg_op = 'INSERT' then
    options := array(select distinct tag_option_id from changed);
  end if;
  perform from tag_options o where o.id = any(options) order by o.id for share;
  -- An import writes what leads show before the leads themselves: then there is nothing to render yet.
  for lead in select l.id from leads l where l.id = any(leads_changed) order by l.id loop
    update leads set document = '' where id = lead; -- render_lead() sets it
  end loop;
  return null;
end $$;

create trigger t20_render before insert or update on leads for each row execute function render_lead();

create trigger t50_render_updated after update on tag_options for each row
  when (old.value is distinct from new.value) execute function render_leads();

create trigger t50_render_inserted after insert on lead_tags referencing new table as changed
  for each statement execute function render_leads();
create trigger t50_render_deleted after delete on lead_tags referencing old table as changed
  for each statement execute function render_leads();
create trigger t50_render_updated after update on lead_tags for each row
  when ((old.lead_id, old.tag_option_id, old.position) is distinct from (new.lead_id, new.tag_option_id, new.position))
  execute function render_leads();

create trigger t50_render_inserted after insert on lead_activations referencing new table as changed
  for each statement execute function render_leads();
create trigger t50_render_deleted after delete on lead_activations referencing old table as changed
  for each statement execute function render_leads();
create trigger t50_render_updated after update on lead_activations for each row
  when (row(old.*) is distinct from row(new.*)) execute function render_leads();

create trigger t50_render_inserted after insert on lead_activity_events referencing new table as changed
  for each statement execute function render_leads();
create trigger t50_render_deleted after delete on lead_activity_events referencing old table as changed
  for each statement execute function render_leads();
create trigger t50_render_updated after update on lead_activity_events for each row
  when ((old.lead_id, old.id) is distinct from (new.lead_id, new.id)) execute function render_leads();

create trigger t00_no_truncate before truncate on tag_options execute function refuse();
create trigger t00_no_truncate before truncate on lead_tags execute function refuse();
create trigger t00_no_truncate before truncate on lead_activations execute function refuse();

-- Remote ids with the one of an integration type replaced where it stands, appended, or (id null) removed.
create or replace function set_remote_id(all_ids jsonb, changed jsonb) returns jsonb language sql immutable as $$
  select coalesce(jsonb_agg(value order by n), '[]') from (
    select n, case when value -> 'integrationType' = changed -> 'integrationType'
      then changed else value end as value from jsonb_array_elements(all_ids) with ordinality e (value, n)
    union all
    select null, changed
      where not all_ids @> jsonb_build_array(jsonb_build_object('integrationType', changed -> 'integrationType'))
  ) ids
  where value ->> 'id' is not null
$$;
