import { Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import type { PageQuery } from '../api-schema/parameters';
import { LONG_STATEMENT_TIMEOUT_MS } from '../database/limits';
import { renamed } from '../database/rendering';
import { type Json, type Page, Statements } from '../database/statements';
import { Writes } from '../database/writes';
import { RowNotFound } from '../errors/exceptions';
import type { Caller } from '../http/caller';
import type { EventAddLeadsV0Input, EventCreateV0Input, EventUpdateV0Input } from './event.dto';
import { EventEntity } from './event.entity';
import * as SQL from './events.sql';

@Injectable()
export class EventsService {
  constructor(
    private readonly statements: Statements,
    private readonly writes: Writes,
  ) {}

  list(caller: Caller, page: PageQuery): Promise<Page> {
    return this.statements.paginate(caller, SQL.LIST_EVENTS, [], page);
  }

  /** @throws RowNotFound */
  get(caller: Caller, eventId: number): Promise<Json> {
    return this.statements.one(caller, SQL.GET_EVENT, [eventId]);
  }

  create(caller: Caller, input: EventCreateV0Input): Promise<Json> {
    return this.writes.transaction(caller, async (manager) => {
      const event = { ...propertiesOf(input), organizationId: caller.organizationId };
      const { identifiers } = await manager.insert(EventEntity, event);
      return this.statements.one(caller, SQL.GET_EVENT, [identifiers[0]?.id], { manager });
    });
  }

  /** Location, tag groups, users and creator stay. @throws RowNotFound */
  replace(caller: Caller, eventId: number, input: EventUpdateV0Input): Promise<Json> {
    return this.writes.transaction(caller, async (manager) => {
      const where = { organizationId: caller.organizationId, id: String(eventId) };
      const { affected } = await manager.update(EventEntity, where, propertiesOf(input));
      if (!affected) throw new RowNotFound();
      return this.statements.one(caller, SQL.GET_EVENT, [eventId], { manager });
    });
  }

  /** @throws RowNotFound */
  async delete(caller: Caller, eventId: number): Promise<void> {
    const work = (manager: EntityManager, timeoutMs?: number) =>
      this.statements.one(caller, SQL.DELETE, [eventId], { manager, timeoutMs });
    await this.writes.transaction(caller, work, LONG_STATEMENT_TIMEOUT_MS);
  }

  /** @throws RowNotFound */
  leads(caller: Caller, eventId: number, page: PageQuery): Promise<Page> {
    return this.statements.paginate(caller, SQL.EVENT_LEADS, [eventId], page);
  }

  /** @throws RowNotFound */
  users(caller: Caller, eventId: number, page: PageQuery): Promise<Page> {
    return this.statements.paginate(caller, SQL.EVENT_USERS, [eventId], page);
  }

  /**
   * A lead that stands in the body twice keeps its first place and has its last flags, as a Map keeps them.
   * @returns the JSON texts of the associations in the order of the body, in one
   * @throws RowNotFound when the event, or one of the leads, is not the organization's
   */
  async associate(caller: Caller, eventId: number, { eventLeads }: EventAddLeadsV0Input): Promise<Json[]> {
    const leads = [...new Map(eventLeads.map((lead) => [lead.leadId.toLowerCase(), lead])).values()];
    const ids = leads.map(({ leadId }) => leadId);
    const registered = leads.map((lead) => lead.registered ?? false);
    const checkedIn = leads.map((lead) => lead.checkedIn ?? false);
    const associations = await this.writes.one(caller, SQL.ASSOCIATE, [eventId, ids, registered, checkedIn]);
    return associations === '' ? [] : [associations];
  }

  /** @throws RowNotFound */
  async dissociate(caller: Caller, eventId: number, leadId: string): Promise<void> {
    await this.writes.one(caller, SQL.DISSOCIATE, [eventId, leadId]);
  }
}

/** The property of each field of a body: a field that is missing here does not compile. */
const PROPERTIES: Record<keyof EventCreateV0Input, keyof EventEntity> = {
  eventName: 'name',
  eventType: 'type',
  startDate: 'startDate',
  endDate: 'endDate',
  createdByEmail: 'createdBy',
  registrationEnabled: 'registrationEnabled',
};

/** An omitted `registrationEnabled` is false, also of an event that is replaced. */
const propertiesOf = (input: EventUpdateV0Input): Partial<EventEntity> =>
  renamed({ registrationEnabled: false, ...input }, PROPERTIES);
