import {
  type BeforeApplicationShutdown,
  GoneException,
  Injectable,
  Logger,
  type OnApplicationBootstrap,
} from '@nestjs/common';
import type { Client } from 'pg';
import { Counter, Gauge } from 'prom-client';
import { DataSource, type EntityManager, type FindOptionsWhere, IsNull, type QueryRunner } from 'typeorm';
import { type ChangesPage, ChangesService, ForeignCursor } from '../changes/changes.service';
import { Config } from '../config';
import { breaksConnection, logFields } from '../database/errors';
import { Overloaded } from '../errors/exceptions';
import { FairQueue } from '../database/fair-queue';
import { Statements } from '../database/statements';
import { Metrics } from '../observability/metrics';
import { idOf, isYes, type Outcome, send } from './webhook-message';
import { stateOf, WebhookEntity } from './webhook.entity';

/** Any constant: the advisory lock of the process that sends. */
const LEASE = 7_261_915;
/** PostgreSQL notices within 20 seconds that the machine of the process is gone. */
const TRY_LEASE = `select pg_try_advisory_lock($1) as "isHeld", set_config('tcp_keepalives_idle', '10', false),
  set_config('tcp_keepalives_interval', '5', false), set_config('tcp_keepalives_count', '2', false)`;
const TICK_MS = 1_000;

const MAX_CHANGES = 100;
const MAX_BYTES = 256 << 10;
const MAX_DELIVERIES = 8;
const SLOW_MS = 1_000;
/** Of the deliveries, those to receivers that fail or are slow. */
const MAX_SLOW_DELIVERIES = 4;

const SECOND_MS = 1_000;
const DAY_MS = 86_400 * SECOND_MS;
/** Milliseconds after a try, by the number of tries since the last yes. */
const STEPS_MS = [5, 30, 300, 1_800, 3_600].map((seconds) => seconds * SECOND_MS);
const MAX_CHANCE = 0.2;
const MAX_FAILING_MS = 5 * DAY_MS;
/** A cursor that tells nothing new is stored so often, so that its place is not swept. */
const KEEP_MS = 3_600 * SECOND_MS;

/** What the log says of a state that begins. */
const LINES = {
  active: 'A webhook is well again',
  failing: 'A webhook fails',
  paused: 'A webhook is paused',
  disabled: 'A webhook is disabled',
};

/** A page that a webhook's cursor gives. */
type Page = ChangesPage & { webhook: WebhookEntity };

/** Of this process to the database, with the lease if it has it. */
interface Connection {
  runner: QueryRunner;
  manager: EntityManager;
  changes: ChangesService;
  hasLease: boolean;
}

interface Delivery {
  isSlow: boolean;
  /** ends it without an outcome */
  abort: AbortController;
  done?: Promise<void>;
}

/**
 * Sends the feed of changes to webhooks (docs/webhooks.md): a page at a time to each, again until its receiver says yes. One
 * process does, that holds an advisory lock on a connection of its own; what is read and stored goes through it, too.
 */
@Injectable()
export class WebhookSender implements OnApplicationBootstrap, BeforeApplicationShutdown {
  private readonly logger = new Logger('Webhooks');
  private readonly deliveries = new Map<string, Delivery>();
  /** webhooks whose last try took long */
  private readonly slow = new Set<string>();
  /** the oldest change that a webhook is sent, or waits for its next try with */
  private readonly waiting = new Map<string, Date>();
  private readonly turns = new FairQueue(1);
  private readonly changes: ChangesService;
  private connection?: Connection;
  /** faults of the database that followed each other */
  private faults = 0;
  private timer?: NodeJS.Timeout;
  private ticking = Promise.resolve();
  private isStopping = false;
  private readonly outcomes: Counter<'outcome'>;
  /** the clock of the waits */
  now = (): Date => new Date();

  constructor(
    private readonly dataSource: DataSource,
    { registry }: Metrics,
    private readonly config: Config,
  ) {
    // Not those of requests, which would wait for large records that are read here.
    this.changes = new ChangesService(Statements.on(dataSource));
    this.outcomes = new Counter({
      name: 'lanyard_webhook_deliveries_total',
      help: 'Tries to deliver a page to a webhook, by their outcome.',
      labelNames: ['outcome'],
      registers: [registry],
    });
    const oldest: Gauge = new Gauge({
      name: 'lanyard_webhook_oldest_change_seconds',
      help: 'Age of the oldest change that a webhook was sent and has not taken yet.',
      registers: [registry],
      collect: (): void => oldest.set(this.oldestChangeSeconds()),
    });
  }

