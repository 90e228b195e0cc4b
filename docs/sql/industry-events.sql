-- The SQL that src/contexts/industry-events composes, as PostgreSQL gets it. npm run sql writes this file.

-- Prepared statements

-- industryEvent.create: $1 jsonb, $2 text
with actor as (
  insert into audit_log (organization_id, change, operation, resource)
  select 0, '', '', '' where set_config('lanyard.actor', $2, true) is null
)
insert into industry_events (
  start_date, end_date, source_type, source_id, event_type, venue_city, venue_state, venue_country, venue_name,
    venue_full_address, venue_coordinates, number_of_attendees, number_of_exhibitors, attendee_cost, booth_cost,
    exhibitor_industries, attendee_personas, keywords, website, description, event_url, name
)
select start_date, end_date, source_type, source_id, event_type, venue_city, venue_state, venue_country, venue_name,
  venue_full_address, venue_coordinates, number_of_attendees, number_of_exhibitors, attendee_cost, booth_cost,
  exhibitor_industries, attendee_personas, keywords, website, description, event_url, name
from jsonb_populate_record(null::industry_events, $1) as given
-- A record that has the URL by now is seen before the list is locked.
where not exists (
  select from industry_events e
  where event_url_digest(e.event_url) = event_url_digest(given.event_url) and e.event_url = given.event_url
)
on conflict do nothing
returning (
  select row_to_json(o)::text
  from (
    select id, iso_utc(created_at) as "createdAt", iso_utc(updated_at) as "updatedAt", name,
      iso_utc(start_date) as "startDate", iso_utc(end_date) as "endDate", source_type as "sourceType",
      source_id as "sourceId", event_type as "eventType", venue_city as "venueCity", venue_state as "venueState",
      venue_country as "venueCountry", venue_name as "venueName", venue_full_address as "venueFullAddress",
      venue_coordinates as "venueCoordinates", number_of_attendees as "numberOfAttendees",
      number_of_exhibitors as "numberOfExhibitors", attendee_cost as "attendeeCost", booth_cost as "boothCost",
      exhibitor_industries as "exhibitorIndustries", attendee_personas as "attendeePersonas", keywords, website,
      description, event_url as "eventUrl"
  ) o
);

-- industryEvent.get: $1 uuid
select (
  select row_to_json(o)::text
  from (
    select id, iso_utc(created_at) as "createdAt", iso_utc(updated_at) as "updatedAt", name,
      iso_utc(start_date) as "startDate", iso_utc(end_date) as "endDate", source_type as "sourceType",
      source_id as "sourceId", event_type as "eventType", venue_city as "venueCity", venue_state as "venueState",
      venue_country as "venueCountry", venue_name as "venueName", venue_full_address as "venueFullAddress",
      venue_coordinates as "venueCoordinates", number_of_attendees as "numberOfAttendees",
      number_of_exhibitors as "numberOfExhibitors", attendee_cost as "attendeeCost", booth_cost as "boothCost",
      exhibitor_industries as "exhibitorIndustries", attendee_personas as "attendeePersonas", keywords, website,
      description, event_url as "eventUrl"
  ) o
)
from industry_events
where id = $1;

-- industryEvent.byUrl: $1 text
select (
  select row_to_json(o)::text
  from (
    select id, iso_utc(created_at) as "createdAt", iso_utc(updated_at) as "updatedAt", name,
      iso_utc(start_date) as "startDate", iso_utc(end_date) as "endDate", source_type as "sourceType",
      source_id as "sourceId", event_type as "eventType", venue_city as "venueCity", venue_state as "venueState",
      venue_country as "venueCountry", venue_name as "venueName", venue_full_address as "venueFullAddress",
      venue_coordinates as "venueCoordinates", number_of_attendees as "numberOfAttendees",
      number_of_exhibitors as "numberOfExhibitors", attendee_cost as "attendeeCost", booth_cost as "boothCost",
      exhibitor_industries as "exhibitorIndustries", attendee_personas as "attendeePersonas", keywords, website,
      description, event_url as "eventUrl"
  ) o
)
from industry_events
where event_url_digest(event_url) = event_url_digest($1) and event_url = $1;

