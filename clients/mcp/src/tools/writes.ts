import type {
  EventAddLeadsV0Input,
  Lanyard,
  LeadBatchV0Input,
  LeadCreateV0Input,
  LeadPatchV0Input,
  LeadV0Response,
} from '../../../typescript/src';
import { changedFields } from '../changed-fields';
import type { Answer } from '../result';
import { bodyWith, DRY_RUN, idSchema, objectSchema } from '../schemas';
import {
  CREATES,
  defineTool,
  type DryRunInput,
  LINKS,
  REPLACES,
  REPLACES_OR_CREATES,
  ToolError,
  type ToolOptions,
  written,
} from '../tool';
import { LEAD_FIELDS, leadRecord } from './leads';

/** At most this many records are read before a write, because each costs a token. */
const MAX_READS = 20;

const OWN_LEADS = 'of a lead that this key created in the last 24 hours, if nothing else has changed it';

export const createLead = defineTool<LeadCreateV0Input & DryRunInput>({
  name: 'create_lead',
  title: 'Create a lead',
  description: 'Creates a lead, even if there is one with the same email: use find_leads first, or upsert_leads.',
  input: bodyWith(
    'LeadCreateV0Input',
    { dryRun: DRY_RUN },
    { createdByEmail: 'of who captures the lead; need not be a user' },
  ),
  forCapture: { description: 'Creates a lead, even if there is one with the same email, which this key cannot see.' },
  scopes: ['all', 'capture'],
  annotations: CREATES,
  async run(lanyard, { dryRun, ...body }, options) {
    const lead = await lanyard.post('/leads', { ...options, dryRun, body });
    return {
      summary: written(`Created lead ${lead.id}.`, dryRun),
      records: [leadRecord(lead)],
      untrusted: LEAD_FIELDS,
    };
  },
});

type UpdateInput = LeadPatchV0Input & DryRunInput & { leadId: string; appendToDescription?: string };

export const updateLead = defineTool<UpdateInput>({
  name: 'update_lead',
  title: 'Update a lead',
  description:
    'Updates fields of a lead. Omitted fields keep their values, null clears. The company cannot be changed.',
  input: {
    ...bodyWith(
      'LeadPatchV0Input',
      {
        appendToDescription: { type: 'string', minLength: 1, maxLength: 10_000, description: 'a line to add' },
        leadId: idSchema('leadId'),
        dryRun: DRY_RUN,
      },
      {
        description: 'replaces the text; appendToDescription adds',
        phoneNumbers: 'replaces all leadProvided numbers: include those to keep',
        remoteId: 'id null removes it',
      },
    ),
    required: ['leadId'],
  },
  forCapture: { description: `Updates the given fields ${OWN_LEADS}. Omitted fields keep their values, null clears.` },
  scopes: ['all', 'capture'],
  annotations: REPLACES,
  async run(lanyard, { leadId, dryRun, appendToDescription, ...body }, options) {
    const params = { path: { leadId } };
    if (appendToDescription === undefined && Object.keys(body).length === 0) {
      throw new ToolError('Nothing was sent: there is no field to update.');
    }
    const before = await lanyard.get('/leads/{leadId}', { ...options, params });
    if (appendToDescription !== undefined) {
      body.description = [body.description ?? before.description, appendToDescription].filter(Boolean).join('\n');
    }
    const after = await lanyard.patch('/leads/{leadId}', { ...options, dryRun, params, body });
    const changes = changedFields(before, after);
    const names = changes.map(({ field }) => field).join(', ');
    const isPictureSet = body.profilePicture !== undefined ? ' profilePicture is stored, but not shown.' : '';
    const sentence =
      changes.length > 0 ? `Updated lead ${leadId}: ${names}.` : `No shown field of lead ${leadId} changed.`;
    return {
      summary: written(sentence + isPictureSet, dryRun),
      records: changes,
      untrusted: LEAD_FIELDS,
    };
  },
});