  private oldestChangeSeconds(): number {
    const moments = [...this.waiting.values()].map((moment) => moment.getTime());
    return Math.max(0, ...moments.map((moment) => (this.now().getTime() - moment) / SECOND_MS));
  }

  onApplicationBootstrap(): void {
    if (this.config.webhooks === 'off') return;
    const next = async (): Promise<void> => {
      await this.tick();
      if (!this.isStopping) this.timer = setTimeout(tick, TICK_MS).unref();
    };
    const tick = (): void => void (this.ticking = next());
    tick();
  }

  beforeApplicationShutdown(): Promise<void> {
    return this.stop();
  }

  /** Ends deliveries under way; another process sends them again. */
  async stop(): Promise<void> {
    this.isStopping = true;
    clearTimeout(this.timer);
    this.abortAll();
    await this.ticking;
    await Promise.all([...this.deliveries.values()].map(async ({ done }) => done));
    await this.drop();
  }

  private abortAll(): void {
    for (const { abort } of this.deliveries.values()) abort.abort();
  }

  /** Lets go of the connection, and so of the lease. */
  private async drop(): Promise<void> {
    this.abortAll();
    this.waiting.clear();
    const runner = this.connection?.runner;
    this.connection = undefined;
    if (!runner) return;
    // Not back into the pool, where it would keep the lock.
    void ((await runner.connect()) as Client).end().catch(() => undefined);
    await runner.release();
  }

  /** Begins what is due. */
  async tick(): Promise<void> {
    const before = this.faults;
    try {
      if (this.isStopping || !(await this.hasLease())) return;
      for (const webhook of await this.due()) {
        if (this.isStopping || !this.connection || !this.hasRoom(webhook)) continue;
        // One that cannot be read holds up no other.
        await this.next(webhook).then(
          (page) => page && this.begin(page),
          (error) => this.failed(error),
        );
      }
    } catch (error) {
      await this.failed(error);
    }
    if (this.faults === before) this.faults = 0;
  }

  private async failed(error: unknown): Promise<void> {
    const isFirst = this.faults++ === 0;
    if (isFirst && !this.isStopping)
      this.logger.warn({ message: 'Webhooks wait for the database', ...logFields(error) });
    if (breaksConnection(error)) await this.drop();
  }

  private async hasLease(): Promise<boolean> {
    if (!this.connection) await this.connect();
    return this.inTurn(async (connection) => {
      if (connection.hasLease) return true;
      const [lease] = await connection.manager.query<[{ isHeld: boolean }]>(TRY_LEASE, [LEASE]);
      return (connection.hasLease = lease.isHeld);
    });
  }

  private async connect(): Promise<void> {
    const runner = this.dataSource.createQueryRunner();
    const client = (await runner.connect()) as Client;
    // With it goes the lease: another process may send now.
    client.once('end', () => this.abortAll());
    const { manager } = runner;
    this.connection = { runner, manager, changes: this.changes.on(manager), hasLease: false };
  }

  /** On the connection of the lease, one thing after the other. */
  private inTurn<T>(work: (connection: Connection) => Promise<T>): Promise<T> {
    return this.turns.run(0, () => {
      if (!this.connection) throw new Overloaded('Webhooks have no connection');
      return work(this.connection);
    });
  }

  private async due(): Promise<WebhookEntity[]> {
    const order = { movedAt: { direction: 'ASC', nulls: 'FIRST' } } as const;
    const active = await this.inTurn(({ manager }) =>
      manager.find(WebhookEntity, { where: { disabledAt: IsNull(), pausedAt: IsNull() }, order }),
    );
    // The operator may have disabled, enabled or deleted one that waited.
    const failing = new Set(active.filter(({ nextTryAt }) => nextTryAt).map(({ id }) => id));
    for (const id of this.waiting.keys()) if (!failing.has(id) && !this.deliveries.has(id)) this.waiting.delete(id);
    const now = this.now();
    return active.filter(({ nextTryAt }) => !nextTryAt || nextTryAt <= now);
  }

  private hasRoom(webhook: WebhookEntity): boolean {
    if (this.deliveries.has(webhook.id) || this.deliveries.size >= MAX_DELIVERIES) return false;
    return !this.isSlow(webhook) || this.slowDeliveries < MAX_SLOW_DELIVERIES;
  }

