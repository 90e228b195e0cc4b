import type { CallOptions, Lanyard, LeadV0Response } from '../../../typescript/src';
import { isScopeError } from '../errors';
import { nextPage, type PageInput, pageQuery, pageSummary } from '../pages';
import type { Answer } from '../result';
import { bodySchema, idSchema, objectSchema, PAGE_CURSOR, querySchema } from '../schemas';
import { defineTool, READS } from '../tool';

/** Fields of leads that a visitor may have typed. */
export const LEAD_FIELDS = 'all texts of leads (names, email, company, jobTitle, address, description, profiles)';

/** At most this many activations, and events beside its own, of a lead are looked up, because each costs a token. */
const MAX_LOOKUPS = 5;

const MAX_ACTIVITY_EVENTS = 10;

/** A lead without the IDs of its activity, which get_lead shows. */
export function leadRecord({ leadActivityEvents: _, ...lead }: LeadV0Response): object {
  return lead;
}

interface FindLeadsInput extends PageInput {
  q?: string;
  email?: string;
  hasEmail?: boolean;
  createdSince?: string;
  eventId?: number;
  remoteId?: NonNullable<LeadV0Response['remoteIds']>[number];
}

export const findLeads = defineTool<FindLeadsInput>({
  name: 'find_leads',
  title: 'Find leads',
  description:
    'Finds leads, by arrival. All filters must hold; without any, lists all. Do not page to count: the total is in the first answer.',
  input: objectSchema({
    q: {
      type: 'string',
      maxLength: 100,
      description: 'beginnings of words of name, company, email: ada ro',
    },
    email: querySchema('email', 'whole'),
    hasEmail: querySchema('hasEmail'),
    createdSince: { type: 'string', format: 'date-time' },
    eventId: idSchema('eventId'),
    remoteId: bodySchema('RemoteId', 'ID in another system, such as a CRM'),
    cursor: PAGE_CURSOR,
  }),
  scopes: ['read', 'all'],
  annotations: READS,
  async run(lanyard, { remoteId, cursor, ...filters }, options) {
    const query = {
      ...pageQuery({ cursor }),
      ...filters,
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

/** Texts of leads that may be longer than an answer. */
const LONG_TEXTS = ['description', 'address', 'personalEmails', 'professionalEmails'] as const;
type LongText = (typeof LONG_TEXTS)[number];

/** Characters of a long text in one answer. */
const PART_LENGTH = 6_000;

interface GetLeadInput {
  leadId: string;
  field?: LongText;
  from?: number;
}

export const getLead = defineTool<GetLeadInput>({
  name: 'get_lead',
  title: 'Get a lead',
  description:
    'Gets a lead with its events, latest activity and activations, in up to 15 requests. With field: that text from a character on, if it was cut.',
  input: objectSchema(
    {
      leadId: idSchema('leadId'),
      field: { type: 'string', enum: [...LONG_TEXTS] },
      from: { type: 'integer', minimum: 0, maximum: 65_535 },
    },
    ['leadId'],
  ),
  forCapture: {
    description: `Gets a lead that this key created in the last 24 hours, if nothing else has changed it.`,
  },
  scopes: ['read', 'all', 'capture'],
  annotations: READS,
  async run(lanyard, { leadId, field, from = 0 }, options) {
    const params = { path: { leadId } };
    const lead = await lanyard.get('/leads/{leadId}', { ...options, params });
    if (field !== undefined) return textPart(lead, field, from);
    const activity = await findActivity(lanyard, lead, options);
    const activationIds = unique([
      ...lead.activations.map(({ activationId }) => activationId),
      ...activity.map(({ associatedActivation }) => associatedActivation),
    ]);
    const activations = await lookUp(activationIds, (activationId) =>
      lanyard.get('/activations/{activationId}', { ...options, params: { path: { activationId } } }),
    );
    const { events, total } = options.isCapture
      ? { events: [], total: 0 }
      : await lanyard.get('/leads/{leadId}/events', {
          ...options,
          params: { ...params, query: { limit: MAX_EVENTS } },
        });
    const named = new Set(events.map(({ eventId }) => eventId));
    const others = unique([
      ...activations.map(({ eventId }) => eventId),
      ...activity.map(({ associatedEvent }) => associatedEvent),
    ]).filter((eventId) => !named.has(eventId));
    const otherEvents = await lookUp(others, (eventId) =>
      lanyard.get('/events/{eventId}', { ...options, params: { path: { eventId } } }),
    );
    const sentences = [
      leadSummary(lead, activity.length, activationIds.length),
      ...(options.isCapture ? ['This key does not see its events.'] : [`${events.length} of its ${total} events.`]),
    ];
    return {
      summary: sentences.join(' '),
      records: [
        { lead: leadRecord(lead) },
        ...events.map((event) => ({ event })),
        ...otherEvents.map(({ id, name, startDate, endDate }) => ({ otherEvent: { id, name, startDate, endDate } })),
        ...activity.map((activityEvent) => ({ activityEvent })),
        ...activations.map(({ id, name, type, eventId }) => ({ activation: { id, name, type, eventId } })),
      ],
      untrusted: `${LEAD_FIELDS}, eventNotes of activity`,
    } satisfies Answer;
  },
});

const MAX_EVENTS = 20;

/** A part of a text of a lead that is too long for one answer. */
function textPart(lead: LeadV0Response, field: LongText, from: number): Answer {
  const text = lead[field] ?? '';
  const end = from + PART_LENGTH;
  return {
    summary: `Characters ${from} to ${Math.min(end, text.length)} of the ${text.length} of ${field}.`,
    records: [{ [field]: text.slice(from, end) }],
    untrusted: field,
    next: end < text.length ? `To read on, call get_lead with field "${field}" and from ${end}.` : undefined,
  };
}

function leadSummary({ leadActivityEvents }: LeadV0Response, shown: number, activationCount: number): string {
  const sentence = `The lead, and ${shown} of its ${leadActivityEvents.length} activity events.`;
  return activationCount > MAX_LOOKUPS ? `${sentence} ${MAX_LOOKUPS} of its ${activationCount} activations.` : sentence;
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
