import { Injectable } from '@nestjs/common';
import { NOTHING, one } from '../database/json';
import { LISTS } from '../database/lists';
import { lockOf } from '../database/locks';
import { tracked } from '../database/listings';
import { Json, Page, Statements } from '../database/statements';
import { Writes } from '../database/writes';
import type { Caller } from '../http/caller';
import type { PageQuery } from '../api-schema/parameters';
import type { EventCreateV0Input, EventUpdateV0Input } from './event.dto';
import { EVENT } from './event.response';

const LIST = tracked(LISTS.events, EVENT);

const ONE = { name: 'event', text: one('select * from events where organization_id = $1 and id = $2', EVENT) };

const CREATE = {
  name: 'event.create',
  text: one(
    `insert into events (organization_id, created_by, name, type, start_date, end_date, registration_enabled)
    values ($1, $2, $3, $4, $5, $6, $7) returning *`,
    EVENT,
  ),
};

/** Replaces what the body can carry; location, tag groups, users and creator stay. */
const REPLACE = {
  name: 'event.replace',
  text: one(
    `update events set name = $3, type = $4, start_date = $5, end_date = $6, registration_enabled = $7
    where organization_id = $1 and id = $2 returning *`,
    EVENT,
  ),
};

/**
 * Foreign keys remove its associations, assignments and activations, and empty references to them elsewhere. They are in
 * several lists: so the organization's lock comes first.
 */
const DELETE = {
  name: 'event.delete',
  text: one(
    `delete from events where (select ${lockOf('$1')}) is not null and organization_id = $1 and id = $2 returning id`,
    NOTHING,
  ),
};

@Injectable()
export class EventsService {
  constructor(
    private readonly statements: Statements,
    private readonly writes: Writes,
  ) {}

  list(caller: Caller, page: PageQuery): Promise<Page> {
    return this.statements.page(caller, LIST, [], page);
  }

  get(caller: Caller, eventId: number): Promise<Json> {
    return this.statements.one(caller, ONE, [eventId]);
  }

  create(caller: Caller, { createdByEmail, ...input }: EventCreateV0Input): Promise<Json> {
    const values = [createdByEmail, ...columnsOf(input)];
    return this.writes.one(caller, CREATE, values);
  }

  replace(caller: Caller, eventId: number, input: EventUpdateV0Input): Promise<Json> {
    const values = [eventId, ...columnsOf(input)];
    return this.writes.one(caller, REPLACE, values);
  }

  delete(caller: Caller, eventId: number): Promise<Json> {
    return this.writes.long(caller, DELETE, [eventId]);
  }
}

const columnsOf = ({ eventName, eventType, startDate, endDate, registrationEnabled = false }: EventUpdateV0Input) => [
  eventName,
  eventType,
  startDate,
  endDate,
  registrationEnabled,
];