  private isSlow = ({ id, failures }: WebhookEntity): boolean => failures > 0 || this.slow.has(id);

  private get slowDeliveries(): number {
    return [...this.deliveries.values()].filter(({ isSlow }) => isSlow).length;
  }

  /** The page to send: one with changes, or the one without that tells that a first reading has ended. */
  private async next(from: WebhookEntity): Promise<Page | undefined> {
    for (let webhook: WebhookEntity | undefined = from; webhook;) {
      const { organizationId, cursor, tellsEnd, movedAt, createdAt } = webhook;
      const caller = { organizationId, keyId: '' };
      const page: ChangesPage | undefined = await this.inTurn(({ changes }) =>
        changes.page(caller, { cursor, limit: MAX_CHANGES }, MAX_BYTES),
      ).catch(async (error: unknown) => {
        if (error instanceof ForeignCursor) await this.pause(webhook as WebhookEntity);
        if (error instanceof GoneException) return undefined;
        throw error;
      });
      if (!page) {
        webhook = await this.readAnew(webhook);
        continue;
      }
      const { changes, hasMore } = page;
      if (tellsEnd && page.phase === 'changes')
        return { ...page, webhook, changes: [], cursor, hasMore: hasMore || changes.length > 0 };
      if (changes.length > 0) return { ...page, webhook };
      const age = this.now().getTime() - (movedAt ?? createdAt).getTime();
      if (hasMore || age > KEEP_MS) webhook = await this.move(webhook, { cursor: page.cursor });
      if (!hasMore) return undefined;
    }
    return undefined;
  }

  /** Its cursor is of another database, of which this one is a copy. A restore that went on while it was read may bring one. */
  private async pause({ id, cursor }: WebhookEntity): Promise<void> {
    const where = { id, cursor, pausedAt: IsNull() };
    const { affected } = await this.inTurn(({ manager }) =>
      manager.update(WebhookEntity, where, { pausedAt: this.now() }),
    );
    if (affected)
      this.logger.warn({ message: 'A webhook is paused: its cursor is of another database', webhookId: id });
  }

  /** Its place is no longer kept: the receiver gets all that is there again. */
  private async readAnew(webhook: WebhookEntity): Promise<WebhookEntity | undefined> {
    const { id, organizationId, resources } = webhook;
    const caller = { organizationId, keyId: '' };
    const cursor = await this.inTurn(({ changes }) => changes.start(caller, { resources }));
    // A paused one waits for the operator: it may be the copy of a webhook that another database still sends to.
    const moved = await this.move(webhook, { cursor, tellsEnd: true }, { pausedAt: IsNull() });
    const message = 'A webhook begins a new first reading: its place is no longer kept';
    if (moved) this.logger.warn({ message, webhookId: id });
    return moved;
  }

  /** Only from where it stands. @returns undefined when the operator has moved it meanwhile */
  private async move(
    webhook: WebhookEntity,
    change: Partial<WebhookEntity>,
    where: FindOptionsWhere<WebhookEntity> = {},
  ): Promise<WebhookEntity | undefined> {
    const { id, cursor } = webhook;
    const moved = { ...change, movedAt: this.now() };
    const { raw } = await this.inTurn(({ manager }) =>
      manager
        .createQueryBuilder()
        .update(WebhookEntity)
        .set(moved)
        .where({ id, cursor, ...where })
        .returning(['disabledAt'])
        .execute(),
    );
    const [row] = raw as { disabled_at: Date | null }[];
    return row && { ...webhook, ...moved, disabledAt: row.disabled_at };
  }

  /** Nobody waits for it. */
  private begin(page: Page): void {
    const delivery: Delivery = { isSlow: this.isSlow(page.webhook), abort: new AbortController() };
    this.deliveries.set(page.webhook.id, delivery);
    delivery.done = this.deliver(page, delivery);
  }

