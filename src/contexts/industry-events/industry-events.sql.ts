import { snakeCase } from '../../data/database/data-source';
import { arrivalList, filteredList, limitedRows, pagedList } from '../../data/database/paginate';
import { schemasOf } from '../../fields/field-rules';
import { IndustryEventCreateV0Input } from './industry-event.dto';
import { IndustryEventEntity } from './industry-event.entity';
import { INDUSTRY_EVENT_JSON, INDUSTRY_EVENT_WITH_BOOKMARK_JSON } from './industry-event.response';

const isShared = true;

export const LIST_INDUSTRY_EVENTS = arrivalList({ entity: IndustryEventEntity, rowJson: INDUSTRY_EVENT_JSON });

const HAS_URL = 'event_url_digest(event_url) = event_url_digest($1) and event_url = $1';

export const INDUSTRY_EVENTS_BY_URL = filteredList({
  name: 'industryEvents.byUrl',
  valueCount: 1,
  entity: IndustryEventEntity,
  rowJson: INDUSTRY_EVENT_JSON,
  where: HAS_URL,
});

/**
 * `$1` and `$2` are the parts of a parsed `q` (search-query.ts). Results are ordered by rank, then by arrival. The rank
 * counts any of the words: to rank by all of them, PostgreSQL would compare each position of a word with each position of
 * every other word, which takes 130 ms per record.
 */
export const SEARCH_INDUSTRY_EVENTS = pagedList({
  name: 'industryEvents.search',
  isShared,
  valueCount: 2,
  page: ({ limit, index }) => `
    with matches as materialized (
      select id as match, position as place, ts_rank(search, words) as rank
      from websearch_to_tsquery('search', search_spelling($1)) query
        cross join websearch_to_tsquery('search', search_spelling($2)) words
        join industry_events on search @@ query
    ), best as (
      ${limitedRows(`select * from matches order by rank desc, place offset ${index} * ${limit}`, 'matches', limit, 'rank desc, place')}
    )
    select page.json, counted.total
    from (select count(*) as total from matches) counted
      left join (
        select ${INDUSTRY_EVENT_JSON} as json, rank, place from best join industry_events on id = match
      ) page on true
    order by page.rank desc, page.place`,
});

export const GET_INDUSTRY_EVENT = {
  name: 'industryEvent.get',
  isShared,
  text: `select ${INDUSTRY_EVENT_JSON} from industry_events where id = $1`,
};

export const GET_INDUSTRY_EVENT_BY_URL = {
  name: 'industryEvent.byUrl',
  isShared,
  text: `select ${INDUSTRY_EVENT_JSON} from industry_events where ${HAS_URL}`,
};

export const GET_INDUSTRY_EVENT_WITH_BOOKMARK = {
  name: 'industryEvent.withBookmark',
  text: `select ${INDUSTRY_EVENT_WITH_BOOKMARK_JSON} from industry_events where id = $2`,
};

/** Finds records with the name and start of a new one; two unknown starts are equal. */
export const POTENTIAL_DUPLICATES = {
  name: 'industryEvent.duplicates',
  isShared,
  text: `
    select ${INDUSTRY_EVENT_JSON} from industry_events
    where name = $1 and start_date is not distinct from $2::timestamptz order by position limit 50`,
};

const COLUMNS = [...schemasOf(IndustryEventCreateV0Input).keys()].map(snakeCase).join(', ');

/**
 * `$1` is a record. No row is returned if another one has the eventUrl. This is a single statement that commits by itself,
 * because all other creates of the catalog wait while it runs.
 */
export const CREATE_INDUSTRY_EVENT = {
  name: 'industryEvent.create',
  isShared,
  text: `
    insert into industry_events (${COLUMNS})
    select ${COLUMNS} from jsonb_populate_record(null::industry_events, $1) as given
    -- A record that has the URL by now is seen before the list is locked.
    where not exists (
      select from industry_events e
      where event_url_digest(e.event_url) = event_url_digest(given.event_url) and e.event_url = given.event_url
    )
    on conflict do nothing returning ${INDUSTRY_EVENT_JSON}`,
};

export const LIST_BOOKMARKED_INDUSTRY_EVENTS = {
  name: 'industryEvents.bookmarks',
  text: `
    select ${INDUSTRY_EVENT_JSON} from industry_events
    where id in (select industry_event_id from industry_event_bookmarks where organization_id = $1) order by position`,
};
