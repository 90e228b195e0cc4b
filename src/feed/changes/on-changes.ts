import type { ChangeOperation, ChangesPhase } from './change.response';

/** What a method is called for. */
export interface ChangesSubscription {
  /** Identifies how far the method has the changes, so that it can be renamed and moved. Unique in a server. */
  name: string;
  /** Names of the feed's resources, such as `leads`; by default all. */
  resources?: string[];
  /** Whether the first changes of an organization are a snapshot of its records, or those that are made from now on. */
  start: 'snapshot' | 'now';
}

/** A change as the feed emits it, with the key of its record: `id`, for most resources. */
export interface Change {
  resource: string;
  operation: ChangeOperation;
  /** Date and time of the change; in a snapshot, of its start. */
  at: string;
  /** The record as its GET returns it; null when it is deleted. */
  record: Record<string, unknown> | null;
  [key: string]: unknown;
}

/** The position of a page of changes in the feed, and the end of the call. */
export interface ChangesPosition {
  /** `snapshot` while all existing records are emitted. The page that follows a snapshot is empty and has `changes`. */
  phase: ChangesPhase;
  hasMore: boolean;
  /** Aborted when the server stops or loses its database: another server may then call the method with the same page. */
  signal: AbortSignal;
}

/** A method that gets the changes of one organization, page by page; the next page follows when its promise is fulfilled. */
export type ChangesHandler = (organizationId: number, changes: Change[], position: ChangesPosition) => Promise<void>;

/** The key under which `@OnChanges` keeps what a method is called for. */
export const SUBSCRIPTION = Symbol('subscription');

/**
 * Calls a method of a provider for the changes of every organization, at least once and in order, whatever way a change was made:
 * by a request, an import or SQL. When the method throws it is called again with the same page or a longer one, later each time.
 *
 * @example
 * ```ts
 * @OnChanges({ name: 'crm', resources: ['leads'], start: 'now' })
 * async sendLeads(organizationId: number, changes: Change[]): Promise<void> { … }
 * ```
 */
export const OnChanges =
  (subscription: ChangesSubscription) =>
  <Handler extends ChangesHandler>(
    _target: object,
    _method: string | symbol,
    descriptor: TypedPropertyDescriptor<Handler>,
  ): void =>
    Reflect.defineMetadata(SUBSCRIPTION, subscription, descriptor.value as object);
