import { Injectable, NotFoundException } from '@nestjs/common';
import { InjectDataSource } from '@nestjs/typeorm';
import { DataSource } from 'typeorm';
import { many } from '../database/json';
import { Json, Statements } from '../database/statements';
import type { Caller } from '../http/caller';
import { IndustryEventBookmarkEntity, IndustryEventEntity } from './industry-event.entity';
import { INDUSTRY_EVENT } from './industry-event.response';

const BOOKMARKED = many(
  `select e.* from industry_event_bookmarks b join industry_events e on e.id = b.industry_event_id
    where b.organization_id = $1 order by e.created_at, e.id`,
  INDUSTRY_EVENT,
);

const SUCCESS = '{"success":true}';

/** The industry events that an organization bookmarked. */
@Injectable()
export class BookmarksService {
  constructor(
    private readonly statements: Statements,
    @InjectDataSource() private readonly dataSource: DataSource,
  ) {}

  list({ organizationId }: Caller): Promise<Json> {
    return this.statements.one('industryEvents.bookmarks', BOOKMARKED, [organizationId]);
  }

  async add({ organizationId }: Caller, industryEventId: string): Promise<Json> {
    await this.mustExist(industryEventId);
    const bookmark = { organizationId, industryEventId };
    await this.dataSource
      .createQueryBuilder()
      .insert()
      .into(IndustryEventBookmarkEntity)
      .values(bookmark)
      .orIgnore()
      .execute();
    return SUCCESS;
  }

  async remove({ organizationId }: Caller, industryEventId: string): Promise<Json> {
    await this.mustExist(industryEventId);
    await this.dataSource.manager.delete(IndustryEventBookmarkEntity, { organizationId, industryEventId });
    return SUCCESS;
  }

  private async mustExist(id: string): Promise<void> {
    if (!(await this.dataSource.manager.existsBy(IndustryEventEntity, { id }))) throw new NotFoundException();
  }
}
