import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { ArrayContains, type FindOptionsWhere, Repository } from 'typeorm';
import { ApiKeysService } from '../../access/api-keys.service';
import type { Caller } from '../../data/database/actor';
import { Page } from '../../data/database/statements';
import { InvalidField, RowNotFound } from '../../errors/exceptions';
import type { PageQuery } from '../../fields/page-query';
import { ChangesService } from '../changes/changes.service';
import { FeedReaderEntity, stateOf, withoutQuery } from '../changes/feed-reader.entity';
import { KeyReceivers } from './key-receivers';
import type { WebhookCreateV0Input } from './webhook.dto';
import type { RegisteredWebhookV0Response, WebhookV0Response } from './webhook.response';
import { OLDEST_FIRST, recordWebhook, WebhooksService } from './webhooks.service';

/** The webhooks that API keys register. All others do not exist for them. */
@Injectable()
export class KeyWebhooksService {
  constructor(
    @InjectRepository(FeedReaderEntity) private readonly webhooks: Repository<FeedReaderEntity>,
    private readonly operator: WebhooksService,
    private readonly receivers: KeyReceivers,
    private readonly changes: ChangesService,
    private readonly keys: ApiKeysService,
  ) {}

  async list(caller: Caller, { limit, offset }: PageQuery): Promise<Page> {
    const [rows, total] = await this.webhooks.findAndCount({
      where: ofKey(caller),
      order: OLDEST_FIRST,
      take: limit,
      skip: limit * offset,
    });
    return new Page({ items: rows.map(toResponse), limit, offset, total });
  }

  /** @throws RowNotFound */
  async get(caller: Caller, id: string): Promise<WebhookV0Response> {
    const webhook = await this.webhooks.findOneBy({ ...ofKey(caller), id });
    if (!webhook) throw new RowNotFound();
    return toResponse(webhook);
  }

  /** @throws InvalidField, TooManyWebhooks */
  async create(caller: Caller, { url, resources, since }: WebhookCreateV0Input): Promise<RegisteredWebhookV0Response> {
    await this.requireUrl(url);
    const hasNames = resources === undefined || (resources.length > 0 && this.changes.resources.hasNames(resources));
    if (!hasNames) throw new InvalidField('resources', 'format');
    const { href } = new URL(url);
    const { id, secret } = await this.operator.create(caller.organizationId, href, resources, since, caller);
    return { ...(await this.get(caller, id)), secret };
  }

  /** @throws RowNotFound */
  async delete(caller: Caller, id: string): Promise<void> {
    await this.webhooks.manager.transaction(async (manager) => {
      const webhooks = manager.withRepository(this.webhooks);
      const { affected } = await webhooks.delete({ ...ofKey(caller), id });
      if (!affected) throw new RowNotFound();
      const { organizationId } = caller;
      await recordWebhook(webhooks, { id, organizationId }, 'delete', 'deleted', caller);
    });
  }

  /**
   * Rotates a key. Its webhooks are passed on to the new key, so that both have them, or deleted. All of it happens, or nothing.
   * @param overlap seconds for which the old key is still valid
   * @returns the new key with the IDs of those webhooks, or null if no key has that ID
   * @throws KeyExpiredOrRevoked
   */
  async rotateKey(id: string, overlap: number, { deletesWebhooks = false } = {}) {
    return this.webhooks.manager.transaction(async (manager) => {
      const issued = await this.keys.rotate(id, overlap);
      if (!issued) return null;
      const webhooks = manager.withRepository(this.webhooks);
      const where = ofKey({ organizationId: issued.organizationId, keyId: id });
      const found = await webhooks.find({ where, order: OLDEST_FIRST, lock: { mode: 'pessimistic_write' } });
      for (const { id: webhookId, apiKeyIds } of found) {
        if (deletesWebhooks) await this.operator.delete(webhookId);
        else await webhooks.update({ id: webhookId }, { apiKeyIds: [...(apiKeyIds ?? []), issued.id] });
      }
      return { ...issued, webhooks: found.map((webhook) => webhook.id) };
    });
  }

  /** @throws InvalidField unless it is the URL of an address that a webhook of a key may be sent to */
  private async requireUrl(text: string): Promise<void> {
    if (!URL.canParse(text)) throw new InvalidField('url', 'format');
    const url = new URL(text);
    if (url.username || url.password || !/^https?:$/.test(url.protocol)) throw new InvalidField('url', 'format');
    if (!(await this.receivers.allowsHost(url))) throw new InvalidField('url', 'range');
    if (!(await this.receivers.allowsProtocol(url))) throw new InvalidField('url', 'format');
  }
}

const ofKey = ({ organizationId, keyId }: Caller): FindOptionsWhere<FeedReaderEntity> => ({
  organizationId,
  apiKeyIds: ArrayContains([keyId]),
});

const isoText = (date: Date | null): string | null => date && date.toISOString();

function toResponse(webhook: FeedReaderEntity): WebhookV0Response {
  const { id, url, resources, lastSuccessAt, lastStatus, lastError, failingSince, createdAt } = webhook;
  return {
    id,
    url: withoutQuery(url ?? ''),
    resources,
    state: stateOf(webhook),
    lastSuccessAt: isoText(lastSuccessAt),
    lastStatus,
    lastError,
    failingSince: isoText(failingSince),
    createdAt: createdAt.toISOString(),
  };
}
