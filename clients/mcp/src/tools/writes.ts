import type {
  EventAddLeadsV0Input,
  LeadBatchV0Input,
  LeadCreateV0Input,
  LeadPatchV0Input,
} from '../../../typescript/src';
import { bodyWith, DRY_RUN, idSchema, objectSchema } from '../schemas';
import { CREATES, defineTool, type DryRunInput, LINKS, REPLACES, REPLACES_OR_CREATES, written } from '../tool';
import { LEAD_FIELDS, leadRecord } from './leads';

export const createLead = defineTool<LeadCreateV0Input & DryRunInput>({
  name: 'create_lead',
  title: 'Create a lead',
  description: 'Creates a lead, even if there is one with the same email: use find_leads first, or upsert_leads.',
  input: bodyWith('LeadCreateV0Input', { dryRun: DRY_RUN }, { createdByEmail: 'of the user who captures the lead' }),
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

export const updateLead = defineTool<LeadPatchV0Input & DryRunInput & { leadId: string }>({
  name: 'update_lead',
  title: 'Update a lead',
  description:
    'Updates fields of a lead. Omitted fields keep their values, null clears. The company cannot be changed.',
  input: {
    ...bodyWith(
      'LeadPatchV0Input',
      { leadId: idSchema('leadId'), dryRun: DRY_RUN },
      { phoneNumbers: 'replaces all leadProvided numbers: include those to keep', remoteId: 'id null removes it' },
    ),
    required: ['leadId'],
  },
  scopes: ['all', 'capture'],
  annotations: REPLACES,
  async run(lanyard, { leadId, dryRun, ...body }, options) {
    const lead = await lanyard.patch('/leads/{leadId}', { ...options, dryRun, params: { path: { leadId } }, body });
    return {
      summary: written(`Updated lead ${lead.id}.`, dryRun),
      records: [leadRecord(lead)],
      untrusted: LEAD_FIELDS,
    };
  },
});

export const upsertLeads = defineTool<LeadBatchV0Input & DryRunInput>({
  name: 'upsert_leads',
  title: 'Create or update leads',
  description:
    'Creates or updates leads, all or none. Each must have the field that matchBy names, with distinct values; with none, all are created. Leads to create need createdByEmail, firstName, lastName and companyName.',
  input: bodyWith('LeadBatchV0Input', { dryRun: DRY_RUN }),
  scopes: ['all'],
  annotations: REPLACES_OR_CREATES,
  async run(lanyard, { dryRun, ...body }, options) {
    const { leads } = await lanyard.post('/leads/batch', { ...options, dryRun, body });
    const count = (wanted: string): number => leads.filter(({ outcome }) => outcome === wanted).length;
    const sentence = `${count('created')} created, ${count('updated')} updated, ${count('unchanged')} unchanged.`;
    return {
      summary: written(`${sentence} In the order of your leads:`, dryRun),
      records: leads.map(({ outcome, lead: { id, firstName, lastName, email } }) => ({
        id,
        outcome,
        firstName,
        lastName,
        email,
      })),
      untrusted: 'firstName, lastName, email',
    };
  },
});

export const addLeadsToEvent = defineTool<EventAddLeadsV0Input & DryRunInput & { eventId: number }>({
  name: 'add_leads_to_event',
  title: 'Add leads to an event',
  description:
    'Adds existing leads to an event. For leads that are in it already, sets registered and checkedIn, which are false if omitted.',
  input: addLeadsSchema(),
  scopes: ['all', 'capture'],
  annotations: REPLACES,
  async run(lanyard, { eventId, dryRun, ...body }, options) {
    const params = { path: { eventId } };
    const { eventLeads } = await lanyard.put('/events/{eventId}/leads', { ...options, dryRun, params, body });
    return {
      summary: written(`${eventLeads.length} leads are in event ${eventId}.`, dryRun),
      records: eventLeads,
      untrusted: 'nothing',
    };
  },
});

function addLeadsSchema() {
  const schema = bodyWith('EventAddLeadsV0Input', { eventId: idSchema('eventId'), dryRun: DRY_RUN });
  return { ...schema, required: ['eventId', ...(schema.required ?? [])] };
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

export const deleteLead = defineTool<DryRunInput & { leadId: string }>({
  name: 'delete_lead',
  title: 'Delete a lead',
  description: 'Deletes a lead with its activity and its places in events, for good. Ask the user first.',
  input: objectSchema({ leadId: idSchema('leadId'), dryRun: DRY_RUN }, ['leadId']),
  scopes: ['all'],
  annotations: REPLACES,
  isDelete: true,
  async run(lanyard, { leadId, dryRun }, options) {
    await lanyard.delete('/leads/{leadId}', { ...options, dryRun, params: { path: { leadId } } });
    return { summary: written(`Deleted lead ${leadId}.`, dryRun), records: [], untrusted: 'nothing' };
  },
});
