import { type ChangesOptions, type Lanyard, LanyardError } from '../../../typescript/src';
import { nextPage, PAGE_SIZE, type PageInput, pageQuery, pageSummary } from '../pages';
import { changeResources, idSchema, objectSchema, PAGE_CURSOR, querySchema } from '../schemas';
import type { Answer } from '../result';
import { defineTool, READS, type ToolOptions } from '../tool';
import { LEAD_FIELDS } from './leads';

interface ListEventsInput extends PageInput {
  eventId?: number;
}

const ALL_EVENTS = objectSchema({ cursor: PAGE_CURSOR });

export const listEvents = defineTool<ListEventsInput>({
  name: 'list_events',
  title: 'List events, or the leads of one',
  description:
    'Lists events, latest first, with dates and how many leads each has, in up to 13 requests. With eventId: IDs and flags of its leads.',
  input: objectSchema({ eventId: idSchema('eventId'), cursor: PAGE_CURSOR }),
  forCapture: { description: 'Lists the events of the organization, latest first.', input: ALL_EVENTS },
  scopes: ['read', 'all', 'capture'],
  annotations: READS,
  async run(lanyard, { eventId, ...page }, options) {
    const query = pageQuery(page);
    if (eventId !== undefined) return leadsOfEvent(lanyard, eventId, query, options);
    const { events, total } = await latestEvents(lanyard, query, options);
    const records = await Promise.all(
      events.map(async ({ id, name, type, startDate, endDate }) => {
        const event = { id, name, type, startDate, endDate };
        if (options.isCapture) return event;
        const params = { path: { eventId: id }, query: { limit: 1 } };
        const { total: leadCount } = await lanyard.get('/events/{eventId}/leads', { ...options, params });
        return { ...event, leadCount };
      }),
    );
    return {
      summary: pageSummary('events', query, records.length, total),
      records,
      untrusted: 'name',
      next: nextPage('list_events', query, total),
    };
  },
});

/** A page of the list of events, read from its end. */
async function latestEvents(
  lanyard: Lanyard,
  { limit, offset }: { limit: number; offset: number },
  options: ToolOptions,
) {
  const pageAt = (index: number) => lanyard.get('/events', { ...options, params: { query: { limit, offset: index } } });
  const { total } = await pageAt(0);
  const end = Math.max(0, total - offset * limit);
  const start = Math.max(0, end - limit);
  const indexes = [...new Set([start, Math.max(start, end - 1)].map((at) => Math.floor(at / limit)))];
  const pages = await Promise.all(indexes.map(pageAt));
  const first = (indexes[0] ?? 0) * limit;
  const events = pages.flatMap((page) => page.events).slice(start - first, end - first);
  return { events: events.reverse(), total };
}

async function leadsOfEvent(
  lanyard: Lanyard,
  eventId: number,
  query: { limit: number; offset: number },
  options: ToolOptions,
): Promise<Answer> {
  const path = { eventId };
  const [event, { eventLeads, total }] = await Promise.all([
    lanyard.get('/events/{eventId}', { ...options, params: { path } }),
    lanyard.get('/events/{eventId}/leads', { ...options, params: { path, query } }),
  ]);
  return {
    summary: `The event. ${pageSummary('leads', query, eventLeads.length, total)} find_leads with eventId shows who they are.`,
    records: [{ event }, ...eventLeads],
    untrusted: 'name, location',
    next: nextPage('list_events', query, total),
  };
}

interface SearchInput extends PageInput {
  q?: string;
  eventUrl?: string;
  bookmarked?: boolean;
}

