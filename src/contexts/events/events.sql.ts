import { organizationLock } from '../../data/database/locks';
import { arrivalList } from '../../data/database/paginate';
import { EventEntity, EventLeadEntity, EventUserEntity } from './event.entity';
import { EVENT_JSON, EVENT_LEAD_JSON, EVENT_USER_JSON } from './event.response';

export const LIST_EVENTS = arrivalList({ entity: EventEntity, rowJson: EVENT_JSON });

export const GET_EVENT = {
  name: 'event.get',
  text: `select ${EVENT_JSON} from events where organization_id = $1 and id = $2`,
};

/**
 * Foreign keys remove its associations, assignments and activations, and clear references elsewhere. These rows are in
 * several lists, so the organization is locked first.
 */
export const DELETE_EVENT = {
  name: 'event.delete',
  text: `
    delete from events where (select ${organizationLock('$1')}) is not null and organization_id = $1 and id = $2`,
};

const parentExists = 'select from events where organization_id = $1 and id = $2';
export const LIST_EVENT_LEADS = arrivalList({ entity: EventLeadEntity, rowJson: EVENT_LEAD_JSON, parentExists });
export const LIST_EVENT_USERS = arrivalList({ entity: EventUserEntity, rowJson: EVENT_USER_JSON, parentExists });

/**
 * Associates all of the leads or none. The lock on the event makes overlapping requests wait for each other, so that they do
 * not deadlock. New associations are appended to the list in the order of the body; existing ones keep their position.
 */
export const ASSOCIATE_LEADS = {
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
        where e.organization_id = $1 and e.event_id = $2 and e.lead_id = any ($3) and e.lead_id = g.lead_id
          and (e.registered, e.checked_in) is distinct from (g.registered, g.checked_in)
      ),
      fresh as materialized (
        select g.*, row_number() over (order by n) - 1 as nth from given g, known
        where not exists (select from event_leads e
          where e.organization_id = $1 and e.event_id = $2 and e.lead_id = any ($3) and e.lead_id = g.lead_id)
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
    select '[' || coalesce((select string_agg(${EVENT_LEAD_JSON}, ',' order by n) from given event_leads), '') || ']'
    where exists (select from known)`,
};

/** The zero-based index of the first of the leads `$2` that does not belong to the organization. */
export const FIND_UNKNOWN_LEAD = {
  name: 'event.leads.findUnknown',
  text: `
    select (n - 1)::text from unnest($2::uuid[]) with ordinality as given (lead_id, n)
    where not exists (select from leads l where l.organization_id = $1 and l.id = given.lead_id)
    order by n limit 1`,
};

export const DISSOCIATE_LEAD = {
  name: 'event.leads.dissociate',
  text: `delete from event_leads where organization_id = $1 and event_id = $2 and lead_id = $3`,
};
