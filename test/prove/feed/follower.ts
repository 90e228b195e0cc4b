import { setTimeout as pause } from 'node:timers/promises';
import type { ApiClient } from '../../support/client';
import { type Change, listRecords, Replica } from '../../support/replica';
import type { Random } from '../support/random';

/** How a client follows the feed. */
export interface Habits {
  /** as its complaints say */
  name: string;
  resources?: string;
  /** changes of the next page */
  limit: () => number;
  /** how often it goes back to an older cursor */
  repeats?: number;
  /** before it asks again when nothing is left */
  pauseMs?: number;
}

const REMEMBERED = 10;
const AWAY_PAUSE_MS = 50;
/** One after another: half a minute at least. */
const MAX_REFUSED = 600;

/** What passes when the server or its database is back. */
const IS_AWAY = /got (429|5\d\d) |ECONN|EPIPE|socket hang up|Parse Error|aborted/;

/** A replica with habits, which goes on when it is refused for a while. */
export class Follower extends Replica {
  count = 0;
  /** what must not be: answers that refuse it for good */
  readonly broken: string[] = [];
  private past: string[] = [];
  private refused = 0;
  private isFollowing = false;
  private running = Promise.resolve();

  constructor(
    client: ApiClient,
    private readonly random: Random,
    readonly habits: Habits,
  ) {
    super(client, habits.resources ? { resources: habits.resources } : {});
  }

  /** What was told is counted, not kept. */
  override apply(change: Change): void {
    super.apply(change);
    this.count += this.changes.splice(0).length;
  }

  /** One page. @returns whether there is more */
  async step(): Promise<boolean> {
    const { random, habits, past } = this;
    if (past.length > 0 && random.chance(habits.repeats ?? 0)) this.cursor = random.pick(past);
    try {
      const { changes, cursor, hasMore } = await this.page({ limit: habits.limit() });
      for (const change of changes) this.apply(change);
      this.cursor = cursor;
      this.past = [...past, cursor].slice(-REMEMBERED);
      this.pages++;
      this.refused = 0;
      return hasMore;
    } catch (error) {
      const isPassing = IS_AWAY.test(String(error)) && ++this.refused < MAX_REFUSED;
      if (!isPassing) this.broken.push(`${habits.name}: ${String(error)}`);
      await pause(AWAY_PAUSE_MS);
      return this.broken.length === 0;
    }
  }

  /** Begins anew, as a client does whose cursor is gone. That of before the restore must be. */
  async restart(): Promise<void> {
    const rejection = this.cursor && (await this.page().then(() => 'accepted', String));
    if (rejection && !rejection.includes('got 410 '))
      this.broken.push(`${this.habits.name}: its old cursor: ${rejection}`);
    this.cursor = undefined;
    this.past = [];
    this.records.clear();
  }

  /** Until `catchUp`. */
  start(): void {
    this.isFollowing = true;
    this.running = (async () => {
      while (this.isFollowing && this.broken.length === 0) {
        const hasMore = await this.step();
        if (!hasMore && this.habits.pauseMs) await pause(this.habits.pauseMs);
      }
    })();
  }

  /** Everything that is there by now. */
  async catchUp(): Promise<void> {
    this.isFollowing = false;
    await this.running;
    while (await this.step());
  }
}

/** Records in which followers differ from the lists, and what else must not be. Nobody writes meanwhile. */
export async function complaints(client: ApiClient, followers: Follower[]): Promise<string[]> {
  const listed = await listRecords(client);
  return followers.flatMap((follower) => [
    ...follower.broken,
    ...follower.differencesFrom(listed).map((name) => `${follower.habits.name}: ${name}`),
  ]);
}
