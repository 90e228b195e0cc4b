import { isDeepStrictEqual } from 'node:util';
import { type Handler, mustBe, mustBeNow } from './contract';
import type { Call } from './endpoints';
import { type Fields, type LeadRecord, type State, type Tenant } from './records';
import { BAD_REQUEST, bodyOf, invalid, NOT_FOUND, ok, page, parameter, refuse, valueAt } from './replies';
import { INTEGRATION_TYPES, isFilter, isUuid, LEAD_BATCH, LEAD_CREATE, LEAD_PATCH } from './rules';

/** Leads, found by filters, and batches of them. */

const leadOf = (tenant: Tenant, id: string): LeadRecord => tenant.leads.get(id) ?? refuse(NOT_FOUND);

const EMPTY_COMPANY: Fields = {
  name: null,
  industry: null,
  linkedin: null,
  streetAddress: null,
  city: null,
  state: null,
  zip: null,
  country: null,
};

const EMPTY_LEAD: Fields = {
  isEnriched: false,
  firstName: null,
  lastName: null,
  email: null,
  description: null,
  linkedin: null,
  facebook: null,
  twitter: null,
  jobTitle: null,
  address: null,
  numberOfScans: 0,
  lastScannedBy: null,
  phoneNumbers: { leadProvided: [], serviceProvided: [] },
  company: EMPTY_COMPANY,
  remoteIds: [],
  personalEmails: null,
  professionalEmails: null,
  activations: [],
  tags: [],
  leadActivityEvents: [],
};

/** Whether a lead is one that a query, or an entry of a batch, looks for. */
const hasEmail = ({ shown }: LeadRecord, email: unknown): boolean =>
  String(shown.email ?? '').toLowerCase() === String(email).toLowerCase();
const hasRemoteId = ({ shown }: LeadRecord, id: unknown, integrationType: unknown): boolean =>
  (shown.remoteIds as Fields[]).some((each) => each.id === id && each.integrationType === integrationType);

/** @throws Refused when a filter is malformed, or half of one is missing */
function filterOf(call: Call): (lead: LeadRecord) => boolean {
  const [email, id, type] = ['email', 'remoteId', 'integrationType'].map((name) => parameter(call, name));
  const isWrong = [email, id].some((value) => value !== undefined && !isFilter(value));
  if (isWrong || (type !== undefined && !INTEGRATION_TYPES.includes(type))) refuse(BAD_REQUEST);
  if ((id === undefined) !== (type === undefined)) refuse(BAD_REQUEST);
  return (lead) =>
    (email === undefined || hasEmail(lead, email.replaceAll(' ', '+'))) &&
    (id === undefined || hasRemoteId(lead, id, type));
}

export const listLeads: Handler = ({ tenant, call, paging }) => {
  const found = tenant.leads.list().filter(filterOf(call));
  return page('leads', found, paging(), ({ shown }) => shown);
};

export const getLead: Handler = ({ tenant, ids: [id = ''] }) => ok(leadOf(tenant, id).shown);

/** A lead of a body that POST takes. @param made the lead in the answer, of which the id and the moment are taken */
function newLead(state: State, tenant: Tenant, body: Fields, made: unknown): LeadRecord {
  const { firstName, lastName, companyName, email = null, phoneNumbers = [] } = body;
  const [id, createdAt] = [valueAt(made, 'id') as string, valueAt(made, 'createdAt') as string];
  mustBe(isUuid(id) && !state.leadIds.has(id), 'a new id', id);
  const shown = {
    ...EMPTY_LEAD,
    id,
    createdAt,
    firstName,
    lastName,
    email,
    company: { ...EMPTY_COMPANY, name: companyName },
    phoneNumbers: { leadProvided: phonesOf(phoneNumbers), serviceProvided: [] },
  };
  mustBeNow(createdAt);
  state.leadIds.add(id);
  const lead = { shown };
  tenant.leads.set(id, lead);
  return lead;
}

export const createLead: Handler = ({ state, tenant, call, answer }) =>
  ok(newLead(state, tenant, bodyOf(call, LEAD_CREATE), valueAt(answer, 'results')).shown);

