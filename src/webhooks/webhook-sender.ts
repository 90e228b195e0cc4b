import {
  type BeforeApplicationShutdown,
  GoneException,
  Injectable,
  Logger,
  type OnApplicationBootstrap,
} from '@nestjs/common';
import type { Client } from 'pg';
import { Counter, Gauge } from 'prom-client';
import { DataSource, type EntityManager, IsNull, LessThanOrEqual, type QueryRunner } from 'typeorm';
import { type ChangesPage, ChangesService } from '../changes/changes.service';
import { isConnectionFault, Overloaded, sqlState } from '../database/errors';
import { FairQueue } from '../database/fair-queue';
import { Metrics } from '../observability/metrics';
import { idOf, type Outcome, send } from './webhook-message';
import { stateOf, WebhookEntity } from './webhook.entity';

/** Any constant: the advisory lock of the process that sends. */
const LEASE = 7_261_915;
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

/** A page that a webhook's cursor gives. */
type Page = ChangesPage & { webhook: WebhookEntity };

interface Delivery {
  isSlow: boolean;
  /** ends it without an outcome */
  abort: AbortController;
  oldestChange?: Date;
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
  /** since when a webhook waits for its next try with a change */
  private readonly waiting = new Map<string, Date>();
  private readonly turns = new FairQueue(1);
  private connection?: { runner: QueryRunner; changes: ChangesService };
  /** the process of PostgreSQL whose session has the lease */
  private backend = 0;
  private timer?: NodeJS.Timeout;
  private ticking = Promise.resolve();
  private isStopping = false;
  private readonly outcomes: Counter<'outcome'>;
  /** the clock of the waits */
  now = (): Date => new Date();

  constructor(
    private readonly dataSource: DataSource,
    private readonly changes: ChangesService,
    { registry }: Metrics,
  ) {
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
    const moments = [
      ...this.waiting.values(),
      ...[...this.deliveries.values()].map(({ oldestChange }) => oldestChange),
    ];
    const times = moments.flatMap((moment) => moment?.getTime() ?? []);
    return times.length > 0 ? Math.max(0, this.now().getTime() - Math.min(...times)) / SECOND_MS : 0;
  }

  onApplicationBootstrap(): void {
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
    try {
      if (this.isStopping || !(await this.hasLease())) return;
      for (const webhook of await this.due()) {
        if (this.isStopping || !this.hasRoom(webhook)) continue;
        const page = await this.next(webhook);
        if (page) this.begin(page);
      }
    } catch (error) {
      await this.failed(error);
    }
  }

  private async failed(error: unknown): Promise<void> {
    if (!this.isStopping) this.logger.warn({ message: 'Webhooks wait for the database', sqlState: sqlState(error) });
    if (isConnectionFault(error)) await this.drop();
  }

  private async hasLease(): Promise<boolean> {
    if (!this.connection) await this.connect();
    const [{ isHeld, backend }] = await this.inTurn(({ manager }) =>
      manager.query<[{ isHeld: boolean; backend: number }]>(
        `select pg_backend_pid() as backend,
          case when pg_backend_pid() = $2 then true else pg_try_advisory_lock($1) end as "isHeld"`,
        [LEASE, this.backend],
      ),
    );
    this.backend = isHeld ? backend : 0;
    return isHeld;
  }

  private async connect(): Promise<void> {
    const runner = this.dataSource.createQueryRunner();
    const client = (await runner.connect()) as Client;
    // With it goes the lease: another process may send now.
    client.once('end', () => this.abortAll());
    this.connection = { runner, changes: this.changes.on(runner.manager) };
  }

  /** On the connection of the lease, one thing after the other. */
  private inTurn<T>(work: (connection: { manager: EntityManager; changes: ChangesService }) => Promise<T>): Promise<T> {
    return this.turns.run(0, () => {
      if (!this.connection) throw new Overloaded('Webhooks have no connection');
      return work({ manager: this.connection.runner.manager, changes: this.connection.changes });
    });
  }

  private due(): Promise<WebhookEntity[]> {
    const isOn = { disabledAt: IsNull() };
    return this.inTurn(({ manager }) =>
      manager.find(WebhookEntity, {
        where: [
          { ...isOn, nextTryAt: IsNull() },
          { ...isOn, nextTryAt: LessThanOrEqual(this.now()) },
        ],
        order: { movedAt: { direction: 'ASC', nulls: 'FIRST' } },
      }),
    );
  }

  private hasRoom(webhook: WebhookEntity): boolean {
    if (this.deliveries.has(webhook.id) || this.deliveries.size >= MAX_DELIVERIES) return false;
    return !this.isSlow(webhook) || this.slowDeliveries < MAX_SLOW_DELIVERIES;
  }

  private isSlow = ({ id, failures }: WebhookEntity): boolean => failures > 0 || this.slow.has(id);

  private get slowDeliveries(): number {
    return [...this.deliveries.values()].filter(({ isSlow }) => isSlow).length;
  }

