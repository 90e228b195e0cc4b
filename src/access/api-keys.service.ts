import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { IsNull, Repository } from 'typeorm';
import { uuidV7 } from '../data/database/uuid';
import { type AdministrativeEntry, type AuditChange, recordAudit } from './audit-log.service';
import { ApiKeyEntity } from './api-key.entity';
import { hashKey, generateKey, keyPrefix } from './key-format';
import { ExpectedError } from '../errors/expected-error';

/** Burst and rate of a key that is issued without limits of its own. They are the contract's defaults. */
export const DEFAULT_LIMITS = { maxTokens: 20, refillRate: 1 };

export type KeySettings = Pick<ApiKeyEntity, 'label' | 'maxTokens' | 'refillRate' | 'expiresAt' | 'scope'> & {
  simulate?: string;
};

/** A newly issued key. This is the only time that the key itself is shown. */
export interface IssuedKey extends KeySettings {
  id: string;
  key: string;
  organizationId: number;
}

/** A key as it is listed, without anything that would let somebody use it. */
export type ApiKey = Omit<ApiKeyEntity, 'hash'>;

/** The key was revoked or has expired, so it must not come back as a new one. */
export class KeyExpiredOrRevoked extends ExpectedError {
  constructor(id: string) {
    super(`Key ${id} has expired or was revoked. Issue a new key instead.`);
  }
}

/** Lets the operator manage API keys. */
@Injectable()
export class ApiKeysService {
  constructor(@InjectRepository(ApiKeyEntity) private readonly keys: Repository<ApiKeyEntity>) {}

  issue(organizationId: number, settings: Partial<KeySettings> = {}): Promise<IssuedKey> {
    return this.keys.manager.transaction(async (manager) => {
      const issued = await issueInto(manager.withRepository(this.keys), organizationId, settings);
      await recordAudit(manager, keyEntry(issued, 'keys issue', 'created'));
      return issued;
    });
  }

  /** @returns the stored key, whatever its state, or null if it was not issued here */
  find(key: string): Promise<ApiKey | null> {
    return this.keys.findOneBy({ hash: Buffer.from(hashKey(key), 'base64') });
  }

  /** The keys of an organization, oldest first. */
  list(organizationId: number): Promise<ApiKey[]> {
    return this.keys.find({ where: { organizationId }, order: { createdAt: 'ASC', id: 'ASC' } });
  }

  /** @returns the key, or null if no key has that ID */
  async setLimits(id: string, limits: Partial<typeof DEFAULT_LIMITS>): Promise<ApiKey | null> {
    await this.keys.update({ id }, limits);
    return this.keys.findOneBy({ id });
  }

  /**
   * Issues a new key with the settings of the old one, which expires after the overlap. Both happen or neither.
   * @param overlap seconds
   * @returns the new key, when the old one expires, which may be before the overlap ends, and which key had replaced it before
   * @throws KeyExpiredOrRevoked
   */
  rotate(
    id: string,
    overlap: number,
  ): Promise<(IssuedKey & { oldEnds: Date; formerSuccessorId: string | null }) | null> {
    return this.keys.manager.transaction(async (manager) => {
      const keys = manager.withRepository(this.keys);
      const old = await keys.findOne({ where: { id }, lock: { mode: 'pessimistic_write' } });
      if (!old) return null;
      const { organizationId, label, maxTokens, refillRate, expiresAt, revokedAt, simulate, scope, successorId } = old;
      if (revokedAt || (expiresAt && expiresAt <= new Date())) throw new KeyExpiredOrRevoked(id);
      const over = new Date(Date.now() + overlap * 1000);
      const oldEnds = expiresAt && expiresAt < over ? expiresAt : over;
      const settings = { label, maxTokens, refillRate, expiresAt, scope, simulate: simulate ?? undefined };
      const issued = await issueInto(keys, organizationId, settings);
      await keys.update({ id }, { expiresAt: oldEnds, successorId: issued.id });
      await recordAudit(manager, keyEntry(old, 'keys rotate', 'updated'));
      await recordAudit(manager, keyEntry(issued, 'keys rotate', 'created'));
      return { ...issued, oldEnds, formerSuccessorId: successorId };
    });
  }

  /** Revoking a key again keeps the time of the first revocation. */
  async revoke(id: string): Promise<{ id: string; revokedAt: Date } | null> {
    return this.keys.manager.transaction(async (manager) => {
      const keys = manager.withRepository(this.keys);
      const { affected } = await keys.update({ id, revokedAt: IsNull() }, { revokedAt: () => 'now()' });
      const revoked = await keys.findOneBy({ id });
      if (revoked && affected) await recordAudit(manager, keyEntry(revoked, 'keys revoke', 'deleted'));
      return revoked?.revokedAt ? { id, revokedAt: revoked.revokedAt } : null;
    });
  }
}

const keyEntry = (
  { id, organizationId }: Pick<ApiKeyEntity, 'id' | 'organizationId'>,
  operation: string,
  change: AuditChange,
): AdministrativeEntry => ({ organizationId, operation, resource: 'keys', change, id });

async function issueInto(
  keys: Repository<ApiKeyEntity>,
  organizationId: number,
  overrides: Partial<KeySettings>,
): Promise<IssuedKey> {
  const [id, key] = [uuidV7(), generateKey()];
  const settings = { label: null, ...DEFAULT_LIMITS, expiresAt: null, scope: 'all' as const, ...overrides };
  const hash = Buffer.from(hashKey(key), 'base64');
  await keys.insert({ id, organizationId, hash, prefix: keyPrefix(key), ...settings });
  return { id, key, organizationId, ...settings };
}
