-- The SQL that src/industry-events composes, as PostgreSQL gets it. npm run sql writes this file.

-- Prepared statements

-- industryEvent.create: $1 jsonb
insert into industry_events (
  name, start_date, end_date, source_type, source_id, event_type, venue_city, venue_state, venue_country, venue_name,
    venue_full_address, venue_coordinates, number_of_attendees, number_of_exhibitors, attendee_cost, booth_cost,
    exhibitor_industries, attendee_personas, keywords, website, description, event_url
)
select *
from jsonb_to_record($1) as given (
  "name" text, "startDate" timestamptz, "endDate" timestamptz, "sourceType" text, "sourceId" text, "eventType" text,
    "venueCity" text, "venueState" text, "venueCountry" text, "venueName" text, "venueFullAddress" text,
    "venueCoordinates" text, "numberOfAttendees" integer, "numberOfExhibitors" integer, "attendeeCost" text,
    "boothCost" text, "exhibitorIndustries" text[], "attendeePersonas" text[], "keywords" text[], "website" text,
    "description" text, "eventUrl" text
)
-- A record that has the URL by now is seen before the list is locked.
where not exists (
  select from industry_events
  where event_url_digest(event_url) = event_url_digest(given."eventUrl") and event_url = given."eventUrl"
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

-- industryEvents.byUrl first page: $1 text, $2 bigint
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
        where event_url_digest(event_url) = event_url_digest($1) and event_url = $1
        order by position
        limit 50
      ) industry_events
      order by position
      limit $2::bigint
    ) industry_events
  ) page on true
order by page.position;

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
          and position >= (
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

-- industry_events first page: $1 bigint
select page.json, counted.total
from (select coalesce((select rows from list_counts
  where (organization_id, list, shift, bucket) = (0, 'industry_events', 40, 0)), 0) as total ) counted
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
      from (select * from industry_events  order by position limit 50) industry_events
      order by position
      limit $1::bigint
    ) industry_events
  ) page on true
order by page.position;

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
        where position >=
          (select position from industry_events where position >= seek.start order by position limit 1 offset seek.rest)
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

-- Triggers on its tables, in the order in which they fire

CREATE TRIGGER t00_fixed BEFORE UPDATE OF "position" ON public.industry_events FOR EACH ROW WHEN
  ((old."position" IS DISTINCT FROM new."position")) EXECUTE FUNCTION refuse();
CREATE TRIGGER t00_no_truncate BEFORE TRUNCATE ON public.industry_events FOR EACH STATEMENT EXECUTE FUNCTION refuse();
CREATE TRIGGER t05_search BEFORE INSERT
  OR UPDATE OF search, name, venue_city, venue_state, venue_country, keywords, exhibitor_industries, attendee_personas,
    description ON public.industry_events FOR EACH ROW EXECUTE FUNCTION set_search();
CREATE TRIGGER t10_position BEFORE INSERT ON public.industry_events FOR EACH ROW WHEN ((new."position" IS NULL)) EXECUTE
  FUNCTION list_position('industry_events', '', 'shared');
CREATE TRIGGER t80_count_deleted AFTER DELETE ON public.industry_events REFERENCING OLD TABLE AS changed FOR EACH
  STATEMENT EXECUTE FUNCTION list_count('industry_events', '', 'shared');
CREATE TRIGGER t80_count_inserted AFTER INSERT ON public.industry_events REFERENCING NEW TABLE AS changed FOR EACH
  STATEMENT EXECUTE FUNCTION list_count('industry_events', '', 'shared');
