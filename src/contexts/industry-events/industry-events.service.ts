import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { Repository } from 'typeorm';
import { snakeCase } from '../../data/database/data-source';
import { violatesConstraint } from '../../data/database/errors';
import { type JsonText, type Page, Statements } from '../../data/database/statements';
import { Writes } from '../../data/database/writes';
import { InvalidField, InvalidRequest, ConcurrentChange, RowNotFound } from '../../errors/exceptions';
import type { Caller } from '../../http/pipeline/caller';
import { joined } from '../../http/pipeline/returns';
import type { IndustryEventCreateV0Input, IndustryEventsQuery, IndustryEventUpdateV0Input } from './industry-event.dto';
import { IndustryEventBookmarkEntity, IndustryEventEntity } from './industry-event.entity';
import type { BookmarkResult } from './industry-event.response';
import * as SQL from './industry-events.sql';
import { searchQuery } from './search-query';

/** All organizations share the catalog. Bookmarks belong to one organization. */
@Injectable()
export class IndustryEventsService {
  constructor(
    @InjectRepository(IndustryEventEntity) private readonly events: Repository<IndustryEventEntity>,
    @InjectRepository(IndustryEventBookmarkEntity)
    private readonly bookmarks: Repository<IndustryEventBookmarkEntity>,
    private readonly statements: Statements,
    private readonly writes: Writes,
  ) {}

  /** @throws InvalidRequest when `q` has too many words */
  list(caller: Caller, { eventUrl, q, ...page }: IndustryEventsQuery): Promise<Page> {
    if (eventUrl !== undefined) return this.statements.paginate(caller, SQL.INDUSTRY_EVENTS_BY_URL, [eventUrl], page);
    if (!q?.trim()) return this.statements.paginate(caller, SQL.LIST_INDUSTRY_EVENTS, [], page);
    const { text, words, isTooLong } = searchQuery(q);
    if (isTooLong) throw new InvalidRequest('query q', 'range');
    return this.statements.paginate(caller, SQL.SEARCH_INDUSTRY_EVENTS, [text, words], page);
  }

  /** @throws RowNotFound */
  get(caller: Caller, industryEventId: string): Promise<JsonText> {
    return this.statements.selectOne(caller, SQL.GET_INDUSTRY_EVENT_WITH_BOOKMARK, [industryEventId]);
  }

  /**
   * If a record with the same eventUrl exists, it is returned unchanged and nothing is locked. The unique index ensures that only
   * one of several concurrent requests creates the record: the others wait for its commit and then find it.
   * Potential duplicates are searched before the insert, because rendering them takes long. Two records that are created at the
   * same time therefore do not list each other.
   */
  async create(caller: Caller, input: IndustryEventCreateV0Input): Promise<string[]> {
    const known = await this.findByUrl(caller, input);
    if (known !== undefined) return toCreationResult(known, false);
    const named = [input.name, input.startDate ?? null];
    const duplicates = await this.statements.selectJson(caller, SQL.POTENTIAL_DUPLICATES, named);
    const record = Object.entries(input).map(([field, value]) => [snakeCase(field), value as unknown]);
    const created = await this.writes.writeIfAny(caller, SQL.CREATE_INDUSTRY_EVENT, [
      JSON.stringify(Object.fromEntries(record)),
    ]);
    if (created !== undefined) return toCreationResult(created, true, duplicates);
    const other = await this.findByUrl(caller, input);
    // The conflicting record has another URL by now.
    if (other === undefined) throw new ConcurrentChange();
    return toCreationResult(other, false);
  }

  private async findByUrl(caller: Caller, { eventUrl }: IndustryEventCreateV0Input): Promise<JsonText | undefined> {
    return eventUrl
      ? (await this.statements.selectJson(caller, SQL.GET_INDUSTRY_EVENT_BY_URL, [eventUrl]))[0]
      : undefined;
  }

  /**
   * Changes the fields that the input has; null clears.
   * @throws RowNotFound
   * @throws InvalidField when the end would come before the start, or another record has the eventUrl
   */
  async update(caller: Caller, industryEventId: string, input: IndustryEventUpdateV0Input): Promise<JsonText> {
    try {
      return await this.writes.transaction(caller, async (manager) => {
        const events = manager.withRepository(this.events);
        const stored = await events.findOne({
          // The ID is selected, too, because TypeORM treats a row of nulls as no row.
          select: { id: true, startDate: true, endDate: true },
          where: { id: industryEventId },
          lock: { mode: 'pessimistic_write' },
        });
        if (!stored) throw new RowNotFound();
        const { startDate, endDate } = { ...stored, ...input };
        if (startDate && endDate && new Date(endDate) < new Date(startDate)) throw new InvalidField('endDate', 'range');
        // The function now() returns the start of the transaction, and others may have changed the record since.
        const changes = { ...input, updatedAt: () => 'clock_timestamp()' };
        if (Object.keys(input).length > 0) await events.update({ id: industryEventId }, changes);
        return this.statements.selectOne(caller, SQL.GET_INDUSTRY_EVENT, [industryEventId]);
      });
    } catch (error) {
      throw violatesConstraint(error, 'industry_events_event_url_key')
        ? new InvalidField('eventUrl', 'duplicate')
        : error;
    }
  }

  listBookmarked(caller: Caller): Promise<JsonText[]> {
    return this.statements.selectJson(caller, SQL.LIST_BOOKMARKED_INDUSTRY_EVENTS, []);
  }

  /** @throws RowNotFound */
  addBookmark(caller: Caller, industryEventId: string): Promise<BookmarkResult> {
    return this.writes.transaction(caller, async (manager) => {
      await requireRecord(manager.withRepository(this.events), industryEventId);
      const bookmark = { organizationId: caller.organizationId, industryEventId };
      const insertion = manager.withRepository(this.bookmarks).createQueryBuilder().insert();
      await insertion.values(bookmark).orIgnore().execute();
      return { success: true };
    });
  }

  /** @throws RowNotFound */
  removeBookmark(caller: Caller, industryEventId: string): Promise<BookmarkResult> {
    return this.writes.transaction(caller, async (manager) => {
      await requireRecord(manager.withRepository(this.events), industryEventId);
      const { organizationId } = caller;
      await manager.withRepository(this.bookmarks).delete({ organizationId, industryEventId });
      return { success: true };
    });
  }
}

/** @throws RowNotFound */
async function requireRecord(events: Repository<IndustryEventEntity>, id: string): Promise<void> {
  if (!(await events.existsBy({ id }))) throw new RowNotFound();
}

/** Splits the result of a creation into the parts of one JSON text. */
const toCreationResult = (record: JsonText, created: boolean, duplicates: JsonText[] = []): string[] => [
  `{"industryEvent":${record.text},"created":${created},"potentialDuplicates":[`,
  ...joined(duplicates),
  ']}',
];
