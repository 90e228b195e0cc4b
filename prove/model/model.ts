import { isDeepStrictEqual } from 'node:util';
import { bucketsAfter, freshBuckets, Key, KeySettings, mayEnd, timesFault } from './access';
import * as catalogue from './catalogue';
import { Answer, Call, EndpointName, ENDPOINTS } from './endpoints';
import * as events from './events';
import { Journal, Table } from './journal';
import * as leads from './leads';
import { byCreation, Fields, IndustryEvent, Tenant } from './records';
import { BAD_REQUEST, FORBIDDEN, NOT_FOUND, ok, page, Paging, pagingOf, Refused, refuse, Reply } from './replies';
import { TOO_MANY, UNAUTHORIZED } from './replies';
import { isUuid } from './rules';

/** A request that reached an endpoint: with a key, a token and ids of the right form. */
interface Context {
  model: Model;
  tenant: Tenant;
  call: Call;
  /** ids of the path, in lower case */
  ids: string[];
  /** the server's answer, of which only values that it makes up are taken */
  answer: unknown;
  /** @throws Refused when limit or offset are not in order */
  paging(): Paging;
}

/** Changes the model as the request does, and gives the body of the answer. */
export type Handler = (context: Context) => Reply;

const readOnly: Record<'listActivations' | 'getActivation' | 'listTagGroups' | 'getTagGroup', Handler> = {
  listActivations: ({ tenant, paging }) => page('activations', tenant.activations.list(), paging(), (each) => each),
  getActivation: ({ tenant, ids: [id = ''] }) => ok(tenant.activations.get(id) ?? refuse(NOT_FOUND)),
  listTagGroups: ({ tenant, paging }) => page('tagGroups', tenant.tagGroups.list(), paging(), ({ shown }) => shown),
  getTagGroup: ({ tenant, ids: [id = ''] }) => ok((tenant.tagGroups.get(id) ?? refuse(NOT_FOUND)).shown),
};

const { listEvents, getEvent, createEvent, replaceEvent, deleteEvent } = events;
const { listEventLeads, associateLeads, dissociateLead, listEventUsers } = events;
const { listLeads, getLead, createLead, patchLead, deleteLead, listActivities, getActivity } = leads;
const { listIndustryEvents, listBookmarks, getIndustryEvent, createIndustryEvent } = catalogue;
const { updateIndustryEvent, addBookmark, removeBookmark } = catalogue;

const HANDLERS: Record<EndpointName, Handler> = {
  ...{ listEvents, getEvent, createEvent, replaceEvent, deleteEvent },
  ...{ listEventLeads, associateLeads, dissociateLead, listEventUsers },
  ...{ listLeads, getLead, createLead, patchLead, deleteLead, listActivities, getActivity },
  ...readOnly,
  ...{ listIndustryEvents, listBookmarks, getIndustryEvent, createIndustryEvent },
  ...{ updateIndustryEvent, addBookmark, removeBookmark },
};

/** What the contract does not allow of a value that the server made up. */
export class Impossible {
  constructor(readonly message: string) {}
}

/** The contract as a program: a few tables in memory. It knows nothing of how the services work. */
export class Model {
  readonly journal = new Journal();
  readonly tenants = new Table<number, Tenant>(this.journal, (a, b) => a.id - b.id);
  readonly keys = new Table<string, Key>(this.journal, () => 0);
  readonly catalogue = new Table<string, IndustryEvent>(this.journal, byCreation);
  /** the organizations of all events and leads that ever were */
  readonly eventIds = new Table<number, number>(this.journal, (a, b) => a - b);
  readonly leadIds = new Table<string, number>(this.journal, (a, b) => a - b);
  private position = 0;

  addOrganization(id: number): Tenant {
    const tenant = new Tenant(id, this.journal);
    this.tenants.set(id, tenant);
    return tenant;
  }

  tenant(id: number): Tenant {
    const tenant = this.tenants.get(id);
    if (!tenant) throw new Error(`no organization ${id}`);
    return tenant;
  }

  addKey(id: string, value: string, organization: number, settings: KeySettings, endsAt?: number): void {
    const key = { id, value, organization, settings, endsAt, buckets: freshBuckets(settings) };
    this.keys.set(value, { ...key, wasGood: endsAt === undefined || endsAt > Date.now(), changed: undefined });
  }

  /** Associates a lead with an event at the end of its list, or overwrites the flags. */
  associate(tenant: Tenant, event: number, shown: { leadId: string; registered: boolean; checkedIn: boolean }): void {
    const key = `${event}/${shown.leadId}`;
    const position = tenant.associations.get(key)?.position ?? ++this.position;
    tenant.associations.set(key, { position, event, shown });
  }

