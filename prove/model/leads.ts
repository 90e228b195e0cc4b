import { type Handler, mustBe, mustBeNow } from './contract';
import { type Fields, type LeadRecord, type Tenant } from './records';
import { BAD_REQUEST, bodyOf, NOT_FOUND, ok, page, parameter, refuse, told } from './replies';
import { ACTIVITY_TYPES, isUuid, LEAD_CREATE, LEAD_PATCH } from './rules';

/** Leads and their activity events. */

const leadOf = (tenant: Tenant, id: string): LeadRecord => tenant.leads.get(id) ?? refuse(NOT_FOUND);

const activitiesOf = (tenant: Tenant, lead: string) =>
  tenant.activities.list().filter(({ associatedLead }) => associatedLead === lead);

/** A lead as the contract shows it, with what belongs to other records. */
const shownLead = (tenant: Tenant, { shown, tags, activations }: LeadRecord): Fields => ({
  ...shown,
  activations,
  tags: tags.map((id) => ({ tagOptionId: id, value: tenant.tagOption(id)?.value })),
  leadActivityEvents: activitiesOf(tenant, shown.id).map(({ id }) => id),
});

const EMPTY_COMPANY: Fields = {
  ...{ name: null, industry: null, linkedin: null, streetAddress: null, city: null, state: null },
  ...{ zip: null, country: null },
};

const EMPTY_LEAD: Fields = {
  ...{ isEnriched: false, firstName: null, lastName: null, email: null, description: null, linkedin: null },
  ...{ facebook: null, twitter: null, jobTitle: null, address: null, numberOfScans: 0, lastScannedBy: null },
  ...{ phoneNumbers: { leadProvided: [], serviceProvided: [] }, company: EMPTY_COMPANY, remoteIds: [] },
  ...{ personalEmails: null, professionalEmails: null },
};

export const listLeads: Handler = ({ tenant, paging }) =>
  page('leads', tenant.leads.list(), paging(), (lead) => shownLead(tenant, lead));

export const getLead: Handler = ({ tenant, ids: [id = ''] }) => ok(shownLead(tenant, leadOf(tenant, id)));

export const createLead: Handler = ({ state, tenant, call, answer }) => {
  const { firstName, lastName, companyName, email = null, phoneNumbers = [] } = bodyOf(call, LEAD_CREATE);
  const [id, createdAt] = [told(answer, 'results', 'id') as string, told(answer, 'results', 'createdAt') as string];
  mustBe(isUuid(id) && !state.leadIds.has(id), 'a new id', id);
  const shown = {
    ...EMPTY_LEAD,
    ...{ id, createdAt, firstName, lastName, email, company: { ...EMPTY_COMPANY, name: companyName } },
    phoneNumbers: { leadProvided: phonesOf(phoneNumbers), serviceProvided: [] },
  };
  mustBeNow(createdAt);
  state.leadIds.add(id);
  const lead = { shown, tags: [], activations: [] };
  tenant.leads.set(id, lead);
  return ok(shownLead(tenant, lead));
};

/** Unknown fields of a number are not kept. */
const phonesOf = (numbers: unknown): Fields[] =>
  ((numbers ?? []) as Fields[]).map(({ number, type, preferred }) => ({ number, type, preferred }));

const PLAIN = [
  ...['firstName', 'lastName', 'email', 'address', 'linkedin', 'facebook', 'twitter', 'description', 'jobTitle'],
];

export const patchLead: Handler = ({ tenant, ids: [id = ''], call }) => {
  const body = bodyOf(call, LEAD_PATCH);
  const lead = leadOf(tenant, id);
  const shown = { ...lead.shown };
  for (const field of PLAIN) if (body[field] !== undefined) shown[field] = body[field];
  if (body.phoneNumbers !== undefined) {
    const phoneNumbers = shown.phoneNumbers as Fields;
    shown.phoneNumbers = { ...phoneNumbers, leadProvided: phonesOf(body.phoneNumbers) };
  }
  if (body.remoteId) {
    const { id: remoteId, integrationType } = body.remoteId as Fields;
    const others = (shown.remoteIds as Fields[]).filter((each) => each.integrationType !== integrationType);
    shown.remoteIds = remoteId === null ? others : [...others, { id: remoteId, integrationType }];
  }
  tenant.leads.set(id, { ...lead, shown });
  return ok(shownLead(tenant, { ...lead, shown }));
};

export const deleteLead: Handler = ({ tenant, ids: [id = ''] }) => {
  leadOf(tenant, id);
  for (const { id: activity } of activitiesOf(tenant, id)) tenant.activities.delete(activity);
  for (const { event, shown } of tenant.associations.list()) {
    if (shown.leadId === id) tenant.associations.delete(`${event}/${id}`);
  }
  tenant.leads.delete(id);
  return ok({});
};

export const listActivities: Handler = ({ tenant, call, paging }) => {
  const wanted = paging();
  const leadId = parameter(call, 'leadId');
  const eventType = parameter(call, 'eventType');
  if (leadId !== undefined && !isUuid(leadId)) return BAD_REQUEST;
  if (eventType !== undefined && !ACTIVITY_TYPES.includes(eventType)) return BAD_REQUEST;
  const found = tenant.activities
    .list()
    .filter((activity) => leadId === undefined || activity.associatedLead === leadId.toLowerCase())
    .filter((activity) => eventType === undefined || activity.eventType === eventType);
  return page('leadActivityEvents', found, wanted, (activity) => activity);
};

export const getActivity: Handler = ({ tenant, ids: [id = ''] }) => ok(tenant.activities.get(id) ?? refuse(NOT_FOUND));
