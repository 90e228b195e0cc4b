import { Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import type { PageQuery } from '../api-schema/parameters';
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

/** `$1` is what search-query.ts makes of a `q`. By rank, and then in order of arrival. */
const SEARCH: List = {
  name: 'industryEvents.search',
  shared,
  page: (limit, index) => `
    with matches as materialized (
      select id as match, position as place, ts_rank(search, query) as rank
      from websearch_to_tsquery('search', search_spelling($1)) query join industry_events on search @@ query
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

/** Records with the name and the start of a new one, which is `$3`; two unknown starts are equal. */
const POTENTIAL_DUPLICATES = {
  name: 'industryEvent.duplicates',
  shared,
  text: `
    select coalesce(string_agg(${INDUSTRY_EVENT}, ',' order by position), '')
    from (
      select * from industry_events
      where name = $1 and start_date is not distinct from $2::timestamptz and id <> $3 order by position limit 50
    ) industry_events`,
};

const BOOKMARKED = {
  name: 'industryEvents.bookmarks',
  text: `
    select coalesce(string_agg(${INDUSTRY_EVENT}, ',' order by position), '')
    from industry_events where id in (select industry_event_id from industry_event_bookmarks where organization_id = $1)`,
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

  /** @param query for PostgreSQL's websearch_to_tsquery */
  search(caller: Caller, query: string, page: PageQuery): Promise<Page> {
    return this.statements.paginate(caller, SEARCH, [query], page);
  }

  get(caller: Caller, industryEventId: string): Promise<Json> {
    return this.statements.one(caller, GET_WITH_BOOKMARK, [industryEventId]);
  }

  /**
   * A record with the same eventUrl is returned as it stands, and nothing is locked for it. The unique index decides, so that
   * under any concurrency one request alone creates it: the others wait for that one's commit and then find its record.
   */
  create(caller: Caller, input: IndustryEventCreateV0Input): Promise<Json> {
    return this.writes.transaction(caller, async (manager) => {
      const known = async (): Promise<Json | undefined> =>
        (await this.statements.all(caller, GET_BY_URL, [input.eventUrl], { manager }))[0];
      const found = input.eventUrl ? await known() : undefined;
      const created = found === undefined ? await insert(manager, input) : undefined;
      const record = found ?? created?.json ?? (await known());
      // The record that was in the way has another URL by now.
      if (record === undefined) throw new Retry();
      const values = [input.name, input.startDate ?? null, created?.id];
      const duplicates = created ? await this.statements.one(caller, POTENTIAL_DUPLICATES, values, { manager }) : '';
      return `{"industryEvent":${record},"created":${created !== undefined},"potentialDuplicates":[${duplicates}]}`;
    });
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

  bookmarked(caller: Caller): Promise<Json> {
    return this.statements.one(caller, BOOKMARKED, []);
  }

  addBookmark(caller: Caller, industryEventId: string): Promise<Json> {
    return this.writes.one(caller, ADD_BOOKMARK, [industryEventId]);
  }

  removeBookmark(caller: Caller, industryEventId: string): Promise<Json> {
    return this.writes.one(caller, REMOVE_BOOKMARK, [industryEventId]);
  }
}

/** @returns undefined when a record has the eventUrl */
async function insert(
  manager: EntityManager,
  input: IndustryEventCreateV0Input,
): Promise<{ id: string; json: Json } | undefined> {
  const insertion = manager.createQueryBuilder().insert().into(IndustryEventEntity).values(input).orIgnore();
  const { raw } = await insertion.returning(`id, ${INDUSTRY_EVENT} as json`).execute();
  return (raw as { id: string; json: Json }[])[0];
}
