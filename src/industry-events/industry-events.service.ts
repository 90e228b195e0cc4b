import { BadRequestException, Injectable } from '@nestjs/common';
import { many, one } from '../database/json';
import { LISTS } from '../database/lists';
import { counted, tracked } from '../database/listings';
import { Json, Page, Statements } from '../database/statements';
import { Retry, RowNotFound, violates } from '../database/errors';
import { Writes } from '../database/writes';
import type { Caller } from '../http/caller';
import { InvalidField } from '../http/errors';
import type { PageQuery } from '../api-schema/parameters';
import type { IndustryEventCreateV0Input, IndustryEventsQuery, IndustryEventUpdateV0Input } from './industry-event.dto';
import { IndustryEventEntity } from './industry-event.entity';
import { INDUSTRY_EVENT, INDUSTRY_EVENT_WITH_BOOKMARK } from './industry-event.response';
import { SEARCH } from './search';
import { searchQuery } from './search-query';

const LIST = tracked(LISTS.industryEvents, INDUSTRY_EVENT);

const HAVE_URL = 'from industry_events where event_url_digest(event_url) = event_url_digest($1) and event_url = $1';
const BY_URL = counted({
  name: 'industryEvents.url',
  shared: true,
  rows: `select * ${HAVE_URL}`,
  total: `select count(*) ${HAVE_URL}`,
  render: INDUSTRY_EVENT,
});

const ONE = {
  name: 'industryEvent.stored',
  shared: true as const,
  text: one('select * from industry_events where id = $1', INDUSTRY_EVENT),
};

const ONE_BY_URL = {
  name: 'industryEvent.byUrl',
  shared: true as const,
  text: one(`select * ${HAVE_URL}`, INDUSTRY_EVENT),
};
const ONE_WITH_BOOKMARK = {
  name: 'industryEvent',
  text: one('select * from industry_events where id = $2', INDUSTRY_EVENT_WITH_BOOKMARK),
};

/** Records with the name and the start of a new one, of which one is new itself; two unknown starts are equal. */
const POTENTIAL_DUPLICATES = {
  shared: true as const,
  name: 'industryEvent.duplicates',
  text: many(
    `select * from industry_events where name = $1 and start_date is not distinct from $2::timestamptz and id <> $3
      order by position limit 50`,
    INDUSTRY_EVENT,
  ),
};

@Injectable()
export class IndustryEventsService {
  constructor(
    private readonly statements: Statements,
    private readonly writes: Writes,
  ) {}

  list(caller: Caller, { eventUrl, q, ...page }: IndustryEventsQuery): Promise<Page> {
    if (eventUrl !== undefined) return this.statements.page(caller, BY_URL, [eventUrl], page);
    if (q?.trim()) return this.search(caller, q, page);
    return this.statements.page(caller, LIST, [], page);
  }

  private search(caller: Caller, q: string, page: PageQuery): Promise<Page> {
    const { text, isTooLong } = searchQuery(q);
    if (isTooLong) throw new BadRequestException();
    return this.statements.page(caller, SEARCH, [text], page);
  }

  get(caller: Caller, industryEventId: string): Promise<Json> {
    return this.statements.one(caller, ONE_WITH_BOOKMARK, [industryEventId]);
  }

  /**
   * A record with the same eventUrl is returned as it stands. The unique index decides, so that under any concurrency
   * one request alone creates it: the others wait for that one's commit and then find its record.
   */
  create(caller: Caller, input: IndustryEventCreateV0Input): Promise<Json> {
    return this.writes.transaction(caller, async (manager) => {
      const { raw } = await manager
        .createQueryBuilder()
        .insert()
        .into(IndustryEventEntity)
        .values(input)
        .orIgnore()
        .returning('id')
        .execute();
      const [created] = raw as { id: string }[];
      const [record] = created
        ? await this.statements.all(caller, ONE, [created.id], { manager })
        : await this.statements.all(caller, ONE_BY_URL, [input.eventUrl], { manager });
      // The record that was in the way has been given another URL since.
      if (record === undefined) throw new Retry();
      const duplicates = created
        ? await this.statements.one(caller, POTENTIAL_DUPLICATES, [input.name, input.startDate ?? null, created.id], {
            manager,
          })
        : '';
      return `{"industryEvent":${record},"created":${created !== undefined},"potentialDuplicates":[${duplicates}]}`;
    });
  }

  /** Changes the fields that the input holds; null clears. */
  update(caller: Caller, industryEventId: string, input: IndustryEventUpdateV0Input): Promise<Json> {
    const key = { id: industryEventId };
    const write = this.writes.transaction(caller, async (manager) => {
      const stored = await manager.findOne(IndustryEventEntity, {
        // With the id, because TypeORM takes a row of nulls alone for none.
        select: { id: true, startDate: true, endDate: true },
        where: key,
        lock: { mode: 'pessimistic_write' },
      });
      if (!stored) throw new RowNotFound();
      const { startDate, endDate } = { ...stored, ...input };
      if (startDate && endDate && new Date(endDate) < new Date(startDate)) throw new InvalidField('endDate');
      // Not the transaction's begin: others may have changed the record since, before this one had its lock.
      const changes = { ...input, updatedAt: () => 'clock_timestamp()' };
      if (Object.keys(input).length > 0) await manager.update(IndustryEventEntity, key, changes);
      return this.statements.one(caller, ONE, [industryEventId], { manager });
    });
    return write.catch((error: unknown) => {
      throw violates(error, 'industry_events_event_url_key') ? new InvalidField('eventUrl') : error;
    });
  }
}