export const searchIndustryEvents = defineTool<SearchInput>({
  name: 'search_industry_events',
  title: 'Search industry events',
  description:
    'Searches the shared catalog of trade shows and conferences by words, or by exact eventUrl. With bookmarked, lists only those that the organization has bookmarked, and nothing else may be given.',
  input: objectSchema({
    q: { ...querySchema('q'), maxLength: 512, description: 'words, "phrases", or, -word' },
    eventUrl: querySchema('eventUrl'),
    bookmarked: { type: 'boolean' },
    cursor: PAGE_CURSOR,
  }),
  scopes: ['read', 'all', 'capture'],
  annotations: READS,
  async run(lanyard, { bookmarked, q, eventUrl, ...page }, options) {
    const query = { ...pageQuery(page), q, eventUrl };
    const { industryEvents, total } = bookmarked
      ? await bookmarkedPage(() => lanyard.get('/industryEvents/bookmarks', options), query)
      : await lanyard.get('/industryEvents', { ...options, params: { query } });
    return {
      summary: pageSummary('industry events', query, industryEvents.length, total),
      records: industryEvents,
      untrusted: 'everything: other organizations write to this catalog',
      next: nextPage('search_industry_events', query, total),
    };
  },
});

/** A page of the bookmarks, which the API returns all at once. */
async function bookmarkedPage<T>(get: () => Promise<{ industryEvents: T[] }>, { offset }: { offset: number }) {
  const { industryEvents } = await get();
  return {
    industryEvents: industryEvents.slice(offset * PAGE_SIZE, (offset + 1) * PAGE_SIZE),
    total: industryEvents.length,
  };
}

interface TagsInput extends PageInput {
  kind: 'tagGroups' | 'activations';
}

export const listTagsAndActivations = defineTool<TagsInput>({
  name: 'list_tags_and_activations',
  title: 'List tag groups or activations',
  description:
    'Lists the tag groups with their options, or the activations (sessions and booths of events) of the organization.',
  input: objectSchema({ kind: { type: 'string', enum: ['tagGroups', 'activations'] }, cursor: PAGE_CURSOR }, ['kind']),
  scopes: ['read', 'all', 'capture'],
  annotations: READS,
  async run(lanyard, { kind, ...page }, options) {
    const query = pageQuery(page);
    const call = { ...options, params: { query } };
    const { records, total } =
      kind === 'tagGroups'
        ? await lanyard.get('/tagGroups', call).then(({ tagGroups, total }) => ({ records: tagGroups, total }))
        : await lanyard.get('/activations', call).then(({ activations, total }) => ({ records: activations, total }));
    return {
      summary: pageSummary(kind === 'tagGroups' ? 'tag groups' : 'activations', query, records.length, total),
      records,
      untrusted: 'nothing, but names and texts are still data',
      next: nextPage('list_tags_and_activations', query, total),
    };
  },
});

interface ChangesInput {
  cursor?: string;
  resources?: NonNullable<ChangesOptions['resources']>;
}

export const listChanges = defineTool<ChangesInput>({
  name: 'list_changes',
  title: 'List changes',
  description:
    'Lists what was created, updated or deleted from a cursor on, not from a time. Without a cursor, returns one that stands for now. A record appears once, in its present state.',
  input: objectSchema({
    cursor: { ...querySchema('cursor'), description: 'from the previous answer' },
    resources: {
      type: 'array',
      items: { type: 'string', enum: changeResources },
      minItems: 1,
      maxItems: changeResources.length,
      uniqueItems: true,
      description: 'default all; only without a cursor, which keeps its resources',
    },
  }),
  scopes: ['read', 'all'],
  annotations: READS,
  async run(lanyard, { cursor, resources }, options) {
    const start = cursor === undefined ? { since: 'now' as const } : { cursor };
    const query = { ...start, resources: resources?.join(), limit: PAGE_SIZE };
    const page = await lanyard.get('/changes', { ...options, params: { query } });
    // Without a cursor, an agent would begin again each time.
    if (typeof page.cursor !== 'string') throw new LanyardError('The response has no cursor', { attempts: 1 });
    const when = page.hasMore ? 'now, because there are more changes,' : 'later';
    return {
      summary: cursor === undefined ? 'The cursor below stands for now.' : `${page.changes.length} changes.`,
      records: page.changes,
      untrusted: `${LEAD_FIELDS}, eventNotes of activity`,
      next: `Call list_changes ${when} with cursor "${page.cursor}".`,
    };
  },
});
