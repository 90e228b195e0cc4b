-- The SQL that src/contexts/lead-activity-events composes, as PostgreSQL gets it. npm run sql writes this file.

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
          and (position) >= (
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
          and (position) >= (
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
          and (position) >= (
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
          and (position) >= (
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
    if tg_op = 'INSERT' then
      perform audit_records(
        'leadActivityEvents', 'created', array_agg(changed.organization_id order by changed.position),
          array_agg(null::bigint order by changed.position), array_agg(changed.id order by changed.position)
      )
      from changed;
    else
      perform set_config('lanyard.deleted_at', statement_timestamp()::text, true);
      execute $sql$
      select audit_records(
        'leadActivityEvents', 'deleted', array_agg(changed.organization_id order by changed.position),
          array_agg(null::bigint order by changed.position), array_agg(changed.id order by changed.position)
      )
      from changed
      where $sql$
        || audit_has_parents(tg_relid);
    end if;
  else
    if (
      select (
        select row_to_json(o)::text
        from (
          select id, iso_utc(created_at) as "createdAt", created_by as "createdBy", event_type as "eventType",
            event_notes as "eventNotes", lead_id as "associatedLead", campaign_id as "associatedCampaign",
            event_id as "associatedEvent", activation_id as "associatedActivation",
            tag_option_id as "associatedTagOption"
        ) o
      )
      from (select old.*) lead_activity_events
    ) is distinct from (
      select (
        select row_to_json(o)::text
        from (
          select id, iso_utc(created_at) as "createdAt", created_by as "createdBy", event_type as "eventType",
            event_notes as "eventNotes", lead_id as "associatedLead", campaign_id as "associatedCampaign",
            event_id as "associatedEvent", activation_id as "associatedActivation",
            tag_option_id as "associatedTagOption"
        ) o
      )
      from (select new.*) lead_activity_events
    ) then
      insert into changes (organization_id, resource, operation, event_id, id, remote_ids) values
        (new.organization_id, 6, 'u', null::bigint, new.id, null);
    end if;
    if not audit_follows_delete(tg_relid) then
      perform
        audit_records('leadActivityEvents', 'updated', array[new.organization_id], array[null::bigint], array[new.id]);
    end if;
  end if;
  return null;
end $function$;
