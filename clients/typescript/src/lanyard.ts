import createClient, { type Client } from 'openapi-fetch';
import { batchesOf } from './batches';
import { Changes, type ChangesOptions, withAdvice } from './changes';
import { type Answer, entriesOf, hasLeads, isChangesPage, isPage } from './contract';
import type { Input, Item, ListPath, Method, PathOf, Results } from './operations';
import { DRY_RUN, type Persistence, send } from './persistence';
import type {
  ChangesV0Response,
  IntegrationType,
  LeadUpsertV0Input,
  LeadUpsertV0Response,
  LeadV0Response,
  MatchBy,
} from './schema';
import { replicate, type ReplicaOptions, type ReplicaStore } from './replica';
import { checkedBaseUrl, checkedIdempotencyKey, checkedKey } from './settings';
import { sleepFor } from './sleep';

export interface LanyardOptions extends Partial<Omit<Persistence, 'signal' | 'fits'>> {
  /** with the prefix of the API, `https://lanyard.example.com/api/v0` */
  baseUrl: string;
  /** API key, `lan_…` */
  key: string;
}

export interface CallOptions {
  /** ends the call, its waits included, with the reason of the signal */
  signal?: AbortSignal;
  /** milliseconds for one attempt, in place of the client's */
  timeout?: number;
  /** Of a POST or PATCH, in place of a random one: a name that outlives this process makes its repetitions safe too. */
  idempotencyKey?: string;
}

export interface WriteOptions extends CallOptions {
  /** tries the write: the answer is the one that it would have, with provisional ids and times, and nothing is stored */
  dryRun?: boolean;
}

/** What a lead is found by; of both, it has both. */
export type LeadFilter =
  { email: string } | { email?: string | undefined; remoteId: string; integrationType: IntegrationType };

export interface UpsertOptions extends Omit<WriteOptions, 'idempotencyKey'> {
  /** the field by which a lead finds the stored one that it updates */
  matchBy: MatchBy;
}

type Options<M extends Method, Path extends PathOf<M>> = Input<M, Path> &
  (M extends 'get' ? CallOptions : WriteOptions);

/** May be left out when nothing in it must be there. */
type Rest<T> = Partial<T> extends T ? [options?: T] : [options: T];

interface AnyInput extends WriteOptions {
  params?: { path?: object; query?: Record<string, unknown> };
  body?: unknown;
}

/** Any path with any body: which operation takes what is checked at the methods below. */
type AnyPaths = Record<string, Record<Method, { requestBody?: { content: { 'application/json': unknown } } }>>;

interface AnyPage extends Answer {
  pagination: { limit: number };
  results: Record<string, unknown> & { total: number };
}

/**
 * A client of the API. Calls give the `results` of the answer, or throw a LanyardError; they wait when the bucket of the
 * key is empty, and repeat what failed when that is safe.
 */
export class Lanyard {
  private readonly persistence: Omit<Persistence, 'signal' | 'fits'>;
  private readonly http: Client<AnyPaths>;

  /** @throws LanyardError when the address or the key cannot be right */
  constructor({
    baseUrl,
    key,
    timeout = 30_000,
    retries = 4,
    maxRetryAfter = 60_000,
    fetch = (url, init) => globalThis.fetch(url, init),
    sleep = sleepFor,
    random = Math.random,
  }: LanyardOptions) {
    const headers = { 'x-api-key': checkedKey(key) };
    this.persistence = { timeout, retries, maxRetryAfter, fetch, sleep, random };
    this.http = createClient<AnyPaths>({ baseUrl: checkedBaseUrl(baseUrl), headers });
  }

  get<Path extends PathOf<'get'>>(path: Path, ...[options]: Rest<Options<'get', Path>>): Promise<Results<'get', Path>> {
    return this.results('get', path, options);
  }

  post<Path extends PathOf<'post'>>(
    path: Path,
    ...[options]: Rest<Options<'post', Path>>
  ): Promise<Results<'post', Path>> {
    return this.results('post', path, options);
  }

  put<Path extends PathOf<'put'>>(path: Path, ...[options]: Rest<Options<'put', Path>>): Promise<Results<'put', Path>> {
    return this.results('put', path, options);
  }

  patch<Path extends PathOf<'patch'>>(
    path: Path,
    ...[options]: Rest<Options<'patch', Path>>
  ): Promise<Results<'patch', Path>> {
    return this.results('patch', path, options);
  }

  delete<Path extends PathOf<'delete'>>(
    path: Path,
    ...[options]: Rest<Options<'delete', Path>>
  ): Promise<Results<'delete', Path>> {
    return this.results('delete', path, options);
  }

