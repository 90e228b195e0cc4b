import { Injectable } from '@nestjs/common';
import type { PageQuery } from '../api-schema/parameters';
import { columnOf } from '../database/data-source';
import { Retry, RowNotFound } from '../database/errors';
import { arrivalList, filteredList, type List } from '../database/paginate';
import { type Json, type Page, Statements } from '../database/statements';
import { Writes } from '../database/writes';
import type { Caller } from '../http/caller';
import type { IndustryEventCreateV0Input, IndustryEventUpdateV0Input } from './industry-event.dto';
import { IndustryEventEntity } from './industry-event.entity';
import { INDUSTRY_EVENT, INDUSTRY_EVENT_WITH_BOOKMARK } from './industry-event.response';

const shared = true;

const LIST = arrivalList({ table: 'industry_events', item: INDUSTRY_EVENT, shared });

const HAS_URL = 'event_url_digest(event_url) = event_url_digest($1) and event_url = $1';
const BY_URL = filteredList({
  name: 'industryEvents.byUrl',
  table: 'industry_events',
  item: INDUSTRY_EVENT,
  where: HAS_URL,
  shared,
});

/**
 * `$1` and `$2` are what search-query.ts makes of a `q`. By rank, and then in order of arrival. The rank is that of any of
 * the words: for all of them PostgreSQL compares each place of a word with each place of each other one, 130 ms a record.
 */
const SEARCH: List = {
  name: 'industryEvents.search',
  shared,
  page: (limit, index) => `
    with matches as materialized (
      select id as match, position as place, ts_rank(search, words) as rank
      from websearch_to_tsquery('search', search_spelling($1)) query
        cross join websearch_to_tsquery('search', search_spelling($2)) words
        join industry_events on search @@ query
    ), best as (
      select * from matches order by rank desc, place limit ${limit} offset ${index} * ${limit}
    )
    select page.json, counted.total
    from (select count(*) as total from matches) counted
      left join (
        select ${INDUSTRY_EVENT} as json, rank, place from best join industry_events on id = match
      ) page on true
    order by page.rank desc, page.place`,
};

const GET = { name: 'industryEvent.get', shared, text: `select ${INDUSTRY_EVENT} from industry_events where id = $1` };

const GET_BY_URL = {
  name: 'industryEvent.byUrl',
  shared,
  text: `select ${INDUSTRY_EVENT} from industry_events where ${HAS_URL}`,
};

const GET_WITH_BOOKMARK = {
  name: 'industryEvent.withBookmark',
  text: `select ${INDUSTRY_EVENT_WITH_BOOKMARK} from industry_events where id = $2`,
};

/** Records with the name and the start of a new one; two unknown starts are equal. */
const POTENTIAL_DUPLICATES = {
  name: 'industryEvent.duplicates',
  shared,
  text: `
    select ${INDUSTRY_EVENT} from industry_events
    where name = $1 and start_date is not distinct from $2::timestamptz order by position limit 50`,
};

/** The type of each field's column: a field that is missing here does not compile. */
const STORED: Record<keyof IndustryEventCreateV0Input, 'text' | 'integer' | 'text[]' | 'timestamptz'> = {
  name: 'text',
  startDate: 'timestamptz',
  endDate: 'timestamptz',
  sourceType: 'text',
  sourceId: 'text',
  eventType: 'text',
  venueCity: 'text',
  venueState: 'text',
  venueCountry: 'text',
  venueName: 'text',
  venueFullAddress: 'text',
  venueCoordinates: 'text',
  numberOfAttendees: 'integer',
  numberOfExhibitors: 'integer',
  attendeeCost: 'text',
  boothCost: 'text',
  exhibitorIndustries: 'text[]',
  attendeePersonas: 'text[]',
  keywords: 'text[]',
  website: 'text',
  description: 'text',
  eventUrl: 'text',
};

/**
 * `$1` is a body. An empty text when a record has the eventUrl. One statement, which commits by itself: while it runs, all
 * other creates of the catalogue wait.
 */
const CREATE = {
  name: 'industryEvent.create',
  shared,
  text: `
    with created as (
      insert into industry_events (${Object.keys(STORED).map(columnOf).join(', ')})
      select * from jsonb_to_record($1) as (${Object.entries(STORED)
        .map(([field, type]) => `"${field}" ${type}`)
        .join(', ')})
      on conflict do nothing returning ${INDUSTRY_EVENT} as json
    )
    select coalesce((select json from created), '')`,
};

const BOOKMARKED = {
  name: 'industryEvents.bookmarks',
  text: `
    select ${INDUSTRY_EVENT} from industry_events
    where id in (select industry_event_id from industry_event_bookmarks where organization_id = $1) order by position`,
};

