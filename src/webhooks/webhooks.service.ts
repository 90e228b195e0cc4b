import { randomBytes } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { EntityManager, IsNull, Not } from 'typeorm';
import { uuidV7 } from '../database/uuid';
import { OrganizationEntity } from '../access/organization.entity';
import type { ChangesService } from '../changes/changes.service';
import { FOLLOWED_NAMES } from '../changes/followed';
import { idOf, type Outcome, send } from './webhook-message';
import { stateOf, WebhookEntity } from './webhook.entity';

export const MAX_WEBHOOKS = 10;

/** An organization has as many webhooks as it may have. */
export class TooManyWebhooks extends Error {}

const newSecret = (): string => `whsec_${randomBytes(32).toString('base64')}`;

/** The fields in which a webhook that was just made, or enabled, has nothing. */
const WELL = { failures: 0, failingSince: null, nextTryAt: null, disabledAt: null };

/** The operator's view of the webhooks. */
@Injectable()
export class WebhooksService {
  constructor(
    private readonly manager: EntityManager,
    private readonly changes: ChangesService,
  ) {}

  /** @throws TooManyWebhooks */
  async create(organizationId: number, url: string, resources = FOLLOWED_NAMES, since?: 'now') {
    const [id, secret] = [uuidV7(), newSecret()];
    const cursor = await this.start(organizationId, resources, since);
    await this.manager.transaction(async (manager) => {
      // Those that are made at once wait for each other.
      const lock = { mode: 'for_no_key_update' } as const;
      await manager.findOneOrFail(OrganizationEntity, { where: { id: organizationId }, lock });
      if ((await manager.countBy(WebhookEntity, { organizationId })) >= MAX_WEBHOOKS) throw new TooManyWebhooks();
      await manager.insert(WebhookEntity, { id, organizationId, url, resources, secret, cursor, tellsEnd: !since });
    });
    return { id, secret, organizationId, url: withoutQuery(url), resources, state: 'active' as const };
  }

  private start(organizationId: number, resources: string[], since?: 'now'): Promise<string> {
    return this.changes.start({ organizationId, keyId: '' }, { resources, since });
  }

  /** Oldest first. */
  async list(organizationId?: number): Promise<ListedWebhook[]> {
    const order = { createdAt: 'ASC', id: 'ASC' } as const;
    const where = organizationId === undefined ? {} : { organizationId };
    return (await this.webhooks.find({ where, order })).map(listed);
  }

  /** Sends a ping now, whatever the webhook's state is. It is no try. */
  async test(id: string): Promise<({ milliseconds: number } & Outcome) | null> {
    const webhook = await this.webhooks.findOneBy({ id });
    if (!webhook) return null;
    const started = performance.now();
    const now = new Date();
    const outcome = await send(webhook, { type: 'ping', id: idOf(id, now.toISOString()), fields: '' }, now);
    return { milliseconds: Math.round(performance.now() - started), ...outcome };
  }

  /** @param overlap milliseconds for which the old secret signs, too */
  rotateSecret(id: string, overlap: number) {
    return this.change(id, async (manager, { secret: oldSecret }) => {
      const [secret, oldExpiresAt] = [newSecret(), new Date(Date.now() + overlap)];
      await manager.update(WebhookEntity, { id }, { secret, oldSecret, oldExpiresAt });
      return { id, secret, oldExpiresAt };
    });
  }

  disable(id: string): Promise<ListedWebhook | null> {
    return this.change(id, async (manager, { disabledAt }) => {
      await manager.update(WebhookEntity, { id }, { disabledAt: disabledAt ?? new Date() });
      return listed(await manager.findOneByOrFail(WebhookEntity, { id }));
    });
  }

  /** It goes on where it stood, or, with `since`, skips what it missed. Of an active one nothing changes. */
  async enable(id: string, since?: 'now'): Promise<ListedWebhook | null> {
    return this.change(id, async (manager, webhook) => {
      if (stateOf(webhook) === 'active') return listed(webhook);
      const { organizationId, resources } = webhook;
      const place = since && { cursor: await this.start(organizationId, resources, since), tellsEnd: false };
      await manager.update(WebhookEntity, { id }, { ...WELL, ...place });
      return listed(await manager.findOneByOrFail(WebhookEntity, { id }));
    });
  }

  /** The paused webhooks, oldest first. */
  async listPaused(): Promise<{ id: string }[]> {
    const order = { createdAt: 'ASC', id: 'ASC' } as const;
    return this.webhooks.find({ select: { id: true }, where: { pausedAt: Not(IsNull()) }, order });
  }

  /** Begins a snapshot for a paused webhook. Of one that is not paused nothing changes; a disabled one stays disabled. */
  async resume(id: string): Promise<ListedWebhook | null> {
    return this.change(id, async (manager, webhook) => {
      if (!webhook.pausedAt) return listed(webhook);
      const { organizationId, resources, disabledAt } = webhook;
      const cursor = await this.start(organizationId, resources);
      await manager.update(WebhookEntity, { id }, { ...WELL, disabledAt, pausedAt: null, cursor, tellsEnd: true });
      return listed(await manager.findOneByOrFail(WebhookEntity, { id }));
    });
  }

  delete(id: string): Promise<{ id: string } | null> {
    return this.change(id, async (manager) => {
      await manager.delete(WebhookEntity, { id });
      return { id };
    });
  }

  /** @returns null when there is no such webhook */
  private change<T>(
    id: string,
    work: (manager: EntityManager, webhook: WebhookEntity) => Promise<T>,
  ): Promise<T | null> {
    return this.manager.transaction(async (manager) => {
      const lock = { mode: 'pessimistic_write' } as const;
      const webhook = await manager.findOne(WebhookEntity, { where: { id }, lock });
      return webhook && work(manager, webhook);
    });
  }

  private get webhooks() {
    return this.manager.getRepository(WebhookEntity);
  }
}

const withoutQuery = (url: string): string => url.replace(/[?#].*$/s, '');

/** A webhook as it is listed: its URL without the query, which may hold a secret. */
export type ListedWebhook = ReturnType<typeof listed>;

function listed(webhook: WebhookEntity) {
  const { id, organizationId, url, resources, lastSuccessAt, lastStatus, lastFault, failingSince, createdAt } = webhook;
  const state = stateOf(webhook);
  return {
    ...{ id, organizationId, url: withoutQuery(url), resources, state },
    ...{ lastSuccessAt, lastStatus, lastFault, failingSince, createdAt },
  };
}

const LOCAL = /^(localhost|127(\.\d+){3}|\[::1\])$/;

/** Why a URL cannot be a webhook's, if it cannot. @param mayBeHttp whether `http` may leave this machine */
export function urlFault(text: string, mayBeHttp: boolean): string | undefined {
  if (!URL.canParse(text) || text.length > 2048) return 'must be a URL of at most 2,048 characters';
  const { protocol, username, password, hostname } = new URL(text);
  if (username || password) return 'must have no user and password: receivers check the signature';
  if (protocol === 'https:' || (protocol === 'http:' && (mayBeHttp || LOCAL.test(hostname)))) return undefined;
  return 'must begin with https:// (http:// to this machine only, or with LANYARD_WEBHOOK_HTTP=on)';
}
