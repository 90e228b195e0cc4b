-- The SQL that src/lead-activity-events composes, as PostgreSQL gets it. npm run sql writes this file.

-- Prepared statements

-- leadActivityEvent.get: $1 integer, $2 uuid ($1 is the organization)
select (
  select row_to_json(o)::text
  from (
    select id, iso_utc(created_at) as "createdAt", created_by as "createdBy", event_type as "eventType",
      event_notes as "eventNotes", lead_id as "associatedLead", campaign_id as "associatedCampaign",
      event_id as "associatedEvent", activation_id as "associatedActivation", tag_option_id as "associatedTagOption"
  ) o
)
from lead_activity_events
where organization_id = $1 and id = $2;

-- leadActivityEvents.byLead first page: $1 integer, $2 uuid, $3 bigint ($1 is the organization)
select page.json, counted.total
from (select count(*) as total from lead_activity_events where organization_id = $1 and lead_id = $2) counted
  left join lateral (
    select (
      select row_to_json(o)::text
      from (
        select id, iso_utc(created_at) as "createdAt", created_by as "createdBy", event_type as "eventType",
          event_notes as "eventNotes", lead_id as "associatedLead", campaign_id as "associatedCampaign",
          event_id as "associatedEvent", activation_id as "associatedActivation", tag_option_id as "associatedTagOption"
      ) o
    ) as json, position
    from (
      select *
      from (select * from lead_activity_events where organization_id = $1 and lead_id = $2 order by position limit 50)
        lead_activity_events
      order by position
      limit $3::bigint
    ) lead_activity_events
  ) page on true
order by page.position;

-- leadActivityEvents.byLead page: $1 integer, $2 uuid, $3 bigint, $4 bigint ($1 is the organization)
select page.json, counted.total
from (select count(*) as total from lead_activity_events where organization_id = $1 and lead_id = $2) counted
  left join lateral (
    select (
      select row_to_json(o)::text
      from (
        select id, iso_utc(created_at) as "createdAt", created_by as "createdBy", event_type as "eventType",
          event_notes as "eventNotes", lead_id as "associatedLead", campaign_id as "associatedCampaign",
          event_id as "associatedEvent", activation_id as "associatedActivation", tag_option_id as "associatedTagOption"
      ) o
    ) as json, position
    from (
      select *
      from (
        select *
        from lead_activity_events
        where organization_id = $1
          and lead_id = $2
          and position >= (
            select position
            from lead_activity_events
            where organization_id = $1 and lead_id = $2
            order by position
            limit 1 offset $4::bigint * $3::bigint
          )
        order by position
        limit 50
      ) lead_activity_events
      order by position
      limit $3::bigint
    ) lead_activity_events
  ) page on true
order by page.position;

-- leadActivityEvents.byLeadAndType first page: $1 integer, $2 uuid, $3 text, $4 bigint ($1 is the organization)
select page.json, counted.total
from
  (select count(*) as total from lead_activity_events where organization_id = $1 and lead_id = $2 and event_type = $3)
  counted
  left join lateral (
    select (
      select row_to_json(o)::text
      from (
        select id, iso_utc(created_at) as "createdAt", created_by as "createdBy", event_type as "eventType",
          event_notes as "eventNotes", lead_id as "associatedLead", campaign_id as "associatedCampaign",
          event_id as "associatedEvent", activation_id as "associatedActivation", tag_option_id as "associatedTagOption"
      ) o
    ) as json, position
    from (
      select *
      from (
        select *
        from lead_activity_events
        where organization_id = $1 and lead_id = $2 and event_type = $3
        order by position
        limit 50
      ) lead_activity_events
      order by position
      limit $4::bigint
    ) lead_activity_events
  ) page on true
order by page.position;

-- leadActivityEvents.byLeadAndType page: $1 integer, $2 uuid, $3 text, $4 bigint, $5 bigint ($1 is the organization)
select page.json, counted.total
from
  (select count(*) as total from lead_activity_events where organization_id = $1 and lead_id = $2 and event_type = $3)
  counted
  left join lateral (
    select (
      select row_to_json(o)::text
      from (
        select id, iso_utc(created_at) as "createdAt", created_by as "createdBy", event_type as "eventType",
          event_notes as "eventNotes", lead_id as "associatedLead", campaign_id as "associatedCampaign",
          event_id as "associatedEvent", activation_id as "associatedActivation", tag_option_id as "associatedTagOption"
      ) o
    ) as json, position
    from (
      select *
      from (
        select *
        from lead_activity_events
        where organization_id = $1
          and lead_id = $2
          and event_type = $3
          and position >= (
            select position
            from lead_activity_events
            where organization_id = $1 and lead_id = $2 and event_type = $3
            order by position
            limit 1 offset $5::bigint * $4::bigint
          )
        order by position
        limit 50
      ) lead_activity_events
      order by position
      limit $4::bigint
    ) lead_activity_events
  ) page on true