  /** The page to send: one with changes, or the first after a first reading. */
  private async next(webhook: WebhookEntity): Promise<Page | undefined> {
    for (;;) {
      const { organizationId, cursor, tellsEnd } = webhook;
      const caller = { organizationId, keyId: '' };
      const page = await this.inTurn(({ changes }) =>
        changes.page(caller, { cursor, limit: MAX_CHANGES }, MAX_BYTES),
      ).catch((error: unknown) => {
        if (error instanceof GoneException) return undefined;
        throw error;
      });
      if (!page) {
        webhook = await this.readAnew(webhook);
        continue;
      }
      if (page.changes.length > 0 || (tellsEnd && page.phase === 'changes')) return { ...page, webhook };
      const age = this.now().getTime() - (webhook.movedAt ?? webhook.createdAt).getTime();
      if (page.hasMore || age > KEEP_MS) webhook = await this.move(webhook, { cursor: page.cursor });
      if (!page.hasMore) return undefined;
    }
  }

  /** Its place is no longer kept: the receiver gets all that is there again. */
  private async readAnew(webhook: WebhookEntity): Promise<WebhookEntity> {
    const { id, organizationId, resources } = webhook;
    this.logger.warn({ message: 'A webhook begins a new first reading: its place is no longer kept', webhookId: id });
    const caller = { organizationId, keyId: '' };
    const cursor = await this.inTurn(({ changes }) => changes.start(caller, { resources }));
    return this.move(webhook, { cursor, tellsEnd: true });
  }

  /** Only from where it stands: the operator may have moved it meanwhile. */
  private async move(webhook: WebhookEntity, change: Partial<WebhookEntity>, where = {}): Promise<WebhookEntity> {
    const { id, cursor } = webhook;
    const moved = { ...change, movedAt: this.now() };
    await this.inTurn(({ manager }) => manager.update(WebhookEntity, { id, cursor, ...where }, moved));
    return { ...webhook, ...moved };
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
        if (!webhook || webhook.disabledAt || webhook.cursor !== page.webhook.cursor || delivery.abort.signal.aborted)
          return;
        const outcome = await this.tryOnce({ ...page, webhook }, delivery);
        if (!outcome) return;
        const isYes = 'status' in outcome && outcome.status >= 200 && outcome.status < 300;
        const after: WebhookEntity = await (isYes
          ? this.taken({ ...page, webhook }, outcome.status)
          : this.refused(webhook, page, outcome));
        page = isYes && !delivery.isSlow ? await this.next(after) : undefined;
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
    delivery.oldestChange = changeMoment(changes[0]);
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

  private async taken({ webhook, phase, cursor }: Page, status: number): Promise<WebhookEntity> {
    this.outcomes.inc({ outcome: 'success' });
    this.waiting.delete(webhook.id);
    if (webhook.failingSince) this.logger.warn({ message: 'A webhook is well again', webhookId: webhook.id });
    return this.move(webhook, {
      ...{ cursor, tellsEnd: webhook.tellsEnd && phase === 'snapshot' },
      ...{ failures: 0, failingSince: null, nextTryAt: null },
      ...{ lastSuccessAt: this.now(), lastStatus: status, lastFault: null },
    });
  }

  private async refused(webhook: WebhookEntity, { changes }: Page, outcome: Outcome): Promise<WebhookEntity> {
    this.outcomes.inc({ outcome: 'failure' });
    const now = this.now();
    const failures = webhook.failures + 1;
    const failingSince = webhook.failingSince ?? now;
    const isGone = 'status' in outcome && outcome.status === 410;
    const isOver = isGone || now.getTime() - failingSince.getTime() >= MAX_FAILING_MS;
    const [lastStatus, lastFault] = 'status' in outcome ? [outcome.status, null] : [null, outcome.fault];
    const about = { webhookId: webhook.id, status: lastStatus ?? undefined, fault: lastFault ?? undefined };
    if (isOver) this.logger.warn({ message: 'A webhook is disabled', ...about });
    else if (stateOf(webhook) === 'active') this.logger.warn({ message: 'A webhook fails', ...about });
    const oldest = changeMoment(changes[0]);
    if (oldest && !isOver) this.waiting.set(webhook.id, oldest);
    else this.waiting.delete(webhook.id);
    const nextTryAt = nextTry(outcome, failures, now);
    const change = { failures, failingSince, nextTryAt, lastStatus, lastFault, disabledAt: isOver ? now : null };
    // The operator may have disabled it meanwhile.
    return this.move(webhook, change, { disabledAt: IsNull() });
  }
}

const changeMoment = (change?: string): Date | undefined =>
  change === undefined ? undefined : new Date((JSON.parse(change) as { at: string }).at);

/** By the steps, or later where the receiver asks for it. */
function nextTry(outcome: Outcome, failures: number, now: Date): Date {
  const step = STEPS_MS[Math.min(failures, STEPS_MS.length) - 1] as number;
  const asked = 'status' in outcome ? outcome.retryAfter : undefined;
  const seconds = /^\s*\d+\s*$/.test(asked ?? '') ? Number(asked) * SECOND_MS : Date.parse(asked ?? '') - now.getTime();
  const wait = Math.min(DAY_MS, Math.max(step * (1 + MAX_CHANCE * Math.random()), seconds || 0));
  return new Date(now.getTime() + wait);
}
