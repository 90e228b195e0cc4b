import { many } from '../database/json';
import type { Listing } from '../database/listings';
import { INDUSTRY_EVENT } from './industry-event.response';

/** The industry events that match `$1`, what search-query.ts makes of a `q`, by rank and then in order of arrival. */
export const SEARCH: Listing = {
  name: 'industryEvents.search',
  shared: true,
  page: (limit, index = '0') => `
    with matches as materialized (
      select e.id, e.position, ts_rank(e.search, query) as rank
      from websearch_to_tsquery('search', search_spelling($1)) query join industry_events e on e.search @@ query
    ), best as (
      select * from matches order by rank desc, position limit ${limit} offset ${index} * ${limit}
    )
    select (${many(
      'select e.* from best join industry_events e on e.id = best.id order by best.rank desc, best.position',
      INDUSTRY_EVENT,
    )}), (select count(*) from matches)`,
};
