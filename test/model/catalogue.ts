import { type Handler, mustBe, mustBeNow } from './contract';
import { type Fields, type IndustryEvent, type State } from './records';
import { bodyOf, invalid, NOT_FOUND, ok, page, parameter, refuse, valueAt } from './replies';
import { INDUSTRY_EVENT_CREATE, INDUSTRY_EVENT_FIELDS, INDUSTRY_EVENT_UPDATE, isUuid, momentOf } from './rules';
import { search } from './search';

/** Industry events, which all organizations share, and their bookmarks, which they do not. */

const recordOf = (state: State, id: string): IndustryEvent => state.catalogue.get(id) ?? refuse(NOT_FOUND);

/** The fields that a body names, date-times in UTC. */
function changesOf(body: Fields): Fields {
  const named = INDUSTRY_EVENT_FIELDS.filter((field) => body[field] !== undefined);
  const isDate = (field: string): boolean => field === 'startDate' || field === 'endDate';
  return Object.fromEntries(
    named.map((field) => [field, isDate(field) ? (momentOf(body[field]) ?? null) : body[field]]),
  );
}

const EMPTY = Object.fromEntries(INDUSTRY_EVENT_FIELDS.map((field) => [field, null]));

const newIndustryEvent = (body: Fields, made: Fields): IndustryEvent =>
  ({ ...EMPTY, ...changesOf(body), ...made }) as IndustryEvent;

export const listIndustryEvents: Handler = ({ state, call, paging, answer }) => {
  const wanted = paging();
  const shown = valueAt(answer, 'results', 'industryEvents') as { id: unknown }[] | undefined;
  const ids = (shown ?? []).map(({ id }) => id);
  const eventUrl = parameter(call, 'eventUrl');
  const q = parameter(call, 'q');
  if ((eventUrl ?? q)?.includes('\0')) return { status: 400, error: 'Bad Request' };
  const all = state.catalogue.list();
  const found =
    eventUrl !== undefined
      ? all.filter((each) => each.eventUrl === eventUrl)
      : q?.trim()
        ? search(all, q, ids, wanted.limit * wanted.offset)
        : all;
  return page('industryEvents', found, wanted, (record) => record);
};

export const listBookmarkedIndustryEvents: Handler = ({ state, tenant }) =>
  ok({ industryEvents: state.catalogue.list().filter(({ id }) => tenant.bookmarks.has(id)) });

export const getIndustryEvent: Handler = ({ state, tenant, ids: [id = ''] }) =>
  ok({ industryEvent: { ...recordOf(state, id), isBookmarked: tenant.bookmarks.has(id) } });

const MOMENT_MS = 1000;
const areOfOneMoment = (one: string, other: string): boolean =>
  Math.abs(Date.parse(one) - Date.parse(other)) < MOMENT_MS;

export const createIndustryEvent: Handler = ({ state, call, answer }) => {
  const body = bodyOf(call, INDUSTRY_EVENT_CREATE);
  const stored = state.catalogue.list().find(({ eventUrl }) => eventUrl !== null && eventUrl === body.eventUrl);
  if (stored) return ok({ industryEvent: stored, created: false, potentialDuplicates: [] });
  const [id, createdAt, updatedAt] = ['id', 'createdAt', 'updatedAt'].map((name) =>
    valueAt(answer, 'results', 'industryEvent', name),
  ) as [string, string, string];
  mustBe(isUuid(id) && !state.catalogue.has(id), 'a new id', id);
  mustBeNow(createdAt);
  mustBeNow(updatedAt);
  const record = newIndustryEvent(body, { id, createdAt, updatedAt });
  const all = state.catalogue.list();
  const named = all.filter(({ name, startDate }) => name === record.name && startDate === record.startDate);
  const listed = valueAt(answer, 'results', 'potentialDuplicates');
  const seen = new Set((Array.isArray(listed) ? listed : []).map((each: { id?: unknown } | null) => each?.id));
  // Two that are created at one moment need not see each other.
  const same = named.filter((other) => seen.has(other.id) || !areOfOneMoment(other.createdAt, createdAt));
  state.catalogue.set(id, record);
  return ok({ industryEvent: record, created: true, potentialDuplicates: same.slice(0, 50) });
};

export const updateIndustryEvent: Handler = ({ state, ids: [id = ''], call, answer }) => {
  const changes = changesOf(bodyOf(call, INDUSTRY_EVENT_UPDATE));
  const before = recordOf(state, id);
  if (Object.keys(changes).length === 0) return ok({ industryEvent: before });
  const updatedAt = valueAt(answer, 'results', 'industryEvent', 'updatedAt') as string;
  const record = { ...before, ...changes, updatedAt } as IndustryEvent;
  if (record.startDate && record.endDate && record.endDate < record.startDate) return invalid('endDate');
  const other = state.catalogue.list().find(({ eventUrl }) => eventUrl !== null && eventUrl === record.eventUrl);
  if (other && other.id !== id) return invalid('eventUrl');
  mustBeNow(updatedAt);
  state.catalogue.set(id, record);
  return ok({ industryEvent: record });
};

export const bookmarkIndustryEvent: Handler = ({ state, tenant, ids: [id = ''] }) => {
  tenant.bookmarks.set(recordOf(state, id).id, id);
  return ok({ success: true });
};

export const removeIndustryEventBookmark: Handler = ({ state, tenant, ids: [id = ''] }) => {
  tenant.bookmarks.delete(recordOf(state, id).id);
  return ok({ success: true });
};
