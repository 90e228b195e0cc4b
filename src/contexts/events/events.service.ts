import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { Repository } from 'typeorm';
import type { PageQuery } from '../../fields/page-query';
import { type JsonText, type Page, Statements } from '../../data/database/statements';
import { Writes } from '../../data/database/writes';
import { RowNotFound } from '../../errors/exceptions';
import type { Caller } from '../../http/pipeline/caller';
import type { EventAddLeadsV0Input, EventCreateV0Input, EventUpdateV0Input } from './event.dto';
import { EventEntity } from './event.entity';
import * as SQL from './events.sql';

@Injectable()
export class EventsService {
  constructor(
    @InjectRepository(EventEntity) private readonly events: Repository<EventEntity>,
    private readonly statements: Statements,
    private readonly writes: Writes,
  ) {}

  list(caller: Caller, page: PageQuery): Promise<Page> {
    return this.statements.paginate(caller, SQL.LIST_EVENTS, [], page);
  }

  /** @throws RowNotFound */
  get(caller: Caller, eventId: number): Promise<JsonText> {
    return this.statements.selectOne(caller, SQL.GET_EVENT, [eventId]);
  }

  create(caller: Caller, input: EventCreateV0Input): Promise<JsonText> {
    return this.writes.transaction(caller, async (manager) => {
      const event = { ...propertiesOf(input), organizationId: caller.organizationId };
      const { identifiers } = await manager.withRepository(this.events).insert(event);
      return this.statements.selectOne(caller, SQL.GET_EVENT, [identifiers[0]?.id]);
    });
  }

  /** Location, tag groups, users and creator stay. @throws RowNotFound */
  replace(caller: Caller, eventId: number, input: EventUpdateV0Input): Promise<JsonText> {
    return this.writes.transaction(caller, async (manager) => {
      const where = { organizationId: caller.organizationId, id: String(eventId) };
      const { affected } = await manager.withRepository(this.events).update(where, propertiesOf(input));
      if (!affected) throw new RowNotFound();
      return this.statements.selectOne(caller, SQL.GET_EVENT, [eventId]);
    });
  }

  /** @throws RowNotFound */
  delete(caller: Caller, eventId: number): Promise<void> {
    return this.writes.deleteLong(caller, SQL.DELETE_EVENT, [eventId]);
  }

  /** @throws RowNotFound */
  listLeads(caller: Caller, eventId: number, page: PageQuery): Promise<Page> {
    return this.statements.paginate(caller, SQL.LIST_EVENT_LEADS, [eventId], page);
  }

  /** @throws RowNotFound */
  listUsers(caller: Caller, eventId: number, page: PageQuery): Promise<Page> {
    return this.statements.paginate(caller, SQL.LIST_EVENT_USERS, [eventId], page);
  }

  /**
   * If a lead appears twice in the body, it keeps its first position and takes the flags of its last entry.
   * @returns the associations in the order of the body, as a JSON array
   * @throws RowNotFound when the event, or one of the leads, is not the organization's
   */
  async associate(caller: Caller, eventId: number, { eventLeads }: EventAddLeadsV0Input): Promise<JsonText> {
    const leads = [...new Map(eventLeads.map((lead) => [lead.leadId.toLowerCase(), lead])).values()];
    const ids = leads.map(({ leadId }) => leadId);
    const registered = leads.map((lead) => lead.registered ?? false);
    const checkedIn = leads.map((lead) => lead.checkedIn ?? false);
    const json = await this.writes.writeIfAny(caller, SQL.ASSOCIATE_LEADS, [eventId, ids, registered, checkedIn]);
    if (json !== undefined) return json;
    await this.requireEvent(caller, eventId);
    const sentIds = eventLeads.map(({ leadId }) => leadId);
    const [unknown] = await this.statements.selectJson(caller, SQL.FIND_UNKNOWN_LEAD, [sentIds]);
    throw new RowNotFound(unknown === undefined ? 'body eventLeads' : `body eventLeads[${unknown.text}].leadId`);
  }

  /** @throws RowNotFound */
  async dissociate(caller: Caller, eventId: number, leadId: string): Promise<void> {
    const affected = await this.writes.writeAndCount(caller, SQL.DISSOCIATE_LEAD, [eventId, leadId]);
    if (affected > 0) return;
    await this.requireEvent(caller, eventId);
    throw new RowNotFound('path leadId');
  }

  /**
   * If a request refers to two records, the error names the event when that is the one that does not exist.
   * @throws RowNotFound
   */
  private async requireEvent(caller: Caller, eventId: number): Promise<void> {
    const found = await this.statements.selectJson(caller, SQL.GET_EVENT, [eventId]);
    if (found.length === 0) throw new RowNotFound('path eventId');
  }
}

/** An omitted `registrationEnabled` is false, even when an event is replaced. What is undefined is not stored. */
const propertiesOf = ({
  eventName: name,
  eventType: type,
  createdByEmail: createdBy,
  ...others
}: EventUpdateV0Input & Partial<EventCreateV0Input>): Partial<EventEntity> => ({
  registrationEnabled: false,
  ...others,
  name,
  type,
  createdBy,
});