  /** Sends a page, and those that follow it. */
  private async deliver(first: Page, delivery: Delivery): Promise<void> {
    const { id } = first.webhook;
    try {
      for (let page: Page | undefined = first; page;) {
        // What the operator has said meanwhile holds.
        const webhook = await this.inTurn(({ manager }) => manager.findOneBy(WebhookEntity, { id }));
        if (!webhook || webhook.disabledAt || webhook.pausedAt || webhook.cursor !== page.webhook.cursor) return;
        if (this.isStopping || delivery.abort.signal.aborted) return;
        const outcome = await this.tryOnce({ ...page, webhook }, delivery);
        if (!outcome) return;
        const after: WebhookEntity | undefined = isYes(outcome)
          ? await this.taken({ ...page, webhook }, outcome.status)
          : await this.refused(webhook, outcome);
        page = after && isYes(outcome) && !delivery.isSlow ? await this.next(after) : undefined;
      }
    } catch (error) {
      await this.failed(error);
    } finally {
      this.deliveries.delete(id);
    }
  }

  /** @returns undefined when it was ended without an outcome */
  private async tryOnce({ webhook, phase, changes, hasMore }: Page, delivery: Delivery): Promise<Outcome | undefined> {
    const fields = `,"phase":"${phase}","changes":[${changes.join(',')}],"hasMore":${hasMore}`;
    const message = { type: 'changes' as const, id: idOf(webhook.id, webhook.cursor, phase, ...changes), fields };
    if (changes[0]) this.waiting.set(webhook.id, new Date((JSON.parse(changes[0]) as { at: string }).at));
    this.slow.delete(webhook.id);
    const late = setTimeout(() => {
      this.slow.add(webhook.id);
      delivery.isSlow = true;
      // It is sent again when there is room among the slow ones.
      if (this.slowDeliveries > MAX_SLOW_DELIVERIES) delivery.abort.abort();
    }, SLOW_MS);
    const outcome = await send(webhook, message, new Date(), delivery.abort.signal);
    clearTimeout(late);
    return delivery.abort.signal.aborted && 'fault' in outcome ? undefined : outcome;
  }

  private async taken({ webhook, phase, cursor }: Page, status: number): Promise<WebhookEntity | undefined> {
    this.outcomes.inc({ outcome: 'success' });
    this.waiting.delete(webhook.id);
    const after = await this.move(webhook, {
      ...{ cursor, tellsEnd: webhook.tellsEnd && phase === 'snapshot' },
      ...{ failures: 0, failingSince: null, nextTryAt: null },
      ...{ lastSuccessAt: this.now(), lastStatus: status, lastFault: null },
    });
    this.tell(webhook, after);
    return after;
  }

  private async refused(webhook: WebhookEntity, outcome: Outcome): Promise<WebhookEntity | undefined> {
    this.outcomes.inc({ outcome: 'failure' });
    const now = this.now();
    const failures = webhook.failures + 1;
    const failingSince = webhook.failingSince ?? now;
    const isGone = 'status' in outcome && outcome.status === 410;
    const isOver = isGone || now.getTime() - failingSince.getTime() >= MAX_FAILING_MS;
    const [lastStatus, lastFault] = 'status' in outcome ? [outcome.status, null] : [null, outcome.fault];
    const nextTryAt = nextTry(outcome, failures, now);
    const change = { failures, failingSince, nextTryAt, lastStatus, lastFault, disabledAt: isOver ? now : null };
    // A webhook that the operator has disabled or enabled meanwhile stays as it is.
    const where = { disabledAt: IsNull(), failures: webhook.failures };
    const after = await this.move(webhook, change, where);
    this.tell(webhook, after);
    return after;
  }

  /** A line when a delivery has changed the state, and the operator has not. */
  private tell(before: WebhookEntity, after = before): void {
    const state = stateOf(after);
    if (state === stateOf(before) || (after.disabledAt && !after.nextTryAt)) return;
    const { id: webhookId, lastStatus, lastFault } = after;
    const about = { webhookId, status: lastStatus ?? undefined, fault: lastFault ?? undefined };
    this.logger.warn({ message: LINES[state], ...about });
  }
}

/** By the steps, or later where the receiver asks for it. */
function nextTry(outcome: Outcome, failures: number, now: Date): Date {
  const step = STEPS_MS[Math.min(failures, STEPS_MS.length) - 1] as number;
  const asked = 'status' in outcome ? outcome.retryAfter : undefined;
  const seconds = /^\s*\d+\s*$/.test(asked ?? '') ? Number(asked) * SECOND_MS : Date.parse(asked ?? '') - now.getTime();
  const wait = Math.min(DAY_MS, Math.max(step * (1 + MAX_CHANCE * Math.random()), seconds || 0));
  return new Date(now.getTime() + wait);
}