  /**
   * Every entry of a list, in its order; pages are asked for when the loop comes to them. It begins at the page `offset`
   * of the query; a page has 50 entries unless `limit` says less. What others add meanwhile comes last, so that nothing
   * comes twice; but what an import adds to the past, or anybody to a search (`q`), moves entries to a later page, where
   * they are met again. Where others delete what the loop has passed, it may miss as many entries.
   */
  async *list<Path extends ListPath>(
    path: Path,
    ...[options]: Rest<Options<'get', Path>>
  ): AsyncGenerator<Item<Path>, void, undefined> {
    const { params, ...rest } = (options ?? {}) as AnyInput;
    for (let offset = Number(params?.query?.offset ?? 0); ; offset++) {
      const query = { limit: 50, ...params?.query, offset };
      const page = (await this.call('get', path, { ...rest, params: { ...params, query } }, isPage)) as AnyPage;
      const items = entriesOf(page) as Item<Path>[];
      yield* items;
      const { limit } = page.pagination;
      if (items.length < limit || (offset + 1) * limit >= page.results.total) return;
    }
  }

  /** The first lead of the list that meets the filter; undefined when none does. */
  async findLead(
    filter: LeadFilter,
    options: Omit<CallOptions, 'idempotencyKey'> = {},
  ): Promise<LeadV0Response | undefined> {
    // Without a filter, the list has everybody.
    if (Object.values(filter).every((value) => value === undefined)) throw new TypeError('findLead needs a filter');
    const query = { ...filter, limit: 1 };
    const { leads } = await this.results<Results<'get', '/leads'>>(
      'get',
      '/leads',
      { ...options, params: { query } },
      hasLeads,
    );
    return leads[0];
  }

  /**
   * Creates or updates many leads, as many as possible in one request, and tells of each what became of it, in their order.
   * Leads are taken from the source when there is room for them. When a batch is refused, none of it is written, and the
   * loop ends with a LanyardError; what was told before is done.
   */
  async *upsertLeads(
    leads: Iterable<LeadUpsertV0Input> | AsyncIterable<LeadUpsertV0Input>,
    { matchBy, ...options }: UpsertOptions,
  ): AsyncGenerator<LeadUpsertV0Response, void, undefined> {
    for await (const batch of batchesOf(leads, matchBy)) {
      const input = { ...options, body: { matchBy, leads: batch } };
      yield* (await this.results<Results<'post', '/leads/batch'>>('post', '/leads/batch', input, hasLeads)).leads;
    }
  }

  /**
   * The feed of changes, page by page, without end: at once while there is more, and else after the interval. When all
   * changes of a page are applied, and only then, store its cursor; a later loop goes on there. Pages may be empty.
   * @throws LanyardError with status 410 when the cursor can no longer be used
   */
  async *changePages({
    cursor,
    since,
    resources,
    limit,
    intervalMs = 5000,
    ...options
  }: ChangesOptions = {}): AsyncGenerator<ChangesV0Response, void, undefined> {
    let query: Record<string, unknown> = { cursor, since, resources: resources?.join(), limit };
    for (;;) {
      const input = { ...options, params: { query } };
      const page = await this.results<ChangesV0Response>('get', '/changes', input, isChangesPage).catch(withAdvice);
      yield page;
      query = { cursor: page.cursor, limit };
      if (!page.hasMore) await this.persistence.sleep(intervalMs, options.signal);
    }
  }

  /**
   * The feed of changes, change by change, without end, as `changePages`; its `cursor` is the one to store.
   * @throws as `changePages` does
   */
  changes(options: ChangesOptions = {}): Changes {
    const pagesFrom = (cursor: string | undefined) =>
      this.changePages(cursor === undefined ? options : { ...options, cursor, since: undefined });
    return new Changes(pagesFrom, options.cursor);
  }

  /**
   * Keeps a copy of all records in a store: begins with a snapshot, continues with changes, and begins again when the cursor
   * has expired. A program that is killed continues with the next call. Returns when the copy is up to date, or never with
   * `follow`.
   * @throws LanyardError, or the reason of the signal
   */
  replicate(store: ReplicaStore, options: ReplicaOptions = {}): Promise<void> {
    return replicate((pageOptions) => this.changePages(pageOptions), store, options);
  }

  private async results<T>(method: Method, path: string, options: unknown, fits?: Persistence['fits']): Promise<T> {
    const { results } = (await this.call(method, path, options as AnyInput, fits)) as { results: T };
    return results;
  }

  private async call(
    method: Method,
    path: string,
    options: AnyInput = {},
    fits: Persistence['fits'] = () => true,
  ): Promise<unknown> {
    const { signal, timeout = this.persistence.timeout, idempotencyKey, dryRun, params, body } = options;
    const { data } = await this.http.request(method, path, {
      params,
      body,
      headers: {
        // A misspelt field or filter is refused, not ignored.
        prefer: dryRun ? `${DRY_RUN}, handling=strict` : 'handling=strict',
        ...(idempotencyKey !== undefined && { 'idempotency-key': checkedIdempotencyKey(idempotencyKey, dryRun) }),
      },
      fetch: (request: Request) => send(request, { ...this.persistence, timeout, signal, fits }),
    });
    return data;
  }
}
