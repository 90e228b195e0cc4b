import { many } from '../database/json';
import type { Listing } from '../database/listings';
import { INDUSTRY_EVENT } from './industry-event.response';

/** The industry events that match `$1`. A function of the database chooses, orders and counts (docs/decisions/0008). */
export const SEARCH: Listing = {
  name: 'industryEvents.search',
  shared: true,
  remembers: true,
  page: (limit, index = '0', known = 'null') => `
    with found as materialized (select * from search_industry_events($1, ${limit}, ${index}, ${known}))
    select (${many(
      `select e.* from found, unnest(found.ids) with ordinality as f(id, position)
        join industry_events e on e.id = f.id order by f.position`,
      INDUSTRY_EVENT,
    )}), total, known from found`,
};