order by page.position;

-- leadActivityEvents.byType first page: $1 integer, $2 text, $3 bigint ($1 is the organization)
select page.json, counted.total
from (select count(*) as total from lead_activity_events where organization_id = $1 and event_type = $2) counted
  left join lateral (
    select (
      select row_to_json(o)::text
      from (
        select id, iso_utc(created_at) as "createdAt", created_by as "createdBy", event_type as "eventType",
          event_notes as "eventNotes", lead_id as "associatedLead", campaign_id as "associatedCampaign",
          event_id as "associatedEvent", activation_id as "associatedActivation", tag_option_id as "associatedTagOption"
      ) o
    ) as json, position
    from (
      select *
      from
        (select * from lead_activity_events where organization_id = $1 and event_type = $2 order by position limit 50)
        lead_activity_events
      order by position
      limit $3::bigint
    ) lead_activity_events
  ) page on true
order by page.position;

-- leadActivityEvents.byType page: $1 integer, $2 text, $3 bigint, $4 bigint ($1 is the organization)
select page.json, counted.total
from (select count(*) as total from lead_activity_events where organization_id = $1 and event_type = $2) counted
  left join lateral (
    select (
      select row_to_json(o)::text
      from (
        select id, iso_utc(created_at) as "createdAt", created_by as "createdBy", event_type as "eventType",
          event_notes as "eventNotes", lead_id as "associatedLead", campaign_id as "associatedCampaign",
          event_id as "associatedEvent", activation_id as "associatedActivation", tag_option_id as "associatedTagOption"
      ) o
    ) as json, position
    from (
      select *
      from (
        select *
        from lead_activity_events
        where organization_id = $1
          and event_type = $2
          and position >= (
            select position
            from lead_activity_events
            where organization_id = $1 and event_type = $2
            order by position
            limit 1 offset $4::bigint * $3::bigint
          )
        order by position
        limit 50
      ) lead_activity_events
      order by position
      limit $3::bigint
    ) lead_activity_events
  ) page on true
order by page.position;

-- lead_activity_events first page: $1 integer, $2 bigint ($1 is the organization)
select page.json, counted.total
from (select coalesce((select rows from list_counts
  where (organization_id, list, shift, bucket) = ($1, 'lead_activity_events', 40, 0)), 0) as total ) counted
  left join lateral (
    select (
      select row_to_json(o)::text
      from (
        select id, iso_utc(created_at) as "createdAt", created_by as "createdBy", event_type as "eventType",
          event_notes as "eventNotes", lead_id as "associatedLead", campaign_id as "associatedCampaign",
          event_id as "associatedEvent", activation_id as "associatedActivation", tag_option_id as "associatedTagOption"
      ) o
    ) as json, position
    from (
      select *
      from (select * from lead_activity_events where organization_id = $1 order by position limit 50)
        lead_activity_events
      order by position
      limit $2::bigint
    ) lead_activity_events
  ) page on true
order by page.position;

-- lead_activity_events page: $1 integer, $2 bigint, $3 bigint ($1 is the organization)
select page.json, counted.total
from (select coalesce((select rows from list_counts
  where (organization_id, list, shift, bucket) = ($1, 'lead_activity_events', 40, 0)), 0) as total ) counted
    cross join list_seek($1, 'lead_activity_events', $3::bigint * $2::bigint) seek
  left join lateral (
    select (
      select row_to_json(o)::text
      from (
        select id, iso_utc(created_at) as "createdAt", created_by as "createdBy", event_type as "eventType",
          event_notes as "eventNotes", lead_id as "associatedLead", campaign_id as "associatedCampaign",
          event_id as "associatedEvent", activation_id as "associatedActivation", tag_option_id as "associatedTagOption"
      ) o
    ) as json, position
    from (
      select *
      from (
        select *
        from lead_activity_events
        where organization_id = $1
          and position >= (
            select position
            from lead_activity_events
            where organization_id = $1 and position >= seek.start
            order by position
            limit 1 offset seek.rest
          )
        order by position
        limit 50
      ) lead_activity_events
      order by position
      limit $2::bigint
    ) lead_activity_events
  ) page on true
