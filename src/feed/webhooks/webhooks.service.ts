import { randomBytes } from 'node:crypto';
import { GoneException, Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { IsNull, Not, Repository } from 'typeorm';
import { type AuditChange, recordAudit } from '../../access/audit-log.service';
import { OrganizationEntity } from '../../access/organization.entity';
import { type ChangesPage, ChangesService } from '../changes/changes.service';
import { claimLog } from '../changes/claim-log';
import type { Caller } from '../../data/database/actor';
import { TooManyWebhooks } from '../../errors/exceptions';
import { uuidV7 } from '../../data/database/uuid';
import type { DeliveryResult } from '../changes/delivery-result';
import { FeedReaderEntity, stateOf, withoutQuery } from '../changes/feed-reader.entity';
import { changedAt } from '../changes/feed-readers';
import { messageId, type Webhook, WebhookClient } from './webhook-client';
import { ExpectedError } from '../../errors/expected-error';

export const MAX_WEBHOOKS = 10;
/** Waiting changes are counted up to this number. */
export const MAX_COUNTED_CHANGES = 100;

/** Of these, API keys may have registered this many. */
export const MAX_KEY_WEBHOOKS = 5;

/** The webhook belongs to an API key, whose client has its secret. */
export class WebhookOfKey extends ExpectedError {
  constructor(id: string) {
    super(`Webhook ${id} was registered with an API key. Register another one to get a new secret.`);
  }
}

const newSecret = (): string => `whsec_${randomBytes(32).toString('base64')}`;

/** What a webhook has when it was just created or enabled. The sender looks at it at once. */
const HEALTHY_STATE = {
  failures: 0,
  failingSince: null,
  nextAttemptAt: null,
  waitingSince: null,
  caughtUpTo: null,
  disabledAt: null,
};

export const OLDEST_FIRST = { createdAt: 'ASC', id: 'ASC' } as const;

/** What is to be stored of a webhook, which is locked meanwhile. */
type Decision = (
  webhook: FeedReaderEntity,
  webhooks: Repository<FeedReaderEntity>,
) => MaybePromise<Partial<FeedReaderEntity> | void>;
type MaybePromise<T> = T | Promise<T>;

/** The operator's view of the webhooks. */
@Injectable()
export class WebhooksService {
  constructor(
    @InjectRepository(FeedReaderEntity) private readonly webhooks: Repository<FeedReaderEntity>,
    @InjectRepository(OrganizationEntity) private readonly organizations: Repository<OrganizationEntity>,
    private readonly changes: ChangesService,
    private readonly client: WebhookClient,
  ) {}

  /**
   * @param registeredBy the API key that the webhook then belongs to; without it, it is the operator's
   * @throws TooManyWebhooks
   */
  async create(
    organizationId: number,
    url: string,
    resources: string[] = [...this.changes.resources.names],
    since?: 'now',
    registeredBy?: Caller,
  ) {
    const id = uuidV7();
    const secret = newSecret();
    const cursor = await this.start(organizationId, resources, since);
    await this.webhooks.manager.transaction(async (manager) => {
      // Webhooks that are created at the same time wait for each other.
      const lock = { mode: 'for_no_key_update' } as const;
      await manager.withRepository(this.organizations).findOneOrFail({ where: { id: organizationId }, lock });
      const webhooks = manager.withRepository(this.webhooks);
      await requireRoom(webhooks, organizationId, registeredBy !== undefined);
      const apiKeyIds = registeredBy ? [registeredBy.keyId] : null;
      await webhooks.insert({ id, organizationId, url, resources, secret, cursor, apiKeyIds, endsSnapshot: !since });
      await recordWebhook(webhooks, { id, organizationId }, 'create', 'created', registeredBy);
    });
    return { id, secret, organizationId, url: withoutQuery(url), resources, state: 'active' as const };
  }

  private start(organizationId: number, resources: string[], since?: 'now'): Promise<string> {
    return this.changes.start({ organizationId, keyId: '' }, { resources, since });
  }

  /** Oldest first. In a copied database that no server has used yet, they are paused first. */
  async list(organizationId?: number): Promise<ListedWebhook[]> {
    await claimLog(this.webhooks.manager);
    const listed: ListedWebhook[] = [];
    const where = organizationId === undefined ? {} : { organizationId };
    for (const webhook of await this.webhooks.find({ where, order: OLDEST_FIRST }))
      listed.push(await this.describe(webhook));
    return listed;
  }

  /** Sends a ping now, whatever the webhook's state is. It does not count as an attempt. */
  async test(id: string): Promise<({ milliseconds: number } & DeliveryResult) | null> {
    const webhook = await this.webhooks.findOneBy({ id, subscription: IsNull() });
    if (!webhook) return null;
    const started = performance.now();
    const now = new Date();
    const message = { type: 'ping', id: messageId(id, now.toISOString()), fields: '' } as const;
    const result = await this.client.send(webhook as Webhook, message, now);
    return { milliseconds: Math.round(performance.now() - started), ...result };
  }

  /**
   * @param overlap milliseconds for which the old secret signs, too
   * @throws WebhookOfKey
   */
  async rotateSecret(id: string, overlap: number) {
    const secret = newSecret();
    const oldExpiresAt = new Date(Date.now() + overlap);
    const webhook = await this.change(id, ({ secret: oldSecret, apiKeyIds }) => {
      if (apiKeyIds) throw new WebhookOfKey(id);
      return { secret, oldSecret, oldExpiresAt };
    });
    return webhook && { id, secret, oldExpiresAt };
  }

  disable(id: string): Promise<ListedWebhook | null> {
    return this.changeState(id, ({ disabledAt }) => ({ disabledAt: disabledAt ?? new Date() }));
  }

  /** Resumes where it stopped or, with `since`, skips what it missed. An active webhook stays as it is. */
  enable(id: string, since?: 'now'): Promise<ListedWebhook | null> {
    return this.changeState(id, async (webhook) => {
      if (stateOf(webhook) === 'active') return undefined;
      if (!since) return HEALTHY_STATE;
      const cursor = await this.start(webhook.organizationId, webhook.resources, since);
      return { ...HEALTHY_STATE, cursor, endsSnapshot: false };
    });
  }

  /** Resumes all paused webhooks and methods, oldest first. */
  async resumeAll(): Promise<ListedWebhook[]> {
    const resumed: (ListedWebhook | null)[] = [];
    for (const { id } of await this.webhooks.find({ where: { pausedAt: Not(IsNull()) }, order: OLDEST_FIRST }))
      resumed.push(await this.resume(id));
    return resumed.filter((webhook) => webhook !== null);
  }

  /** Begins a snapshot for a paused webhook. Of one that is not paused nothing changes; a disabled one stays disabled. */
  resume(id: string): Promise<ListedWebhook | null> {
    return this.changeState(id, async (webhook, webhooks) => {
      const { organizationId, resources, pausedAt, disabledAt } = webhook;
      if (!pausedAt) return undefined;
      await recordWebhook(webhooks, webhook, 'resume', 'updated');
      const cursor = await this.start(organizationId, resources);
      return { ...HEALTHY_STATE, disabledAt, pausedAt: null, cursor, endsSnapshot: true };
    });
  }

  async delete(id: string): Promise<{ id: string } | null> {
    const webhook = await this.change(id, async (stored, webhooks) => {
      await webhooks.delete({ id });
      await recordWebhook(webhooks, stored, 'delete', 'deleted');
    });
    return webhook && { id };
  }

  private async changeState(id: string, decide: Decision): Promise<ListedWebhook | null> {
    const webhook = await this.change(id, decide);
    return webhook && this.describe(webhook);
  }

  /** @returns null when there is no such webhook */
  private change(id: string, decide: Decision): Promise<FeedReaderEntity | null> {
    return this.webhooks.manager.transaction(async (manager) => {
      const webhooks = manager.withRepository(this.webhooks);
      const webhook = await webhooks.findOne({ where: { id }, lock: { mode: 'pessimistic_write' } });
      const change = webhook && (await decide(webhook, webhooks));
      if (change) await webhooks.update({ id }, change);
      return webhook && { ...webhook, ...change };
    });
  }

  private async describe(webhook: FeedReaderEntity) {
    const { id, organizationId, url, subscription, apiKeyIds, resources, lastSuccessAt, lastStatus, lastError } =
      webhook;
    const { failingSince, nextAttemptAt, createdAt } = webhook;
    const state = stateOf(webhook);
    return {
      id,
      organizationId,
      url: url === null ? null : withoutQuery(url),
      subscription,
      keyIds: apiKeyIds,
      resources,
      state,
      lastSuccessAt,
      lastStatus,
      lastError,
      failingSince,
      nextAttemptAt: state === 'failing' ? nextAttemptAt : null,
      waiting: await this.waitingFor(webhook),
      createdAt,
    };
  }

  /** What the receiver has not acknowledged yet; null when that is nothing. */
  private async waitingFor({ organizationId, cursor }: FeedReaderEntity): Promise<WaitingChanges | null> {
    try {
      const query = { cursor, limit: MAX_COUNTED_CHANGES };
      const { phase, changes } = await this.changes.page({ organizationId, keyId: '' }, query);
      const [oldest] = changes;
      return oldest === undefined ? null : { phase, changes: changes.length, since: changedAt(oldest) };
    } catch (error) {
      // Its position is no longer kept, so a snapshot comes next.
      if (error instanceof GoneException) return { phase: 'snapshot', changes: null, since: null };
      throw error;
    }
  }
}

/** @throws TooManyWebhooks */
async function requireRoom(
  webhooks: Repository<FeedReaderEntity>,
  organizationId: number,
  isOfKey: boolean,
): Promise<void> {
  const count = await webhooks.countBy({ organizationId, subscription: IsNull() });
  if (count >= MAX_WEBHOOKS)
    throw new TooManyWebhooks(`Organization ${organizationId} already has the maximum of ${MAX_WEBHOOKS} webhooks.`);
  if (!isOfKey) return;
  const countOfKeys = await webhooks.countBy({ organizationId, apiKeyIds: Not(IsNull()) });
  if (countOfKeys >= MAX_KEY_WEBHOOKS)
    throw new TooManyWebhooks(`API keys have already registered ${MAX_KEY_WEBHOOKS} webhooks.`);
}

export const recordWebhook = (
  { manager }: Repository<FeedReaderEntity>,
  { id, organizationId }: Pick<FeedReaderEntity, 'id' | 'organizationId'>,
  command: string,
  change: AuditChange,
  { keyId, operation = `webhooks ${command}` }: Partial<Caller> = {},
): Promise<void> => recordAudit(manager, { organizationId, operation, resource: 'webhooks', change, id, keyId });

/** The changes of a webhook's next pages, counted up to MAX_COUNTED_CHANGES, and when the oldest was made. */
export interface WaitingChanges {
  phase: ChangesPage['phase'];
  changes: number | null;
  since: Date | null;
}

/** A webhook as it is listed: its URL without the query, which may hold a secret, or the name of a method. */
export type ListedWebhook = Awaited<ReturnType<WebhooksService['describe']>>;
