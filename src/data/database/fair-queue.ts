import { LinkedList, type LinkedEntry } from './linked-list';
import { Overloaded } from '../../errors/exceptions';
import { isConnectionError } from './errors';
import { LARGE_RESULTS_MS, MAX_CONNECTION_SHARE, MAX_WAITING_REQUESTS, QUEUE_TIMEOUT_MS } from './limits';

interface QueuedRequest {
  resolve: () => void;
  reject: (error: Error) => void;
  timer?: NodeJS.Timeout;
}

/** Whose work waits: an organization's, or work that is done outside of requests, which takes turns as one of them. */
type OrganizationId = number | undefined;

/** The connections that an organization uses, and its requests that wait for one. */
class OrganizationQueue {
  inUse = 0;
  readonly requests = new LinkedList<QueuedRequest>();
  /** The place among the organizations that wait, if one of its requests does. */
  turn?: LinkedEntry<OrganizationQueue>;
  /** Runs while the organization may use only one connection at a time, because its results are large. */
  limitTimer?: NodeJS.Timeout;
}

/**
 * Requests queue for the database's connections per organization, and the queues are served round-robin. One organization
 * may use at most 80 % of the connections, so that a busy organization delays only itself.
 */
export class FairQueue {
  private running = 0;
  /** The queues stay, because a Map whose members come and go keeps requests alive (data/database/linked-list.ts). */
  private readonly organizations = new Map<OrganizationId, OrganizationQueue>();
  /** The queues in which requests wait, in the order in which they are served. */
  private readonly turns = new LinkedList<OrganizationQueue>();

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
    return [...this.turns].reduce((sum, { requests }) => sum + requests.size, 0);
  }

  /**
   * Runs work that holds one connection.
   * @throws Overloaded when the queue is full, or its timeout is over, or the database stops responding
   */
  async run<T>(organizationId: OrganizationId, work: () => Promise<T>): Promise<T> {
    const organization = this.organizationOf(organizationId);
    if (this.hasFree(organization)) this.acquire(organization);
    else await this.enqueue(organization);
    try {
      return await work();
    } catch (error) {
      // The waiting requests would only run into the next timeout.
      if (isConnectionError(error)) this.rejectAll('The database does not answer');
      throw error;
    } finally {
      this.release(organization);
    }
  }

  /**
   * Waits for a connection that is in use until the returned function is called.
   * @returns a function that releases the connection; calling it again has no effect
   * @throws Overloaded when the queue is full, or its timeout is over, or the database stops responding
   */
  acquireSlot(organizationId: OrganizationId): Promise<() => void> {
    return new Promise((resolve, reject) => {
      this.run(organizationId, () => new Promise<void>((release) => resolve(release))).catch(reject);
    });
  }

  /** Runs the requests of an organization one after another for a while, because its results are large. */
  limitToOne(organizationId: OrganizationId): void {
    const organization = this.organizationOf(organizationId);
    clearTimeout(organization.limitTimer);
    organization.limitTimer = setTimeout(() => {
      organization.limitTimer = undefined;
    }, LARGE_RESULTS_MS).unref();
  }

  /** Whether work of the organization would start at once. */
  hasFreeSlot(organizationId: OrganizationId): boolean {
    return this.hasFree(this.organizationOf(organizationId));
  }

  private organizationOf(organizationId: OrganizationId): OrganizationQueue {
    const known = this.organizations.get(organizationId);
    if (known) return known;
    const organization = new OrganizationQueue();
    this.organizations.set(organizationId, organization);
    return organization;
  }

  private hasFree({ inUse, limitTimer }: OrganizationQueue): boolean {
    return this.running < this.connections && inUse < (limitTimer ? 1 : this.maxPerOrganization);
  }

  private acquire(organization: OrganizationQueue): void {
    this.running++;
    organization.inUse++;
  }

  private release(organization: OrganizationQueue): void {
    this.running--;
    organization.inUse--;
    this.startNext();
  }

  private enqueue(organization: OrganizationQueue): Promise<void> {
    const { requests } = organization;
    if (requests.size >= MAX_WAITING_REQUESTS) throw new Overloaded('Too many requests of an organization wait');
    organization.turn ??= this.turns.add(organization);
    return new Promise((resolve, reject) => {
      const waiting = requests.add({ resolve, reject });
      waiting.value.timer = setTimeout(() => {
        this.remove(organization, waiting);
        reject(new Overloaded('A request has waited for its turn for too long'));
      }, this.timeoutMs);
    });
  }

  /** Removes a waiting request, and the organization's turn with its last one. */
  private remove(organization: OrganizationQueue, waiting: LinkedEntry<QueuedRequest>): void {
    clearTimeout(waiting.value.timer);
    organization.requests.remove(waiting);
    if (organization.requests.size > 0 || !organization.turn) return;
    this.turns.remove(organization.turn);
    organization.turn = undefined;
  }

  /** Starts the next request whose organization may use one more connection, and moves that organization to the end. */
  private startNext(): void {
    for (const organization of this.turns) {
      const { first } = organization.requests;
      if (!first || !this.hasFree(organization)) continue;
      if (organization.turn) this.turns.remove(organization.turn);
      organization.turn = this.turns.add(organization);
      this.remove(organization, first);
      this.acquire(organization);
      first.value.resolve();
      return;
    }
  }

  private rejectAll(reason: string): void {
    for (const organization of this.turns) {
      for (let first = organization.requests.first; first; first = organization.requests.first) {
        this.remove(organization, first);
        first.value.reject(new Overloaded(reason));
      }
    }
  }
}
