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

CREATE OR REPLACE FUNCTION public.search_text(value text)
 RETURNS text
 LANGUAGE plpgsql
 IMMUTABLE PARALLEL SAFE
AS $function$
begin
  value := regexp_replace(value, '[\u0001-\u001d\u001f-\u002f\u003a-\u0040\u005b-\u0060\u007b-\u007f]+', ' ', 'g');
  if octet_length(value) > length(value) then
    value := search_spelling(regexp_replace(value, '['
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
      ']+', ' ', 'g'));
  end if;
  return replace(value, E'\x1e', ' <x> ');
end $function$;
