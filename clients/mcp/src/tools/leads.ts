import type { CallOptions, Lanyard, LeadV0Response } from '../../../typescript/src';
import { isScopeError } from '../errors';
import { nextPage, type PageInput, pageQuery, pageSummary } from '../pages';
import type { Answer } from '../result';
import { bodySchema, idSchema, objectSchema, PAGE_CURSOR, querySchema } from '../schemas';
import { defineTool, READS } from '../tool';

/** Fields of leads that a visitor may have typed. */
export const LEAD_FIELDS = 'all texts of leads (names, email, company, jobTitle, address, description, profiles)';

/** At most this many activations and events of a lead are looked up, because each costs a token. */
const MAX_LOOKUPS = 5;

const MAX_ACTIVITY_EVENTS = 10;

/** A lead without the IDs of its activity, which get_lead shows. */
export function leadRecord({ leadActivityEvents: _, ...lead }: LeadV0Response): object {
  return lead;
}

interface FindLeadsInput extends PageInput {
  email?: string;
  remoteId?: NonNullable<LeadV0Response['remoteIds']>[number];
}

export const findLeads = defineTool<FindLeadsInput>({
  name: 'find_leads',
  title: 'Find leads',
  description:
    'Finds leads by email, ignoring letter case, or by their ID in another system. Without both, lists all leads by arrival. Names cannot be searched.',
  input: objectSchema({
    email: querySchema('email'),
    remoteId: bodySchema('RemoteId', 'ID in another system, such as a CRM'),
    cursor: PAGE_CURSOR,
  }),
  scopes: ['read', 'all'],
  annotations: READS,
  async run(lanyard, { email, remoteId, ...page }, options) {
    const query = {
      ...pageQuery(page),
      email,
      remoteId: remoteId?.id,
      integrationType: remoteId?.integrationType,
    };
    const { leads, total } = await lanyard.get('/leads', { ...options, params: { query } });
    return {
      summary: pageSummary('leads', query, leads.length, total),
      records: leads.map(leadRecord),
      untrusted: LEAD_FIELDS,
      next: nextPage('find_leads', query, total),
    };
  },
});

export const getLead = defineTool<{ leadId: string }>({
  name: 'get_lead',
  title: 'Get a lead',
  description:
    'Gets one lead, its latest activity, and the activations and events that the two name. For the leads of an event, use list_events.',
  input: objectSchema({ leadId: idSchema('leadId') }, ['leadId']),
  scopes: ['read', 'all', 'capture'],
  annotations: READS,
  async run(lanyard, { leadId }, options) {
    const lead = await lanyard.get('/leads/{leadId}', { ...options, params: { path: { leadId } } });
    const activity = await findActivity(lanyard, lead, options);
    const activationIds = unique([
      ...lead.activations.map(({ activationId }) => activationId),
      ...activity.map(({ associatedActivation }) => associatedActivation),
    ]);
    const activations = await lookUp(activationIds, (activationId) =>
      lanyard.get('/activations/{activationId}', { ...options, params: { path: { activationId } } }),
    );
    const eventIds = unique([
      ...activations.map(({ eventId }) => eventId),
      ...activity.map(({ associatedEvent }) => associatedEvent),
    ]);
    const events = await lookUp(eventIds, (eventId) =>
      lanyard.get('/events/{eventId}', { ...options, params: { path: { eventId } } }),
    );
    return {
      summary: leadSummary(lead, activity.length, [activationIds.length, eventIds.length]),
      records: [
        { lead: leadRecord(lead) },
        ...activity.map((activityEvent) => ({ activityEvent })),
        ...activations.map(({ id, name, type, eventId }) => ({ activation: { id, name, type, eventId } })),
        ...events.map(({ id, name, startDate, endDate }) => ({ event: { id, name, startDate, endDate } })),
      ],
      untrusted: `${LEAD_FIELDS}, eventNotes of activity`,
    } satisfies Answer;
  },
});

function leadSummary({ leadActivityEvents }: LeadV0Response, shown: number, lookups: number[]): string {
  const sentences = [`The lead, and ${shown} of its ${leadActivityEvents.length} activity events.`];
  if (lookups.some((count) => count > MAX_LOOKUPS)) {
    sentences.push(`At most ${MAX_LOOKUPS} activations and ${MAX_LOOKUPS} events are shown.`);
  }
  return sentences.join(' ');
}

/** The activity of a lead, which a key that may only capture does not see. */
async function findActivity(lanyard: Lanyard, { id, leadActivityEvents }: LeadV0Response, options: CallOptions) {
  if (leadActivityEvents.length === 0) return [];
  // The list is ordered by arrival. The latest are on its last page and, unless that is full, on the one before.
  const last = Math.floor((leadActivityEvents.length - 1) / MAX_ACTIVITY_EVENTS);
  const isFull = leadActivityEvents.length % MAX_ACTIVITY_EVENTS === 0;
  const offsets = last === 0 || isFull ? [last] : [last - 1, last];
  try {
    const pages = await Promise.all(
      offsets.map((offset) => {
        const query = { leadId: id, limit: MAX_ACTIVITY_EVENTS, offset };
        return lanyard.get('/leadActivityEvents', { ...options, params: { query } });
      }),
    );
    return pages.flatMap((page) => page.leadActivityEvents).slice(-MAX_ACTIVITY_EVENTS);
  } catch (error) {
    if (isScopeError(error)) return [];
    throw error;
  }
}

function unique<T>(values: (T | null | undefined)[]): T[] {
  return [...new Set(values)].filter((value): value is T & {} => value !== null && value !== undefined);
}

const lookUp = <Id, Found>(ids: Id[], get: (id: Id) => Promise<Found>): Promise<Found[]> =>
  Promise.all(ids.slice(0, MAX_LOOKUPS).map(get));
