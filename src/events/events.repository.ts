import { Injectable } from '@nestjs/common';
import type { PageQuery } from '../api-schema/parameters';
import { lockOf } from '../database/locks';
import { arrivalList } from '../database/paginate';
import { type Json, type Page, Statements } from '../database/statements';
import { Writes } from '../database/writes';
import type { Caller } from '../http/caller';
import type { EventAddLeadsV0Input, EventCreateV0Input, EventUpdateV0Input } from './event.dto';
import { EVENT, EVENT_LEAD, EVENT_USER } from './event.response';

const LIST = arrivalList({ table: 'events', item: EVENT });

const GET = { name: 'event.get', text: `select ${EVENT} from events where organization_id = $1 and id = $2` };

const CREATE = {
  name: 'event.create',
  text: `
    insert into events (organization_id, name, type, start_date, end_date, registration_enabled, created_by)
    values ($1, $2, $3, $4, $5, $6, $7) returning ${EVENT}`,
};

const REPLACE = {
  name: 'event.replace',
  text: `
    update events set name = $3, type = $4, start_date = $5, end_date = $6, registration_enabled = $7
    where organization_id = $1 and id = $2 returning ${EVENT}`,
};

/**
 * Foreign keys remove its associations, assignments and activations, and empty references to them elsewhere. These are of
 * several lists: so the organization's lock comes first.
 */
const DELETE = {
  name: 'event.delete',
  text: `
    delete from events where (select ${lockOf('$1')}) is not null and organization_id = $1 and id = $2 returning ''`,
};

const parent = { column: 'event_id', exists: 'select from events where organization_id = $1 and id = $2' };
const EVENT_LEADS = arrivalList({ table: 'event_leads', item: EVENT_LEAD, parent });
const EVENT_USERS = arrivalList({ table: 'event_users', item: EVENT_USER, parent });

/**
 * All of the leads, or none. The lock on the event has overlapping requests wait for each other, so that they do not
 * deadlock. New associations stand at the end of the list in the order of the body; one that exists keeps its place.
 */
const ASSOCIATE = {
  name: 'event.leads.associate',
  text: `
    with event as (select id from events where organization_id = $1 and id = $2 for no key update),
      given as (
        select * from unnest($3::uuid[], $4::boolean[], $5::boolean[]) with ordinality as g (lead_id, registered, checked_in, n)
      ),
      known as (
        select from event
        where cardinality($3) = (select count(*) from given g join leads l on l.organization_id = $1 and l.id = g.lead_id)
      ),
      overwritten as (
        update event_leads e set registered = g.registered, checked_in = g.checked_in
        from given g, known
        where e.organization_id = $1 and e.event_id = $2 and e.lead_id = g.lead_id
          and (e.registered, e.checked_in) is distinct from (g.registered, g.checked_in)
      ),
      fresh as materialized (
        select g.*, row_number() over (order by n) - 1 as nth from given g, known
        where not exists (select from event_leads e
          where e.organization_id = $1 and e.event_id = $2 and e.lead_id = g.lead_id)
      ),
      taken as materialized (
        select list_take($1, 'event_leads/' || $2, count(*)) as start from fresh having count(*) > 0
      ),
      added as (
        insert into event_leads as e (organization_id, event_id, lead_id, position, associated_at, registered, checked_in)
        select $1, $2, lead_id, start + nth, clock_timestamp() + nth * interval '1 microsecond', registered, checked_in
        from fresh, taken
        -- another request may have added it since this one began, and had the event's lock
        on conflict (organization_id, event_id, lead_id)
          do update set registered = excluded.registered, checked_in = excluded.checked_in
      )
    select coalesce((select string_agg(${EVENT_LEAD}, ',' order by n) from given event_leads), '')
    where exists (select from known)`,
};

const DISSOCIATE = {
  name: 'event.leads.dissociate',
  text: `delete from event_leads where organization_id = $1 and event_id = $2 and lead_id = $3 returning ''`,
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
    return this.writes.one(caller, CREATE, [...valuesOf(input), input.createdByEmail]);
  }

  /** Location, tag groups, users and creator stay. */
  replace(caller: Caller, eventId: number, input: EventUpdateV0Input): Promise<Json> {
    return this.writes.one(caller, REPLACE, [eventId, ...valuesOf(input)]);
  }

  async delete(caller: Caller, eventId: number): Promise<void> {
    await this.writes.long(caller, DELETE, [eventId]);
  }

  leads(caller: Caller, eventId: number, page: PageQuery): Promise<Page> {
    return this.statements.paginate(caller, EVENT_LEADS, [eventId], page);
  }

  users(caller: Caller, eventId: number, page: PageQuery): Promise<Page> {
    return this.statements.paginate(caller, EVENT_USERS, [eventId], page);
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
    const associations = await this.writes.one(caller, ASSOCIATE, [eventId, ids, registered, checkedIn]);
    return associations === '' ? [] : [associations];
  }

  async dissociate(caller: Caller, eventId: number, leadId: string): Promise<void> {
    await this.writes.one(caller, DISSOCIATE, [eventId, leadId]);
  }
}

const valuesOf = ({ eventName, eventType, startDate, endDate, registrationEnabled = false }: EventUpdateV0Input) =>
  [eventName, eventType, startDate, endDate, registrationEnabled] as const;