-- industryEvent.withBookmark: $1 integer, $2 uuid ($1 is the organization)
select (
  select row_to_json(o)::text
  from (
    select id, iso_utc(created_at) as "createdAt", iso_utc(updated_at) as "updatedAt", name,
      iso_utc(start_date) as "startDate", iso_utc(end_date) as "endDate", source_type as "sourceType",
      source_id as "sourceId", event_type as "eventType", venue_city as "venueCity", venue_state as "venueState",
      venue_country as "venueCountry", venue_name as "venueName", venue_full_address as "venueFullAddress",
      venue_coordinates as "venueCoordinates", number_of_attendees as "numberOfAttendees",
      number_of_exhibitors as "numberOfExhibitors", attendee_cost as "attendeeCost", booth_cost as "boothCost",
      exhibitor_industries as "exhibitorIndustries", attendee_personas as "attendeePersonas", keywords, website,
      description, event_url as "eventUrl", exists
      (select from industry_event_bookmarks b where b.organization_id = $1 and b.industry_event_id = industry_events.id)
      as "isBookmarked"
  ) o
)
from industry_events
where id = $2;

-- industryEvents.byUrl page: $1 text, $2 bigint, $3 bigint
select page.json, counted.total
from (
  select count(*) as total
  from industry_events
  where event_url_digest(event_url) = event_url_digest($1) and event_url = $1
) counted
  left join lateral (
    select (
      select row_to_json(o)::text
      from (
        select id, iso_utc(created_at) as "createdAt", iso_utc(updated_at) as "updatedAt", name,
          iso_utc(start_date) as "startDate", iso_utc(end_date) as "endDate", source_type as "sourceType",
          source_id as "sourceId", event_type as "eventType", venue_city as "venueCity", venue_state as "venueState",
          venue_country as "venueCountry", venue_name as "venueName", venue_full_address as "venueFullAddress",
          venue_coordinates as "venueCoordinates", number_of_attendees as "numberOfAttendees",
          number_of_exhibitors as "numberOfExhibitors", attendee_cost as "attendeeCost", booth_cost as "boothCost",
          exhibitor_industries as "exhibitorIndustries", attendee_personas as "attendeePersonas", keywords, website,
          description, event_url as "eventUrl"
      ) o
    ) as json, position
    from (
      select *
      from (
        select *
        from industry_events
        where event_url_digest(event_url) = event_url_digest($1)
          and event_url = $1
          and (position) >= (
            select position
            from industry_events
            where event_url_digest(event_url) = event_url_digest($1) and event_url = $1
            order by position
            limit 1 offset $3::bigint * $2::bigint
          )
        order by position
        limit 50
      ) industry_events
      order by position
      limit $2::bigint
    ) industry_events
  ) page on true
order by page.position;

-- industryEvents.bookmarks: $1 integer ($1 is the organization)
select (
  select row_to_json(o)::text
  from (
    select id, iso_utc(created_at) as "createdAt", iso_utc(updated_at) as "updatedAt", name,
      iso_utc(start_date) as "startDate", iso_utc(end_date) as "endDate", source_type as "sourceType",
      source_id as "sourceId", event_type as "eventType", venue_city as "venueCity", venue_state as "venueState",
      venue_country as "venueCountry", venue_name as "venueName", venue_full_address as "venueFullAddress",
      venue_coordinates as "venueCoordinates", number_of_attendees as "numberOfAttendees",
      number_of_exhibitors as "numberOfExhibitors", attendee_cost as "attendeeCost", booth_cost as "boothCost",
      exhibitor_industries as "exhibitorIndustries", attendee_personas as "attendeePersonas", keywords, website,
      description, event_url as "eventUrl"
  ) o
)
from industry_events
where id in (select industry_event_id from industry_event_bookmarks where organization_id = $1) order by position;

-- industry_events page: $1 bigint, $2 bigint
select page.json, counted.total
from (select coalesce((select rows from list_counts
  where (organization_id, list, shift, bucket) = (0, 'industry_events', 40, 0)), 0) as total ) counted
    cross join list_seek(0, 'industry_events', $2::bigint * $1::bigint) seek
  left join lateral (
    select (
      select row_to_json(o)::text
      from (
        select id, iso_utc(created_at) as "createdAt", iso_utc(updated_at) as "updatedAt", name,
          iso_utc(start_date) as "startDate", iso_utc(end_date) as "endDate", source_type as "sourceType",
          source_id as "sourceId", event_type as "eventType", venue_city as "venueCity", venue_state as "venueState",
          venue_country as "venueCountry", venue_name as "venueName", venue_full_address as "venueFullAddress",
          venue_coordinates as "venueCoordinates", number_of_attendees as "numberOfAttendees",
          number_of_exhibitors as "numberOfExhibitors", attendee_cost as "attendeeCost", booth_cost as "boothCost",
          exhibitor_industries as "exhibitorIndustries", attendee_personas as "attendeePersonas", keywords, website,
          description, event_url as "eventUrl"
      ) o
    ) as json, position
    from (
      select *
      from (
        select *
        from industry_events
        where true
          and (position) >= (
            select position
            from industry_events
            where true and position >= seek.start
            order by position
            limit 1 offset seek.rest
          )
        order by position
        limit 50
      ) industry_events
      order by position
      limit $1::bigint
    ) industry_events
  ) page on true
