import { HttpException, ServiceUnavailableException } from '@nestjs/common';
import { sqlState, TryAgain } from './errors';

/**
 * Milliseconds without any answer of the database after which nobody waits on for a connection: more than a statement may
 * take, since all of them may wait for a lock.
 */
const SILENCE = 1600;
/** Milliseconds of waiting after which a statement that fails would be an error too late. */
const A_WHILE = 200;
const SILENT = 'The database does not answer';
/** Milliseconds for which somebody waits for a connection while the database does answer others. */
const PATIENCE = 10_000;
/** Requests of one organization that may wait at a time: so many that none is refused in a burst, and memory is bounded. */
export const MOST_WAITING = 2000;

const TOO_LONG = 'A connection to the database was waited for too long';
/** The reason of who finds that many waiting. */
export const TOO_MANY = 'Too many requests of an organization wait';

/** Refused, because more is asked for than can be done: 503. The log is told the reason. */
export class Overloaded extends ServiceUnavailableException {}

/** A request waited for a connection, and the database answered nobody in that time. */
export class DatabaseSilent extends Error {}

interface Waiting {
  since: number;
  start: () => void;
  refuse: (error: Error) => void;
  timer?: NodeJS.Timeout;
}

/**
 * Fair queueing: connections to the database are few, and organizations are many. Who finds none free waits;
 * organizations take turns, and none holds all of them. So one that asks for a lot waits for itself, and not the others
 * for it.
 */
export class Turns {
  private running = 0;
  private readonly held = new Map<number, number>();
  /** in the order of their turns */
  private readonly waiting = new Map<number, Waiting[]>();
  /** when the database last answered anybody */
  private answered = -Infinity;

  /**
   * @param connections of the pool
   * @param share of them that one organization may hold: by default at most four fifths, and one
   * @param isLong whether the work may take so long that the silence of the database tells nothing
   */
  constructor(
    private readonly connections: number,
    private readonly share = Math.max(1, Math.floor(connections * 0.8)),
    private readonly isLong = false,
  ) {}

  /**
   * Does work that holds one connection.
   * @throws Overloaded, DatabaseSilent when its turn does not come
   */
  async run<T>(organizationId: number, work: () => Promise<T>): Promise<T> {
    if (this.isFree(organizationId)) this.hold(organizationId);
    else await this.turnOf(organizationId);
    let isAnswered = true;
    try {
      return await work();
    } catch (error) {
      isAnswered = sqlState(error) !== undefined || error instanceof HttpException || error instanceof TryAgain;
      throw error;
    } finally {
      if (isAnswered) this.answered = performance.now();
      this.release(organizationId);
      while (this.next(isAnswered));
    }
  }

  /** How many requests wait for a connection. */
  get waitingRequests(): number {
    return [...this.waiting.values()].reduce((sum, queue) => sum + queue.length, 0);
  }

  private isFree(organizationId: number): boolean {
    return this.running < this.connections && (this.held.get(organizationId) ?? 0) < this.share;
  }

  private hold(organizationId: number): void {
    this.running++;
    this.held.set(organizationId, (this.held.get(organizationId) ?? 0) + 1);
  }

  private release(organizationId: number): void {
    this.running--;
    const held = (this.held.get(organizationId) ?? 0) - 1;
    if (held > 0) this.held.set(organizationId, held);
    else this.held.delete(organizationId);
  }

  /**
   * Starts whoever is next in turn and may hold one more; its organization is the last one then. After work that got no
   * answer, who has waited for a while is refused: the work would take its time in vain once more.
   * @returns whether somebody was refused, and another one is next
   */
  private next(isAnswered: boolean): boolean {
    for (const [organizationId, queue] of this.waiting) {
      if (!this.isFree(organizationId)) continue;
      const first = queue.shift();
      this.waiting.delete(organizationId);
      if (queue.length > 0) this.waiting.set(organizationId, queue);
      if (!first) continue;
      clearTimeout(first.timer);
      if (!isAnswered && !this.isLong && performance.now() - Math.max(first.since, this.answered) >= A_WHILE) {
        first.refuse(new DatabaseSilent(SILENT));
        return true;
      }
      this.hold(organizationId);
      first.start();
      return false;
    }
    return false;
  }

  private turnOf(organizationId: number): Promise<void> {
    const queue = this.waiting.get(organizationId) ?? [];
    if (queue.length >= MOST_WAITING) return Promise.reject(new Overloaded(TOO_MANY));
    return new Promise((start, refuse) => {
      const one: Waiting = { since: performance.now(), start, refuse };
      this.wait(organizationId, queue, one);
      queue.push(one);
      this.waiting.set(organizationId, queue);
    });
  }

  /** Looks, when it may be time to wait no more, whether it is; when this process stood still, after what came meanwhile. */
  private wait(organizationId: number, queue: Waiting[], one: Waiting): void {
    const silentFrom = (): number => (this.isLong ? Infinity : Math.max(one.since, this.answered) + SILENCE);
    const look = (): void => {
      const place = queue.indexOf(one);
      if (place < 0) return;
      const now = performance.now();
      const isSilent = now >= silentFrom();
      if (!isSilent && now - one.since < PATIENCE) return this.wait(organizationId, queue, one);
      queue.splice(place, 1);
      if (queue.length === 0) this.waiting.delete(organizationId);
      one.refuse(isSilent ? new DatabaseSilent(SILENT) : new Overloaded(TOO_LONG));
    };
    const until = Math.min(silentFrom(), one.since + PATIENCE);
    one.timer = setTimeout(() => setImmediate(look), Math.ceil(until - performance.now()));
  }
}
