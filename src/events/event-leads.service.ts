import { Injectable, NotFoundException } from '@nestjs/common';
import { InjectDataSource } from '@nestjs/typeorm';
import { DataSource } from 'typeorm';
import { many } from '../database/json';
import { Json, ListStatement, Page, Reads, rendered } from '../database/reads';
import { inTransaction } from '../database/transaction';
import type { Caller } from '../http/caller';
import type { PageQuery } from '../http/parameters';
import type { EventAddLeadsV0Input, EventLeadInput } from './event.dto';
import { EventEntity, EventLeadEntity } from './event.entity';
import { EVENT_LEAD } from './event.response';

const LIST: ListStatement = {
  name: 'events.leads',
  rows: `select * from event_leads where organization_id = $1 and event_id = $2 order by associated_at, lead_id`,
  render: EVENT_LEAD,
  total: `select (select count(*) from event_leads where organization_id = $1 and event_id = $2)
    from events where organization_id = $1 and id = $2`,
};

/**
 * Rows are written in the order of their keys, so that overlapping requests wait for each other instead of locking
 * each other out. Their place in the list is the order of the body: microseconds after the transaction began. An
 * association that exists keeps its place.
 */
const ASSOCIATE = `
  insert into event_leads (organization_id, event_id, lead_id, associated_at, registered, checked_in)
  select $1, $2, lead_id, now() + position * interval '1 microsecond', registered, checked_in
  from unnest($3::uuid[], $4::boolean[], $5::boolean[]) with ordinality as l (lead_id, registered, checked_in, position)
  where exists (select from leads where organization_id = $1 and id = lead_id)
  order by lead_id
  on conflict (organization_id, event_id, lead_id)
    do update set registered = excluded.registered, checked_in = excluded.checked_in
  returning lead_id`;

const ASSOCIATED = many(
  `select l.* from unnest($3::uuid[]) with ordinality as b (lead_id, position)
    join event_leads l on l.organization_id = $1 and l.event_id = $2 and l.lead_id = b.lead_id order by b.position`,
  EVENT_LEAD,
);

/** The leads of an event, with their flags. */
@Injectable()
export class EventLeadsService {
  constructor(
    private readonly reads: Reads,
    @InjectDataSource() private readonly dataSource: DataSource,
  ) {}

  list({ organizationId }: Caller, eventId: number, page: PageQuery): Promise<Page> {
    return this.reads.page(LIST, [organizationId, eventId], page);
  }

  /**
   * Associates all of the leads, or none.
   * @returns the associations, each once, in the order of first appearance
   * @throws NotFoundException when the event, or one of the leads, is not the organization's
   */
  associate({ organizationId }: Caller, eventId: number, { eventLeads }: EventAddLeadsV0Input): Promise<Json> {
    const leads = lastOfEach(eventLeads);
    const ids = leads.map((lead) => lead.leadId);
    const registered = leads.map((lead) => lead.registered ?? false);
    const checkedIn = leads.map((lead) => lead.checkedIn ?? false);
    return inTransaction(this.dataSource, async (manager) => {
      const event = { organizationId, id: String(eventId) };
      // The lock keeps the event from being deleted meanwhile; others may take it too.
      const found = await manager.findOne(EventEntity, {
        select: { id: true },
        where: event,
        lock: { mode: 'for_key_share' },
      });
      if (!found) throw new NotFoundException();
      const written = await manager.query<unknown[]>(ASSOCIATE, [organizationId, eventId, ids, registered, checkedIn]);
      if (written.length < ids.length) throw new NotFoundException();
      return rendered(manager, ASSOCIATED, [organizationId, eventId, ids]);
    });
  }

  async dissociate({ organizationId }: Caller, eventId: number, leadId: string): Promise<void> {
    const { affected } = await this.dataSource.manager.delete(EventLeadEntity, { organizationId, eventId, leadId });
    if (!affected) throw new NotFoundException();
  }
}

/** Each lead once: at its first place, with its last flags. A Map keeps the place of a key that is set again. */
const lastOfEach = (leads: EventLeadInput[]): EventLeadInput[] => [
  ...new Map(leads.map((lead) => [lead.leadId, lead])).values(),
];