const ADD_BOOKMARK = {
  name: 'industryEvent.bookmark',
  text: `
    with event as (select id from industry_events where id = $2),
      added as (
        insert into industry_event_bookmarks (organization_id, industry_event_id)
        select $1, id from event on conflict do nothing
      )
    select '{"success":true}' from event`,
};

const REMOVE_BOOKMARK = {
  name: 'industryEvent.removeBookmark',
  text: `
    with removed as (delete from industry_event_bookmarks where organization_id = $1 and industry_event_id = $2)
    select '{"success":true}' from industry_events where id = $2`,
};

/** The catalogue is everybody's; bookmarks belong to an organization. */
@Injectable()
export class IndustryEventsRepository {
  constructor(
    private readonly statements: Statements,
    private readonly writes: Writes,
  ) {}

  list(caller: Caller, page: PageQuery): Promise<Page> {
    return this.statements.paginate(caller, LIST, [], page);
  }

  listByUrl(caller: Caller, eventUrl: string, page: PageQuery): Promise<Page> {
    return this.statements.paginate(caller, BY_URL, [eventUrl], page);
  }

  /** @param query for PostgreSQL's websearch_to_tsquery @param words the same, of any of its words */
  search(caller: Caller, query: string, words: string, page: PageQuery): Promise<Page> {
    return this.statements.paginate(caller, SEARCH, [query, words], page);
  }

  get(caller: Caller, industryEventId: string): Promise<Json> {
    return this.statements.one(caller, GET_WITH_BOOKMARK, [industryEventId]);
  }

  /**
   * A record with the same eventUrl is returned as it stands, and nothing is locked for it. The unique index decides, so that
   * under any concurrency one request alone creates it: the others wait for that one's commit and then find its record.
   * Duplicates are looked for before, since rendering them takes long: two that are created at one moment do not see each other.
   */
  create(caller: Caller, input: IndustryEventCreateV0Input): Promise<Json[]> {
    return this.writes.retried(async () => {
      const known = await this.findByUrl(caller, input);
      if (known !== undefined) return asCreation(known, false);
      const named = [input.name, input.startDate ?? null];
      const duplicates = await this.statements.all(caller, POTENTIAL_DUPLICATES, named);
      const created = await this.statements.one(caller, CREATE, [JSON.stringify(input)]);
      if (created) return asCreation(created, true, duplicates);
      const other = await this.findByUrl(caller, input);
      // The record that was in the way has another URL by now.
      if (other === undefined) throw new Retry();
      return asCreation(other, false);
    });
  }

  private async findByUrl(caller: Caller, { eventUrl }: IndustryEventCreateV0Input): Promise<Json | undefined> {
    return eventUrl ? (await this.statements.all(caller, GET_BY_URL, [eventUrl]))[0] : undefined;
  }

  /**
   * Changes the fields that the input has; null clears.
   * @param check is given the record as it would be, and throws when it may not be so
   */
  update(
    caller: Caller,
    industryEventId: string,
    input: IndustryEventUpdateV0Input,
    check: (dates: { startDate?: string | Date | null; endDate?: string | Date | null }) => void,
  ): Promise<Json> {
    return this.writes.transaction(caller, async (manager) => {
      const stored = await manager.findOne(IndustryEventEntity, {
        // With the id: TypeORM takes a row of nulls for none.
        select: { id: true, startDate: true, endDate: true },
        where: { id: industryEventId },
        lock: { mode: 'pessimistic_write' },
      });
      if (!stored) throw new RowNotFound();
      check({ ...stored, ...input });
      // Not now(), the transaction's start: others may have changed the record since.
      const changes = { ...input, updatedAt: () => 'clock_timestamp()' };
      if (Object.keys(input).length > 0) await manager.update(IndustryEventEntity, { id: industryEventId }, changes);
      return this.statements.one(caller, GET, [industryEventId], { manager });
    });
  }

  bookmarked(caller: Caller): Promise<Json[]> {
    return this.statements.all(caller, BOOKMARKED, []);
  }

  addBookmark(caller: Caller, industryEventId: string): Promise<Json> {
    return this.writes.one(caller, ADD_BOOKMARK, [industryEventId]);
  }

  removeBookmark(caller: Caller, industryEventId: string): Promise<Json> {
    return this.writes.one(caller, REMOVE_BOOKMARK, [industryEventId]);
  }
}

const asCreation = (record: Json, created: boolean, duplicates: Json[] = []): Json[] => [
  `{"industryEvent":${record},"created":${created},"potentialDuplicates":[`,
  ...duplicates.map((duplicate, index) => (index === 0 ? duplicate : `,${duplicate}`)),
  ']}',
];