  /**
   * Compares the answer to a request that was alone with the contract, and takes over what the request changed.
   * @returns what the contract has instead; undefined when the answer is right
   */
  check(call: Call, answer: Answer): string | undefined {
    return this.charge(call, answer) ?? this.answer(call, answer);
  }

  /** Takes the token that a request cost. Of requests made at once, tokens and effects may come in different orders. */
  charge(call: Call, answer: Answer): string | undefined {
    const key = this.admitted(call, answer);
    return 'status' in key ? undefined : possibly(() => this.takeToken(key, answer));
  }

  /** What an answer should have been but for its token, and what the request changed. */
  answer(call: Call, answer: Answer): string | undefined {
    return possibly(() => {
      const expected = this.replyTo(call, answer);
      const right =
        expected.status === answer.status && isDeepStrictEqual(comparable(expected), comparable(answer.body));
      return right ? undefined : `expected ${JSON.stringify(expected)}`;
    });
  }

  mustBe(right: boolean, what: string, value: unknown): void {
    if (!right) throw new Impossible(`expected ${what}, not ${JSON.stringify(value)}`);
  }

  mustBeMoment(value: unknown): void {
    const right = typeof value === 'string' && /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/.test(value);
    this.mustBe(right && Math.abs(Date.parse(value) - Date.now()) < 60_000, 'a moment of now', value);
  }

  private replyTo(call: Call, answer: Answer): Reply {
    const key = this.admitted(call, answer);
    if ('status' in key) return key;
    if (answer.status === TOO_MANY.status) return TOO_MANY;
    const mark = this.journal.mark();
    try {
      return HANDLERS[call.endpoint](this.contextOf(call, answer, this.tenant(key.organization)));
    } catch (error) {
      if (!(error instanceof Refused)) throw error;
      this.journal.rollback(mark);
      return error.reply;
    }
  }

  /** The key that lets a request in, or the refusal. */
  private admitted({ keys: [value, ...more] }: Call, answer: Answer): Key | Reply {
    if (value === undefined || (value.trim() === '' && more.length === 0)) return UNAUTHORIZED;
    const key = more.length === 0 ? this.keys.get(value) : undefined;
    if (!key) return FORBIDDEN;
    const { refused, admitted } = mayEnd(key, answer);
    return !admitted || (refused && answer.status === FORBIDDEN.status) ? FORBIDDEN : key;
  }

  private takeToken(key: Key, answer: Answer): undefined {
    const buckets = bucketsAfter(key, answer);
    const [bucket] = buckets;
    this.mustBe(bucket !== undefined, `a bucket of ${JSON.stringify(key.buckets)}`, answer.headers);
    const fault = bucket && buckets.every((each) => timesFault(key, each, answer)) && timesFault(key, bucket, answer);
    this.mustBe(!fault, `times of ${JSON.stringify(bucket)}`, fault);
    if (!isDeepStrictEqual(buckets, key.buckets)) this.keys.set(key.value, { ...key, buckets });
  }

  private contextOf(call: Call, { body }: Answer, tenant: Tenant): Context {
    const ids = call.ids.map((id) => id.toLowerCase());
    const formed = ENDPOINTS[call.endpoint].ids.every((kind, index) =>
      kind === 'event' ? isEventId(ids[index] ?? '') : isUuid(ids[index]),
    );
    if (!formed) refuse(BAD_REQUEST);
    return { model: this, tenant, call, ids, answer: body, paging: () => pagingOf(call) };
  }
}

/** What is wrong with a value that the server made up, or with an answer; undefined when nothing is. */
function possibly(work: () => string | undefined): string | undefined {
  try {
    return work();
  } catch (error) {
    if (error instanceof Impossible) return error.message;
    throw error;
  }
}

const isEventId = (id: string): boolean => /^\d+$/.test(id) && Number.isSafeInteger(Number(id)) && Number(id) > 0;

/** The contract gives no order of remote ids. */
function comparable(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(comparable);
  if (typeof value !== 'object' || value === null) return value;
  const fields = value as Fields;
  if (Array.isArray(fields.leads)) return { ...fields, leads: fields.leads.map(comparable) };
  if (Array.isArray(fields.remoteIds)) return { ...fields, remoteIds: sortedByType(fields.remoteIds as Fields[]) };
  return 'results' in fields ? { ...fields, results: comparable(fields.results) } : fields;
}

const sortedByType = (ids: Fields[]): Fields[] =>
  ids.toSorted((a, b) => (String(a.integrationType) < String(b.integrationType) ? -1 : 1));