order by page.position;

-- Functions

CREATE OR REPLACE FUNCTION public.changes_of_lead_activity_events()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  if tg_op <> 'UPDATE' then
    insert into changes (organization_id, resource, operation, event_id, id, remote_ids)
    select organization_id, 6, case tg_op when 'INSERT' then 'c' else 'd' end, null::bigint, changed.id,
      null from changed;
  elsif (
    select (
      select row_to_json(o)::text
      from (
        select id, iso_utc(created_at) as "createdAt", created_by as "createdBy", event_type as "eventType",
          event_notes as "eventNotes", lead_id as "associatedLead", campaign_id as "associatedCampaign",
          event_id as "associatedEvent", activation_id as "associatedActivation", tag_option_id as "associatedTagOption"
      ) o
    )
    from (select old.*) lead_activity_events
  ) is distinct from (
    select (
      select row_to_json(o)::text
      from (
        select id, iso_utc(created_at) as "createdAt", created_by as "createdBy", event_type as "eventType",
          event_notes as "eventNotes", lead_id as "associatedLead", campaign_id as "associatedCampaign",
          event_id as "associatedEvent", activation_id as "associatedActivation", tag_option_id as "associatedTagOption"
      ) o
    )
    from (select new.*) lead_activity_events
  ) then
    insert into changes (organization_id, resource, operation, event_id, id, remote_ids) values
      (new.organization_id, 6, 'u', null::bigint, new.id, null);
  end if;
  return null;
end $function$;

-- Triggers on its tables, in the order in which they fire

CREATE TRIGGER t00_fixed BEFORE UPDATE OF "position", organization_id ON public.lead_activity_events FOR EACH ROW WHEN
  (((old."position" IS DISTINCT FROM new."position") OR (old.organization_id IS DISTINCT FROM new.organization_id)))
  EXECUTE FUNCTION refuse();
CREATE TRIGGER t00_no_truncate BEFORE TRUNCATE ON public.lead_activity_events FOR EACH STATEMENT EXECUTE FUNCTION
  refuse();
CREATE TRIGGER t10_position BEFORE INSERT ON public.lead_activity_events FOR EACH ROW WHEN ((new."position" IS NULL))
  EXECUTE FUNCTION list_position('lead_activity_events', '', '');
CREATE TRIGGER t50_render_deleted AFTER DELETE ON public.lead_activity_events REFERENCING OLD TABLE AS changed FOR EACH
  STATEMENT EXECUTE FUNCTION render_leads();
CREATE TRIGGER t50_render_inserted AFTER INSERT ON public.lead_activity_events REFERENCING NEW TABLE AS changed FOR EACH
  STATEMENT EXECUTE FUNCTION render_leads();
CREATE TRIGGER t50_render_updated AFTER UPDATE ON public.lead_activity_events FOR EACH ROW WHEN
  (((old.lead_id IS DISTINCT FROM new.lead_id) OR (old.id IS DISTINCT FROM new.id))) EXECUTE FUNCTION render_leads();
CREATE TRIGGER t60_change_deleted AFTER DELETE ON public.lead_activity_events REFERENCING OLD TABLE AS changed FOR EACH
  STATEMENT EXECUTE FUNCTION changes_of_lead_activity_events();
CREATE TRIGGER t60_change_inserted AFTER INSERT ON public.lead_activity_events REFERENCING NEW TABLE AS changed FOR EACH
  STATEMENT EXECUTE FUNCTION changes_of_lead_activity_events();
CREATE TRIGGER t60_change_updated AFTER UPDATE ON public.lead_activity_events FOR EACH ROW WHEN
  ((old.* IS DISTINCT FROM new.*)) EXECUTE FUNCTION changes_of_lead_activity_events();
CREATE TRIGGER t80_count_deleted AFTER DELETE ON public.lead_activity_events REFERENCING OLD TABLE AS changed FOR EACH
  STATEMENT EXECUTE FUNCTION list_count('lead_activity_events', '', '');
CREATE TRIGGER t80_count_inserted AFTER INSERT ON public.lead_activity_events REFERENCING NEW TABLE AS changed FOR EACH
  STATEMENT EXECUTE FUNCTION list_count('lead_activity_events', '', '');
