import { Injectable } from '@nestjs/common';
import type { PageQuery } from '../api-schema/parameters';
import { RowNotFound } from '../database/errors';
import { lockOf } from '../database/locks';
import { arrivalList } from '../database/paginate';
import { type Json, type Page, Statements } from '../database/statements';
import { Writes } from '../database/writes';
import type { Caller } from '../http/caller';
import type { EventCreateV0Input, EventUpdateV0Input } from './event.dto';
import { EventEntity } from './event.entity';
import { EVENT } from './event.response';

const LIST = arrivalList({ table: 'events', item: EVENT });

const GET = { name: 'event.get', text: `select ${EVENT} from events where organization_id = $1 and id = $2` };

/**
 * Foreign keys remove its associations, assignments and activations, and empty references to them elsewhere. These are of
 * several lists: so the organization's lock comes first.
 */
const DELETE = {
  name: 'event.delete',
  text: `
    delete from events where (select ${lockOf('$1')}) is not null and organization_id = $1 and id = $2 returning ''`,
};

@Injectable()
export class EventsRepository {
  constructor(
    private readonly statements: Statements,
    private readonly writes: Writes,
  ) {}

  list(caller: Caller, page: PageQuery): Promise<Page> {
    return this.statements.paginate(caller, LIST, [], page);
  }

  get(caller: Caller, eventId: number): Promise<Json> {
    return this.statements.one(caller, GET, [eventId]);
  }

  create(caller: Caller, input: EventCreateV0Input): Promise<Json> {
    const event = { organizationId: caller.organizationId, createdBy: input.createdByEmail, ...valuesOf(input) };
    return this.writes.transaction(caller, async (manager) => {
      const { identifiers } = await manager.insert(EventEntity, event);
      return this.statements.one(caller, GET, [identifiers[0]?.id], { manager });
    });
  }

  /** Location, tag groups, users and creator stay. */
  replace(caller: Caller, eventId: number, input: EventUpdateV0Input): Promise<Json> {
    const key = { organizationId: caller.organizationId, id: String(eventId) };
    return this.writes.transaction(caller, async (manager) => {
      const { affected } = await manager.update(EventEntity, key, valuesOf(input));
      if (!affected) throw new RowNotFound();
      return this.statements.one(caller, GET, [eventId], { manager });
    });
  }

  async delete(caller: Caller, eventId: number): Promise<void> {
    await this.writes.long(caller, DELETE, [eventId]);
  }
}

const valuesOf = ({ eventName, eventType, startDate, endDate, registrationEnabled = false }: EventUpdateV0Input) => ({
  name: eventName,
  type: eventType,
  startDate,
  endDate,
  registrationEnabled,
});