export const upsertLeads = defineTool<LeadBatchV0Input & DryRunInput>({
  name: 'upsert_leads',
  title: 'Create or update leads',
  description:
    'Creates or updates leads, all or none, names included, with a request for each. Each must have the field that matchBy names, with distinct values; with none, all are created. Leads to create need createdByEmail, firstName, lastName and companyName.',
  input: upsertSchema(),
  scopes: ['all'],
  annotations: REPLACES_OR_CREATES,
  async run(lanyard, { dryRun, ...body }, options) {
    const before = await Promise.all(body.leads.map((entry) => storedLead(lanyard, body.matchBy, entry, options)));
    const { leads } = await lanyard.post('/leads/batch', { ...options, dryRun, body });
    const count = (wanted: string): number => leads.filter(({ outcome }) => outcome === wanted).length;
    const sentence = `${count('created')} created, ${count('updated')} updated, ${count('unchanged')} unchanged.`;
    return {
      summary: written(`${sentence} In the order of your leads:`, dryRun),
      records: leads.map(({ outcome, lead }, n) => {
        const { id, firstName, lastName, email } = lead;
        const record = { id, outcome, firstName, lastName, email };
        if (outcome === 'created') return record;
        const ignored = IGNORED_BY_UPDATES.filter((field) => body.leads[n]?.[field] !== undefined);
        const stored = before[n];
        return { ...record, changed: stored?.id === id ? changedFields(stored, lead) : 'unknown', ignored };
      }),
      untrusted: LEAD_FIELDS,
    };
  },
});

/** Fields of an entry that change nothing where it updates a lead. */
const IGNORED_BY_UPDATES = ['companyName', 'createdByEmail'] as const;

function upsertSchema() {
  const schema = bodyWith('LeadBatchV0Input', { dryRun: DRY_RUN });
  const { leads } = schema.properties;
  return { ...schema, properties: { ...schema.properties, leads: { ...leads, maxItems: MAX_READS } } };
}

/** The lead that an entry of a batch will update; undefined if it creates one. */
async function storedLead(
  lanyard: Lanyard,
  matchBy: LeadBatchV0Input['matchBy'],
  { email, remoteId }: LeadBatchV0Input['leads'][number],
  { signal }: ToolOptions,
): Promise<LeadV0Response | undefined> {
  if (matchBy === 'email' && email) return lanyard.findLead({ email }, { signal });
  if (matchBy === 'remoteId' && remoteId?.id) {
    const { id, integrationType } = remoteId;
    return lanyard.findLead({ remoteId: id, integrationType }, { signal });
  }
  return undefined;
}

export const addLeadsToEvent = defineTool<EventAddLeadsV0Input & DryRunInput & { eventId: number }>({
  name: 'add_leads_to_event',
  title: 'Add leads to an event, or check them in',
  description: `Adds existing leads to an event, or sets the flags of those in it. An omitted flag stays, at the cost of a request, for at most ${MAX_READS} leads.`,
  input: addLeadsSchema(),
  forCapture: {
    description: 'Adds existing leads to an event, or sets registered and checkedIn of those in it. Give both flags.',
  },
  scopes: ['all', 'capture'],
  annotations: REPLACES,
  async run(lanyard, { eventId, dryRun, eventLeads: entries }, options) {
    const params = { path: { eventId } };
    const incomplete = entries.filter(
      ({ registered, checkedIn }) => registered === undefined || checkedIn === undefined,
    );
    if (options.isCapture && incomplete.length > 0) {
      throw new ToolError(
        'Nothing was sent: this key cannot see the flags of a lead, so give both registered and checkedIn of each.',
      );
    }
    if (incomplete.length > MAX_READS) {
      throw new ToolError(
        `Nothing was sent: at most ${MAX_READS} leads may omit a flag. Give both flags of the others.`,
      );
    }
    const stored = await Promise.all(
      entries.map(async (entry) =>
        incomplete.includes(entry) ? flagsOf(lanyard, entry.leadId, eventId, options) : undefined,
      ),
    );
    const body = {
      eventLeads: entries.map((entry, n) => ({
        leadId: entry.leadId,
        registered: entry.registered ?? stored[n]?.registered ?? false,
        checkedIn: entry.checkedIn ?? stored[n]?.checkedIn ?? false,
      })),
    };
    const { eventLeads } = await lanyard.put('/events/{eventId}/leads', { ...options, dryRun, params, body });
    const before = new Map(entries.map(({ leadId }, n) => [leadId.toLowerCase(), stored[n]]));
    return {
      summary: written(
        `Set ${eventLeads.length} ${eventLeads.length === 1 ? 'lead' : 'leads'} in event ${eventId}.`,
        dryRun,
      ),
      records: eventLeads.map((lead) => ({ ...lead, before: before.get(lead.leadId) })),
      untrusted: 'nothing',
    };
  },
});

