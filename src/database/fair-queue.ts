import { Overloaded } from '../errors/exceptions';
import { isConnectionError } from './errors';
import { LARGE_RESULTS_MS, MAX_CONNECTION_SHARE, MAX_WAITING_REQUESTS, QUEUE_TIMEOUT_MS } from './limits';

interface QueuedRequest {
  resolve: () => void;
  reject: (error: Error) => void;
  timer: NodeJS.Timeout;
}

/** Whose work waits: an organization's, or work that is done outside of requests, which takes turns as one of them. */
type OrganizationId = number | undefined;

/**
 * Requests queue for the database's connections per organization, and the queues are served round-robin. One organization
 * may use at most 80 % of the connections, so that a busy organization delays only itself.
 */
export class FairQueue {
  private running = 0;
  private readonly inUse = new Map<OrganizationId, number>();
  /** Organizations that may use only one connection at a time for a while, because their results are large. */
  private readonly limitedToOne = new Map<OrganizationId, NodeJS.Timeout>();
  /** The queues by organization, in the order in which they are served. */
  private readonly queues = new Map<OrganizationId, QueuedRequest[]>();

  /**
   * @param maxPerOrganization connections that one organization may hold
   * @param timeoutMs how many milliseconds work waits for a connection
   */
  constructor(
    private readonly connections: number,
    private readonly maxPerOrganization = Math.max(1, Math.floor(connections * MAX_CONNECTION_SHARE)),
    private readonly timeoutMs = QUEUE_TIMEOUT_MS,
  ) {}

  /** Requests that wait for a connection. */
  get waitingRequests(): number {
    return [...this.queues.values()].reduce((sum, queue) => sum + queue.length, 0);
  }

  /**
   * Runs work that holds one connection.
   * @throws Overloaded when the queue is full, or its timeout is over, or the database stops responding
   */
  async run<T>(organizationId: OrganizationId, work: () => Promise<T>): Promise<T> {
    if (this.hasFreeSlot(organizationId)) this.acquire(organizationId);
    else await this.enqueue(organizationId);
    try {
      return await work();
    } catch (error) {
      // The waiting requests would only run into the next timeout.
      if (isConnectionError(error)) this.rejectAll('The database does not answer');
      throw error;
    } finally {
      this.release(organizationId);
      this.startNext();
    }
  }

  /**
   * Waits for a connection that is in use until the returned function is called.
   * @returns a function that releases the connection; calling it again has no effect
   * @throws Overloaded when the queue is full, or its timeout is over, or the database stops responding
   */
  async acquireSlot(organizationId: OrganizationId): Promise<() => void> {
    if (this.hasFreeSlot(organizationId)) this.acquire(organizationId);
    else await this.enqueue(organizationId);
    let isHeld = true;
    return () => {
      if (!isHeld) return;
      isHeld = false;
      this.release(organizationId);
      this.startNext();
    };
  }

  /** Runs the requests of an organization one after another for a while, because its results are large. */
  limitToOne(organizationId: OrganizationId): void {
    clearTimeout(this.limitedToOne.get(organizationId));
    const timer = setTimeout(() => this.limitedToOne.delete(organizationId), LARGE_RESULTS_MS).unref();
    this.limitedToOne.set(organizationId, timer);
  }

  /** Whether work of the organization would start at once. */
  hasFreeSlot(organizationId: OrganizationId): boolean {
    const maxPerOrganization = this.limitedToOne.has(organizationId) ? 1 : this.maxPerOrganization;
    return this.running < this.connections && (this.inUse.get(organizationId) ?? 0) < maxPerOrganization;
  }

  private acquire(organizationId: OrganizationId): void {
    this.running++;
    this.inUse.set(organizationId, (this.inUse.get(organizationId) ?? 0) + 1);
  }

  private release(organizationId: OrganizationId): void {
    this.running--;
    const inUse = (this.inUse.get(organizationId) ?? 0) - 1;
    if (inUse > 0) this.inUse.set(organizationId, inUse);
    else this.inUse.delete(organizationId);
  }

  private enqueue(organizationId: OrganizationId): Promise<void> {
    const queue = this.queues.get(organizationId) ?? [];
    if (queue.length >= MAX_WAITING_REQUESTS) throw new Overloaded('Too many requests of an organization wait');
    this.queues.set(organizationId, queue);
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => {
        queue.splice(queue.indexOf(waiting), 1);
        if (queue.length === 0) this.queues.delete(organizationId);
        reject(new Overloaded('A connection to the database was waited for too long'));
      }, this.timeoutMs);
      const waiting: QueuedRequest = { resolve, reject, timer };
      queue.push(waiting);
    });
  }

  /** Starts the next request whose organization may use one more connection, and moves that organization to the end. */
  private startNext(): void {
    for (const [organizationId, queue] of this.queues) {
      if (!this.hasFreeSlot(organizationId)) continue;
      const first = queue.shift();
      this.queues.delete(organizationId);
      if (queue.length > 0) this.queues.set(organizationId, queue);
      if (!first) continue;
      clearTimeout(first.timer);
      this.acquire(organizationId);
      first.resolve();
      return;
    }
  }

  private rejectAll(reason: string): void {
    const waiting = [...this.queues.values()].flat();
    this.queues.clear();
    for (const { timer, reject } of waiting) {
      clearTimeout(timer);
      reject(new Overloaded(reason));
    }
  }
}
