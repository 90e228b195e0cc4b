import { Injectable } from '@nestjs/common';
import { RowNotFound } from '../database/errors';
import { type Json, Statements } from '../database/statements';
import { Writes } from '../database/writes';
import type { Caller } from '../http/caller';
import { IndustryEventBookmarkEntity, IndustryEventEntity } from './industry-event.entity';
import { INDUSTRY_EVENT } from './industry-event.response';

const LIST = {
  name: 'industryEvents.bookmarks',
  text: `
    select coalesce(string_agg(${INDUSTRY_EVENT}, ',' order by position), '')
    from industry_events where id in (select industry_event_id from industry_event_bookmarks where organization_id = $1)`,
};

/** The industry events that an organization bookmarked. */
@Injectable()
export class BookmarksRepository {
  constructor(
    private readonly statements: Statements,
    private readonly writes: Writes,
  ) {}

  list(caller: Caller): Promise<Json> {
    return this.statements.one(caller, LIST, []);
  }

  add(caller: Caller, industryEventId: string): Promise<{ success: boolean }> {
    const bookmark = { organizationId: caller.organizationId, industryEventId };
    return this.writes.transaction(caller, async (manager) => {
      if (!(await manager.existsBy(IndustryEventEntity, { id: industryEventId }))) throw new RowNotFound();
      await manager
        .createQueryBuilder()
        .insert()
        .into(IndustryEventBookmarkEntity)
        .values(bookmark)
        .orIgnore()
        .execute();
      return { success: true };
    });
  }

  remove(caller: Caller, industryEventId: string): Promise<{ success: boolean }> {
    const bookmark = { organizationId: caller.organizationId, industryEventId };
    return this.writes.transaction(caller, async (manager) => {
      if (!(await manager.existsBy(IndustryEventEntity, { id: industryEventId }))) throw new RowNotFound();
      await manager.delete(IndustryEventBookmarkEntity, bookmark);
      return { success: true };
    });
  }
}