function addLeadsSchema() {
  const schema = bodyWith('EventAddLeadsV0Input', { eventId: idSchema('eventId'), dryRun: DRY_RUN });
  return { ...schema, required: ['eventId', ...(schema.required ?? [])] };
}

interface Flags {
  registered: boolean;
  checkedIn: boolean;
}

/** The flags that a lead has in an event; undefined if it is not in it. */
async function flagsOf(
  lanyard: Lanyard,
  leadId: string,
  eventId: number,
  { signal }: ToolOptions,
): Promise<Flags | undefined> {
  for await (const event of lanyard.list('/leads/{leadId}/events', { signal, params: { path: { leadId } } })) {
    if (event.eventId === eventId) return { registered: event.registered, checkedIn: event.checkedIn };
  }
  return undefined;
}

interface BookmarkInput extends DryRunInput {
  industryEventId: string;
  bookmarked?: boolean;
}

export const bookmarkIndustryEvent = defineTool<BookmarkInput>({
  name: 'bookmark_industry_event',
  title: 'Bookmark an industry event',
  description: 'Bookmarks an industry event for the organization, or removes the bookmark with bookmarked false.',
  input: objectSchema(
    { industryEventId: idSchema('industryEventId'), bookmarked: { type: 'boolean' }, dryRun: DRY_RUN },
    ['industryEventId'],
  ),
  scopes: ['all'],
  annotations: LINKS,
  async run(lanyard, { industryEventId, bookmarked = true, dryRun }, options) {
    const call = { ...options, dryRun, params: { path: { industryEventId } } };
    const path = '/industryEvents/{industryEventId}/bookmark';
    await (bookmarked ? lanyard.post(path, call) : lanyard.delete(path, call));
    const state = bookmarked ? 'bookmarked' : 'not bookmarked';
    return {
      summary: written(`Industry event ${industryEventId} is ${state}.`, dryRun),
      records: [],
      untrusted: 'nothing',
    };
  },
});

export const deleteLead = defineTool<DryRunInput & { leadId: string; person: string }>({
  name: 'delete_lead',
  title: 'Delete a lead',
  description:
    'Deletes a lead and its links for good, if person fits: its full name or email as it is now, or its createdAt if it has neither. Ask the user first.',
  input: objectSchema(
    {
      leadId: idSchema('leadId'),
      person: { type: 'string', minLength: 1, maxLength: 511 },
      dryRun: DRY_RUN,
    },
    ['leadId', 'person'],
  ),
  scopes: ['all'],
  annotations: REPLACES,
  isDelete: true,
  async run(lanyard, { leadId, person, dryRun }, options): Promise<Answer> {
    const params = { path: { leadId } };
    const lead = await lanyard.get('/leads/{leadId}', { ...options, params });
    if (!isPerson(lead, person)) {
      throw new ToolError(
        'Nothing was deleted: person does not fit the lead. Look at it with get_lead, and ask the user whom to delete.',
      );
    }
    const { total } = await lanyard.get('/leads/{leadId}/events', {
      ...options,
      params: { ...params, query: { limit: 1 } },
    });
    await lanyard.delete('/leads/{leadId}', { ...options, dryRun, params });
    const counts = [
      `${lead.leadActivityEvents.length} activity events`,
      `${lead.activations.length} activations`,
      `${total} events`,
      `${lead.tags.length} tags`,
      `${lead.remoteIds.length} remote IDs`,
    ];
    return {
      summary: written(`Deleted lead ${leadId}, with its links: ${counts.join(', ')}.`, dryRun),
      records: [],
      untrusted: 'nothing',
    };
  },
});

const spelled = (text: string): string => text.trim().replace(/\s+/g, ' ').toLowerCase();

/** Whether a text is the full name or the address of a lead, or the time of its creation if it has neither. */
function isPerson({ firstName, lastName, email, createdAt }: LeadV0Response, text: string): boolean {
  const names = [[firstName, lastName].filter(Boolean).join(' '), email ?? ''].map(spelled).filter(Boolean);
  return (names.length > 0 ? names : [spelled(createdAt)]).includes(spelled(text));
}
