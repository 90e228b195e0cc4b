import type { ApiKey, IssuedKey } from '../../access/api-keys.service';
import { visible } from '../terminal/quoted';
import { table } from '../terminal/table';

/** A key as programs see it listed. */
export const rowOf = (key: ApiKey) => ({
  id: key.id,
  prefix: key.prefix,
  label: key.label,
  maxTokens: key.maxTokens,
  refillRate: key.refillRate,
  createdAt: key.createdAt,
  lastUsedAt: key.lastUsedAt,
  expiresAt: key.expiresAt,
  revokedAt: key.revokedAt,
});

export const keysTable = (keys: ApiKey[]): string =>
  table(
    ['id', 'key', 'label', 'tokens', 'a second', 'created', 'last used', 'expires', 'revoked'],
    keys.map(({ id, prefix, label, maxTokens, refillRate, createdAt, lastUsedAt, expiresAt, revokedAt }) => [
      ...[id, `${prefix}…`, label && visible(label), maxTokens, refillRate],
      ...[createdAt, lastUsedAt, expiresAt, revokedAt].map(minute),
    ]),
  );

/** A moment as a table shows it, in UTC. */
const minute = (moment: Date | null): string | null => moment && `${moment.toISOString().slice(0, 16)}Z`;

export const limitsText = ({ maxTokens, refillRate }: { maxTokens: number; refillRate: number }): string =>
  `${maxTokens} tokens, refilled by ${refillRate} a second`;

/** A new key, on a line of its own so that it can be copied. */
export function issuedText(issued: IssuedKey): string {
  const { id, key, organizationId, label, expiresAt } = issued;
  const expiry = expiresAt ? `expires at ${expiresAt.toISOString()}` : 'never expires';
  return [
    `Key ${id} of organization ${organizationId}${label === null ? '' : ` (${visible(label)})`}, shown this once:`,
    key,
    `${limitsText(issued)}; ${expiry}`,
  ].join('\n');
}
