import { type Handler, mustBe, mustBeNow } from './contract';
import { type EventLead, type EventRecord, type Tenant } from './records';
import { bodyOf, NOT_FOUND, ok, page, refuse, valueAt } from './replies';
import { EVENT_ADD_LEADS, EVENT_CREATE, EVENT_UPDATE } from './rules';

/** Events, the leads associated with them, and their users. */

const eventOf = (tenant: Tenant, id: string): EventRecord => tenant.events.get(Number(id)) ?? refuse(NOT_FOUND);

export const listEvents: Handler = ({ tenant, paging }) =>
  page('events', tenant.events.list(), paging(), ({ shown }) => shown);

export const getEvent: Handler = ({ tenant, ids: [id = ''] }) => ok(eventOf(tenant, id).shown);

export const createEvent: Handler = ({ state, tenant, call, answer }) => {
  const { eventName, eventType, startDate, endDate, registrationEnabled = false } = bodyOf(call, EVENT_CREATE);
  const [id, createdAt] = [
    valueAt(answer, 'results', 'id') as number,
    valueAt(answer, 'results', 'createdAt') as string,
  ];
  mustBe(Number.isSafeInteger(id) && id > 0 && !state.eventIds.has(id), 'a new id', id);
  const shown = {
    id,
    name: eventName,
    type: eventType,
    registrationEnabled,
    createdAt,
    startDate,
    endDate,
    location: null,
    tagGroups: [],
  };
  mustBeNow(createdAt);
  state.eventIds.add(id);
  tenant.events.set(id, { shown, users: [] });
  return ok(shown);
};

export const replaceEvent: Handler = ({ tenant, ids: [id = ''], call }) => {
  const { eventName, eventType, startDate, endDate, registrationEnabled = false } = bodyOf(call, EVENT_UPDATE);
  const event = eventOf(tenant, id);
  const shown = { ...event.shown, name: eventName, type: eventType, startDate, endDate, registrationEnabled };
  tenant.events.set(event.shown.id, { ...event, shown });
  return ok(shown);
};

export const deleteEvent: Handler = ({ tenant, ids: [id = ''] }) => {
  const event = eventOf(tenant, id).shown.id;
  tenant.events.delete(event);
  for (const { shown } of tenant.associationsOf(event)) tenant.associations.delete(`${event}/${shown.leadId}`);
  const gone = new Set(tenant.activations.list().flatMap((each) => (each.eventId === event ? [each.id] : [])));
  for (const activation of gone) tenant.activations.delete(activation);
  for (const lead of tenant.leads.list()) {
    const activations = lead.activations.filter(({ activationId }) => !gone.has(activationId));
    if (activations.length < lead.activations.length) tenant.leads.set(lead.shown.id, { ...lead, activations });
  }
  for (const activity of tenant.activities.list()) {
    const associatedEvent = activity.associatedEvent === event ? null : activity.associatedEvent;
    const { associatedActivation: before } = activity;
    const associatedActivation = before !== null && gone.has(before) ? null : before;
    tenant.activities.set(activity.id, { ...activity, associatedEvent, associatedActivation });
  }
  return ok({});
};

export const listEventLeads: Handler = ({ tenant, ids: [id = ''], paging }) => {
  const wanted = paging();
  const event = eventOf(tenant, id).shown.id;
  return page('eventLeads', tenant.associationsOf(event), wanted, ({ shown }) => shown);
};

export const associateEventLeads: Handler = ({ tenant, ids: [id = ''], call }) => {
  const { eventLeads } = bodyOf(call, EVENT_ADD_LEADS) as { eventLeads: (Partial<EventLead> & { leadId: string })[] };
  const event = eventOf(tenant, id).shown.id;
  const associated = eventLeads.map(({ leadId, registered = false, checkedIn = false }) => ({
    leadId: leadId.toLowerCase(),
    registered,
    checkedIn,
  }));
  if (associated.some(({ leadId }) => !tenant.leads.has(leadId))) return NOT_FOUND;
  // A Map keeps the first place of a key, and its last value.
  const each = [...new Map(associated.map((lead) => [lead.leadId, lead])).values()];
  for (const shown of each) tenant.associate(event, shown);
  return ok({ eventLeads: each });
};

export const dissociateEventLead: Handler = ({ tenant, ids: [event = '', lead = ''] }) => {
  const key = `${Number(event)}/${lead}`;
  if (!tenant.associations.has(key)) return NOT_FOUND;
  tenant.associations.delete(key);
  return ok({});
};

/** Answers show the ids of users, which then stay. */
export const listEventUsers: Handler = ({ tenant, ids: [id = ''], paging, answer }) => {
  const wanted = paging();
  const event = eventOf(tenant, id);
  const seen = valueAt(answer, 'results', 'users');
  for (const { id: userId, email } of (Array.isArray(seen) ? seen : []) as { id: number; email: string }[]) {
    const user = tenant.users.get(email);
    if (user && user.id === undefined) {
      const known = tenant.users.list().some((each) => each.id === userId);
      mustBe(Number.isSafeInteger(userId) && !known, 'the id of one user', userId);
      tenant.users.set(email, { ...user, id: userId });
    }
  }
  const users = tenant.users.list().filter(({ email }) => event.users.includes(email));
  return page('users', users, wanted, (user) => ({
    id: user.id,
    email: user.email,
    firstName: user.firstName,
    lastName: user.lastName,
  }));
};
