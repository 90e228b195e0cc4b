import { Injectable, NotFoundException } from '@nestjs/common';
import { InjectDataSource } from '@nestjs/typeorm';
import { DataSource } from 'typeorm';
import { one } from '../database/json';
import { Json, ListStatement, Page, Reads, rendered } from '../database/reads';
import { inTransaction } from '../database/transaction';
import type { Caller } from '../http/caller';
import type { PageQuery } from '../http/parameters';
import type { EventCreateV0Input, EventUpdateV0Input } from './event.dto';
import { EventEntity } from './event.entity';
import { EVENT, USER } from './event.response';

const LIST: ListStatement = {
  name: 'events',
  rows: 'select * from events where organization_id = $1 order by created_at, id',
  render: EVENT,
  total: 'select count(*) from events where organization_id = $1',
};

const ONE = one('select * from events where organization_id = $1 and id = $2', EVENT);

const USERS: ListStatement = {
  name: 'events.users',
  rows: `select u.* from event_users e join users u on u.organization_id = e.organization_id and u.id = e.user_id
    where e.organization_id = $1 and e.event_id = $2 order by u.created_at, u.id`,
  render: USER,
  total: `select (select count(*) from event_users where organization_id = $1 and event_id = $2)
    from events where organization_id = $1 and id = $2`,
};

@Injectable()
export class EventsService {
  constructor(
    private readonly reads: Reads,
    @InjectDataSource() private readonly dataSource: DataSource,
  ) {}

  list({ organizationId }: Caller, page: PageQuery): Promise<Page> {
    return this.reads.page(LIST, [organizationId], page);
  }

  get({ organizationId }: Caller, eventId: number): Promise<Json> {
    return this.reads.one('event', ONE, [organizationId, eventId]);
  }

  create({ organizationId }: Caller, { createdByEmail, ...input }: EventCreateV0Input): Promise<Json> {
    return inTransaction(this.dataSource, async (manager) => {
      const event = { organizationId, createdBy: createdByEmail, ...columnsOf(input) };
      const { identifiers } = await manager.insert(EventEntity, event);
      return rendered(manager, ONE, [organizationId, identifiers[0]?.id]);
    });
  }

  /** Replaces what the body can carry; location, tag groups, users and creator stay. */
  replace({ organizationId }: Caller, eventId: number, input: EventUpdateV0Input): Promise<Json> {
    return inTransaction(this.dataSource, async (manager) => {
      await manager.update(EventEntity, { organizationId, id: String(eventId) }, columnsOf(input));
      return rendered(manager, ONE, [organizationId, eventId]);
    });
  }

  /** Foreign keys remove its associations, assignments and activations, and empty references to them elsewhere. */
  async delete({ organizationId }: Caller, eventId: number): Promise<void> {
    const { affected } = await this.dataSource.manager.delete(EventEntity, { organizationId, id: String(eventId) });
    if (!affected) throw new NotFoundException();
  }

  users({ organizationId }: Caller, eventId: number, page: PageQuery): Promise<Page> {
    return this.reads.page(USERS, [organizationId, eventId], page);
  }
}

const columnsOf = ({ eventName, eventType, startDate, endDate, registrationEnabled = false }: EventUpdateV0Input) => ({
  name: eventName,
  type: eventType,
  startDate,
  endDate,
  registrationEnabled,
});