order by page.position;

-- industryEvent.duplicates: $1 text, $2 timestamp with time zone
select (
  select row_to_json(o)::text
  from (
    select id, iso_utc(created_at) as "createdAt", iso_utc(updated_at) as "updatedAt", name,
      iso_utc(start_date) as "startDate", iso_utc(end_date) as "endDate", source_type as "sourceType",
      source_id as "sourceId", event_type as "eventType", venue_city as "venueCity", venue_state as "venueState",
      venue_country as "venueCountry", venue_name as "venueName", venue_full_address as "venueFullAddress",
      venue_coordinates as "venueCoordinates", number_of_attendees as "numberOfAttendees",
      number_of_exhibitors as "numberOfExhibitors", attendee_cost as "attendeeCost", booth_cost as "boothCost",
      exhibitor_industries as "exhibitorIndustries", attendee_personas as "attendeePersonas", keywords, website,
      description, event_url as "eventUrl"
  ) o
)
from industry_events
where name = $1 and start_date is not distinct from $2::timestamptz order by position limit 50;

-- industryEvents.search page: $1 text, $2 text, $3 bigint, $4 bigint
with matches as materialized (
  select id as match, position as place, ts_rank(search, words) as rank
  from websearch_to_tsquery('search', search_spelling($1)) query
    cross join websearch_to_tsquery('search', search_spelling($2)) words
    join industry_events on search @@ query
), best as (
  select *
  from (select * from matches order by rank desc, place offset $4::bigint * $3::bigint limit 50) matches
  order by rank desc, place
  limit $3::bigint
)
select page.json, counted.total
from (select count(*) as total from matches) counted
  left join (
    select (
      select row_to_json(o)::text
      from (
        select id, iso_utc(created_at) as "createdAt", iso_utc(updated_at) as "updatedAt", name,
          iso_utc(start_date) as "startDate", iso_utc(end_date) as "endDate", source_type as "sourceType",
          source_id as "sourceId", event_type as "eventType", venue_city as "venueCity", venue_state as "venueState",
          venue_country as "venueCountry", venue_name as "venueName", venue_full_address as "venueFullAddress",
          venue_coordinates as "venueCoordinates", number_of_attendees as "numberOfAttendees",
          number_of_exhibitors as "numberOfExhibitors", attendee_cost as "attendeeCost", booth_cost as "boothCost",
          exhibitor_industries as "exhibitorIndustries", attendee_personas as "attendeePersonas", keywords, website,
          description, event_url as "eventUrl"
      ) o
    ) as json, rank, place
    from best join industry_events on id = match
  ) page on true
order by page.rank desc, page.place;

-- Functions

CREATE OR REPLACE FUNCTION public.audit_industry_event_bookmarks()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  if tg_op = 'UPDATE' then
    if not audit_follows_delete(tg_relid) then
      perform audit_records(
        'industryEventBookmarks', 'updated', array[new.organization_id], array[null::bigint],
          array[new.industry_event_id]
      );
    end if;
  else
    if tg_op = 'INSERT' then
      perform audit_records(
        'industryEventBookmarks', 'created', array_agg(changed.organization_id), array_agg(null::bigint),
          array_agg(changed.industry_event_id)
      )
      from changed;
    else
      perform set_config('lanyard.deleted_at', statement_timestamp()::text, true);
      execute $sql$
      select audit_records(
        'industryEventBookmarks', 'deleted', array_agg(changed.organization_id), array_agg(null::bigint),
          array_agg(changed.industry_event_id)
      )
      from changed
      where $sql$
        || audit_has_parents(tg_relid);
    end if;
  end if;
  return null;
end $function$;

CREATE OR REPLACE FUNCTION public.audit_industry_events()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  if tg_op = 'UPDATE' then
    if not audit_follows_delete(tg_relid) then
      perform audit_records('industryEvents', 'updated', array[null::integer], array[null::bigint], array[new.id]);
    end if;
  else
    if tg_op = 'INSERT' then
      perform audit_records(
        'industryEvents', 'created', array_agg(null::integer order by changed.position),
          array_agg(null::bigint order by changed.position), array_agg(changed.id order by changed.position)
      )
      from changed;
    else
      perform set_config('lanyard.deleted_at', statement_timestamp()::text, true);
      execute $sql$
      select audit_records(
        'industryEvents', 'deleted', array_agg(null::integer order by changed.position),
          array_agg(null::bigint order by changed.position), array_agg(changed.id order by changed.position)
      )
      from changed
      where $sql$
        || audit_has_parents(tg_relid);
    end if;
  end if;
  return null;
end $function$;
