import type { Status } from './status.service';
import { visible } from '../terminal/quoted';
import { figure, pairs, table } from '../terminal/table';
import { styled } from '../terminal/terminal';

/** The status as a person reads it. */
export function statusText(status: Status): string {
  const { busiestKeys } = status;
  const facts = pairs([
    ['Database', databaseText(status.database)],
    ['Redis', redisText(status.redis)],
    ['Migrations', migrationsText(status.migrations)],
    ['Organizations', orUnknown(status.organizations)],
    ['Keys', keysText(status.keys)],
    ['Leads', orUnknown(status.leads)],
  ]);
  return busiestKeys ? `${facts}\n\n${busiestText(busiestKeys)}` : facts;
}

const good = (text: string): string => styled('green', text);
const bad = (text: string): string => styled('red', text);
const notable = (text: string): string => styled('yellow', text);

const UNKNOWN = styled('dim', 'unknown');
const orUnknown = (count: number | null): string => (count === null ? UNKNOWN : figure(count));

function databaseText({ reachable, error, embedded, version, size }: Status['database']): string {
  if (!reachable) return `${bad('does not answer')}: ${error}`;
  const name = `${embedded ? 'embedded ' : ''}PostgreSQL ${version?.split(' ')[0]}`;
  return `${good('answers')}: ${name}, ${bytes(size ?? 0)}`;
}

function redisText(redis: Status['redis']): string {
  if (!redis) return 'not configured: each server counts tokens by itself';
  return redis.reachable
    ? `${good('answers')}${redis.version ? `: ${redis.version}` : ''}`
    : notable(`away (${redis.error}): each server counts tokens by itself`);
}

function migrationsText(migrations: Status['migrations']): string {
  if (!migrations) return UNKNOWN;
  const { applied, pending } = migrations;
  if (pending.length === 0) return `${applied} applied, none pending`;
  return `${applied} applied, ${notable(`${pending.length} pending`)}: ${pending.join(', ')}`;
}

function keysText(keys: Status['keys']): string {
  if (!keys) return UNKNOWN;
  const { active, expiring, expired, revoked } = keys;
  const soon = expiring > 0 ? ` (${notable(`${figure(expiring)} of them for less than 7 days`)})` : '';
  return `${figure(active)} active${soon}, ${figure(expired)} expired, ${figure(revoked)} revoked`;
}

function busiestText(keys: NonNullable<Status['busiestKeys']>): string {
  if (keys.length === 0) return 'No use of a key was written within the last hour.';
  const most = keys[0]?.requests ?? 0;
  const rows = keys.map(({ prefix, label, organization, requests }) => [
    `${prefix}…`,
    label && visible(label),
    `${organization.id} ${visible(organization.name)}`,
    figure(requests),
    styled('cyan', bar(requests / most)),
  ]);
  return `Busiest keys of the last hour:\n${table(['key', 'label', 'organization', 'requests', ''], rows)}`;
}

/** characters */
const LONGEST_BAR = 24;
const EIGHTHS = ['', '▏', '▎', '▍', '▌', '▋', '▊', '▉'];

/** A bar for a share from 0 to 1, to an eighth of a character; the smallest share is still seen. */
export function bar(share: number): string {
  const eighths = Math.max(1, Math.round(share * LONGEST_BAR * 8));
  return '█'.repeat(Math.floor(eighths / 8)) + EIGHTHS[eighths % 8];
}

const UNITS = ['bytes', 'KiB', 'MiB', 'GiB', 'TiB'];

/** Bytes with three digits: `7.84 MiB`. */
export function bytes(count: number): string {
  const unit = Math.min(UNITS.length - 1, Math.max(0, Math.floor(Math.log2(count) / 10)));
  const size = count / 1024 ** unit;
  return `${unit === 0 ? count : size.toPrecision(Math.max(3, String(Math.floor(size)).length))} ${UNITS[unit]}`;
}