/** Unknown fields of a number are not kept. */
const phonesOf = (numbers: unknown): Fields[] =>
  ((numbers ?? []) as Fields[]).map(({ number, type, preferred }) => ({ number, type, preferred }));

const PLAIN = [
  'firstName',
  'lastName',
  'email',
  'address',
  'linkedin',
  'facebook',
  'twitter',
  'description',
  'jobTitle',
];

function patch(tenant: Tenant, lead: LeadRecord, body: Fields): LeadRecord {
  const shown = { ...lead.shown };
  for (const field of PLAIN) if (body[field] !== undefined) shown[field] = body[field];
  if (body.phoneNumbers !== undefined) {
    const phoneNumbers = shown.phoneNumbers as Fields;
    shown.phoneNumbers = { ...phoneNumbers, leadProvided: phonesOf(body.phoneNumbers) };
  }
  if (body.remoteId) {
    const { id: remoteId, integrationType } = body.remoteId as Fields;
    const ids = new Map((shown.remoteIds as Fields[]).map((each) => [each.integrationType, each]));
    if (remoteId === null) ids.delete(integrationType);
    else ids.set(integrationType, { id: remoteId, integrationType });
    shown.remoteIds = [...ids.values()];
  }
  const { profilePicture = lead.profilePicture ?? null } = body;
  const patched = { ...lead, shown, profilePicture };
  tenant.leads.set(shown.id, patched);
  return patched;
}

export const patchLead: Handler = ({ tenant, ids: [id = ''], call }) => {
  const body = bodyOf(call, LEAD_PATCH);
  return ok(patch(tenant, leadOf(tenant, id), body).shown);
};

const REQUIRED = ['createdByEmail', 'firstName', 'lastName', 'companyName'];

/** The leads that the entries of a batch update, undefined where one creates. @throws Refused when the batch may not be */
function targetsOf(tenant: Tenant, matchBy: string, entries: Fields[]): (LeadRecord | undefined)[] {
  const seen = new Set<string>();
  return entries.map((entry, n) => {
    const { id, integrationType } = (entry.remoteId ?? {}) as Fields;
    const value = matchBy === 'email' ? String(entry.email).toLowerCase() : JSON.stringify([integrationType, id]);
    if (matchBy !== 'none' && seen.has(value)) refuse(invalid(`leads[${n}].${matchBy}`));
    seen.add(value);
    const found = tenant.leads
      .list()
      .find((lead) => (matchBy === 'email' ? hasEmail(lead, entry.email) : hasRemoteId(lead, id, integrationType)));
    if (matchBy !== 'none' && found) return found;
    const missing = REQUIRED.find((field) => String(entry[field] ?? '').trim() === '');
    return missing === undefined ? undefined : refuse(invalid(`leads[${n}].${missing}`));
  });
}

export const upsertLeads: Handler = ({ state, tenant, call, answer }) => {
  const { matchBy, leads } = bodyOf(call, LEAD_BATCH) as { matchBy: string; leads: Fields[] };
  const targets = targetsOf(tenant, matchBy, leads);
  const made = valueAt(answer, 'results', 'leads');
  const written = leads.map((entry, n): string => {
    const before = targets[n] ?? newLead(state, tenant, entry, valueAt(Array.isArray(made) ? made[n] : made, 'lead'));
    return patch(tenant, leadOf(tenant, before.shown.id), entry).shown.id;
  });
  const outcomes = written.map((id, n) => {
    const [before, after] = [targets[n], leadOf(tenant, id)];
    const isSame = before && isDeepStrictEqual({ ...before, profilePicture: before.profilePicture ?? null }, after);
    return { outcome: isSame ? 'unchanged' : before ? 'updated' : 'created', lead: after.shown };
  });
  return ok({ leads: outcomes });
};

export const deleteLead: Handler = ({ tenant, ids: [id = ''] }) => {
  leadOf(tenant, id);
  tenant.leads.delete(id);
  return ok({});
};
