import { Injectable } from '@nestjs/common';
import { EntityManager } from 'typeorm';
import { v7 as uuid } from 'uuid';
import { ApiKeyEntity } from './api-key.entity';
import { hashOf, newKey, prefixOf } from './key-format';

/** Burst and rate of a key that was issued without limits of its own: the contract's defaults. */
export const DEFAULT_LIMITS = { maxTokens: 20, refillRate: 1 };

export interface KeySettings {
  label: string | null;
  /** tokens */
  maxTokens: number;
  /** tokens a second */
  refillRate: number;
  expiresAt: Date | null;
}

/** A key as it is shown once, when it is issued. */
export interface IssuedKey extends KeySettings {
  id: string;
  key: string;
  organizationId: number;
}

/** A key as it is listed: everything but what would let somebody use it. */
export type ApiKey = Omit<ApiKeyEntity, 'hash'>;

/** A key that was taken away, or has expired: it must not come back under another name. */
export class KeyEnded extends Error {}

/** The operator's view of the keys. */
@Injectable()
export class ApiKeysService {
  constructor(private readonly manager: EntityManager) {}

  async issue(organizationId: number, settings: Partial<KeySettings> = {}): Promise<IssuedKey> {
    const key = newKey();
    const row = { label: null, expiresAt: null, ...DEFAULT_LIMITS, ...settings, id: uuid(), organizationId };
    await this.keys.insert({ ...row, hash: Buffer.from(hashOf(key), 'base64'), prefix: prefixOf(key) });
    return { id: row.id, key, organizationId, label: row.label, ...limitsOf(row), expiresAt: row.expiresAt };
  }

  /** The keys of an organization, oldest first. */
  async list(organizationId: number): Promise<ApiKey[]> {
    const rows = await this.keys.find({ where: { organizationId }, order: { createdAt: 'ASC', id: 'ASC' } });
    return rows.map(withoutHash);
  }

  /** @returns the key, or undefined when there is none of that id */
  async setLimits(id: string, limits: { maxTokens?: number; refillRate?: number }): Promise<ApiKey | undefined> {
    await this.keys.update({ id }, limits);
    return this.find(id);
  }

  /**
   * A new key with the settings of the old one, which expires after the overlap: both, or nothing.
   * @param overlap seconds
   * @returns the new key, and when the old one ends, which may be before the overlap is over
   * @throws KeyEnded
   */
  rotate(id: string, overlap: number): Promise<(IssuedKey & { oldEnds: Date }) | undefined> {
    return this.manager.transaction(async (manager) => {
      const keys = manager.getRepository(ApiKeyEntity);
      const old = await keys.findOne({ where: { id }, lock: { mode: 'pessimistic_write' } });
      if (!old) return undefined;
      const { organizationId, label, expiresAt, revokedAt } = old;
      if (revokedAt || (expiresAt && expiresAt <= new Date())) throw new KeyEnded();
      const over = new Date(Date.now() + overlap * 1000);
      const oldEnds = expiresAt && expiresAt < over ? expiresAt : over;
      await keys.update({ id }, { expiresAt: oldEnds });
      return {
        ...(await new ApiKeysService(manager).issue(organizationId, { label, ...limitsOf(old), expiresAt })),
        oldEnds,
      };
    });
  }

  /** Revoking twice keeps the first moment. */
  async revoke(id: string): Promise<{ id: string; revokedAt: Date } | undefined> {
    await this.keys.update({ id }, { revokedAt: () => 'coalesce(revoked_at, now())' });
    const revoked = await this.find(id);
    return revoked?.revokedAt ? { id, revokedAt: revoked.revokedAt } : undefined;
  }

  async find(id: string): Promise<ApiKey | undefined> {
    const row = await this.keys.findOneBy({ id });
    return row ? withoutHash(row) : undefined;
  }

  private get keys() {
    return this.manager.getRepository(ApiKeyEntity);
  }
}

const limitsOf = ({ maxTokens, refillRate }: { maxTokens: number; refillRate: number }) => ({ maxTokens, refillRate });

const withoutHash = ({ hash: _, ...key }: ApiKeyEntity): ApiKey => key;
