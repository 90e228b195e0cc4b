import type { Command } from 'commander';
import {
  type ApiKey,
  ApiKeysService,
  DEFAULT_LIMITS,
  type IssuedKey,
  type KeySettings,
} from '../../access/api-keys.service';
import { KEY_SCOPES } from '../../api/scopes';
import { escapeInvisible } from '../../datasets/quote';
import { type BucketLimits, limitsError, MAX_TOKENS, REFILL_RATE } from '../../rate-limit/token-bucket';
import * as args from '../arguments';
import { addCommand, findOrganization } from '../arguments';
import type { Session } from '../session';
import { FAULTS_SYNTAX, parseFaults } from '../../simulate/faults';
import { formatCount, formatNumber, formatTable } from '../terminal/table';
import { UsageError } from '../terminal/terminal';
import { addCheckCommand, expiryText, labelText, scopeText } from './keys-check.command';

type Limits = Partial<BucketLimits>;

const EXAMPLE_ID = '0197f0a2-6c1e-7d55-9d0e-3b0f5a6c7d8e';
const KEY_ID_ARGUMENT = ['<KEYID>', 'ID of the key (see "keys list")', args.parseKeyId] as const;
const rangeText = ({ min, max }: { min: number; max: number }): string => `from ${min} to ${max}`;
const MAX_TOKENS_OPTION = [
  '--max-tokens <N>',
  `largest burst of requests, an integer ${rangeText(MAX_TOKENS)}`,
  args.parseNumber,
] as const;
const REFILL_RATE_OPTION = [
  '--refill-rate <R>',
  `requests per second, ${rangeText(REFILL_RATE)}, with up to 3 decimals`,
  args.parseNumber,
] as const;
const KEY_JSON = '{id, prefix, label, scope, maxTokens, refillRate, createdAt, lastUsedAt, expiresAt, revokedAt}';
const ISSUED_KEY_JSON = '{id, key, organizationId, label, scope, maxTokens, refillRate, expiresAt}';

/** The command `keys …`. */
export function keysCommand(program: Command, session: Session): void {
  const group = addCommand(program, 'keys', {
    summary: 'Issue, list, check, limit, rotate and revoke the API keys of an organization.',
    example: 'keys issue --organization 1 --label crm-sync',
  });
  addIssueCommand(group, session);
  addListCommand(group, session);
  addCheckCommand(group, session);
  addChangeCommands(group, session);
}

function addIssueCommand(group: Command, session: Session): void {
  addCommand(group, 'issue', {
    summary: 'Issue a key. It is shown only this once, because only its hash is stored.',
    notes: `By default it allows ${limitsText(DEFAULT_LIMITS)}.`,
    jsonResult: ISSUED_KEY_JSON,
    example:
      'keys issue --organization 1 --label crm-sync \\\n    --max-tokens 100 --refill-rate 10 --expires-at 2027-01-31',
  })
    .option(...args.organizationOption('organization of the key'))
    .option('--label <TEXT>', 'purpose of the key, at most 255 characters', args.parseText('--label'))
    .option(
      '--scope <SCOPE>',
      `what it may do: ${KEY_SCOPES.join(', ')} (default: all)`,
      args.parseChoice('--scope', KEY_SCOPES),
    )
    .option(...MAX_TOKENS_OPTION)
    .option(...REFILL_RATE_OPTION)
    .option(
      '--expires-at <DATE>',
      'date (midnight UTC) or ISO 8601 date-time (default: never)',
      args.parseDateTimeOption('--expires-at'),
    )
    .option(
      '--simulate <FAULTS>',
      'faults to inject into every request, on servers with LANYARD_SIMULATE=on',
      args.parser(`--simulate must be ${FAULTS_SYNTAX}`, (text) => (parseFaults(text) ? text : undefined)),
    )
    .action(async ({ organization, ...settings }: Partial<KeySettings> & { organization?: number }) => {
      requireLimits(settings);
      if (settings.expiresAt && settings.expiresAt <= new Date())
        throw new UsageError('--expires-at must be in the future');
      const issued = await session.withServices(async (services) => {
        const { id } = await findOrganization(services, organization);
        return services.get(ApiKeysService).issue(id, settings);
      });
      await session.print(issued, () => issuedText(issued), notShownText(issued));
    });
}

function addListCommand(group: Command, session: Session): void {
  addCommand(group, 'list', {
    summary: 'List the keys of an organization, oldest first.',
    jsonResult: `[${KEY_JSON}]`,
    example: 'keys list --organization 1',
  })
    .option(...args.organizationOption('organization of the keys'))
    .action(async ({ organization }: { organization?: number }) => {
      const { id, keys } = await session.withServices(async (services) => {
        const { id } = await findOrganization(services, organization);
        return { id, keys: await services.get(ApiKeysService).list(id) };
      });
      await session.print(keys.map(keyJson), () =>
        keys.length > 0 ? keysTable(keys) : `Organization ${id} has no keys.`,
      );
    });
}

/** Commands that change a key that exists. */
function addChangeCommands(group: Command, session: Session): void {
  const change = async <T>(id: string, work: (keys: ApiKeysService) => Promise<T | null>): Promise<T> =>
    args.requireFound('Key', id, await session.withServices((services) => work(services.get(ApiKeysService))));

  addCommand(group, 'set-limits', {
    summary: 'Change the limits of a key. Servers apply them within 5 seconds.',
    jsonResult: KEY_JSON,
    example: `keys set-limits \\\n    ${EXAMPLE_ID} --max-tokens 200`,
  })
    .argument(...KEY_ID_ARGUMENT)
    .option(...MAX_TOKENS_OPTION)
    .option(...REFILL_RATE_OPTION)
    .action(async (id: string, limits: Limits) => {
      requireLimits(limits);
      if (Object.keys(limits).length === 0) throw new UsageError('Set --max-tokens, --refill-rate or both');
      const key = await change(id, (keys) => keys.setLimits(id, limits));
      await session.print(keyJson(key), () => `Key ${id} now allows ${limitsText(key)}.`);
    });

  addCommand(group, 'rotate', {
    summary: 'Replace a key. The old key keeps working until the overlap ends.',
    notes: 'The new key has the organization, label, scope, limits and expiration of the old one.',
    jsonResult: ISSUED_KEY_JSON,
    example: `keys rotate \\\n    ${EXAMPLE_ID} --overlap 24h`,
  })
    .argument(...KEY_ID_ARGUMENT)
    .option(
      '--overlap <TIME>',
      `how long the old key keeps working, ${args.DURATION_HELP}`,
      args.parseDuration('--overlap'),
      0,
    )
    .action(async (id: string, { overlap }: { overlap: number }) => {
      const { oldEnds, ...issued } = await change(id, (keys) => keys.rotate(id, overlap));
      const old = `The old key ${id} ${overlap === 0 ? 'no longer works' : `keeps working until ${oldEnds.toISOString()}`}.`;
      await session.print(issued, () => `${issuedText(issued)}\n${old}`, `${notShownText(issued)} ${old}`);
    });

  addCommand(group, 'revoke', {
    summary: 'Revoke a key permanently. Servers reject it within 5 seconds.',
    jsonResult: '{id, revokedAt}',
    example: `keys revoke \\\n    ${EXAMPLE_ID}`,
  })
    .argument(...KEY_ID_ARGUMENT)
    .action(async (id: string) => {
      const revoked = await change(id, (keys) => keys.revoke(id));
      await session.print(revoked, () => `Key ${id} was revoked at ${revoked.revokedAt.toISOString()}.`);
    });
}

/** @throws UsageError when a key cannot have them */
function requireLimits(given: Limits): void {
  const fault = limitsError({ ...DEFAULT_LIMITS, ...given });
  if (fault) throw new UsageError(fault);
}

/** A key in the JSON of a list, without its organization, which the command names, and without faults if it has none. */
const keyJson = ({ organizationId: _, simulate, ...row }: ApiKey) => ({
  ...row,
  ...(simulate !== null && { simulate }),
});

const keysTable = (keys: ApiKey[]): string =>
  formatTable(
    ['id', 'key', 'label', 'scope', 'max tokens', 'refill rate', 'created', 'last used', 'expires', 'revoked'],
    keys.map((key) => [
      key.id,
      `${key.prefix}…`,
      key.label && escapeInvisible(key.label),
      key.scope,
      key.maxTokens,
      key.refillRate,
      formatMinute(key.createdAt),
      formatMinute(key.lastUsedAt),
      formatMinute(key.expiresAt),
      formatMinute(key.revokedAt),
    ]),
  );

/** Formats a time for a table, in UTC. */
const formatMinute = (at: Date | null): string | null => at && `${at.toISOString().slice(0, 16)}Z`;

const limitsText = ({ maxTokens, refillRate }: BucketLimits): string =>
  `bursts of up to ${formatCount(maxTokens, 'request')} and ${formatNumber(refillRate)} per second on average`;

/** Shows a new key, on a line of its own so that it is easy to copy. */
function issuedText(issued: IssuedKey): string {
  const { id, key, organizationId, expiresAt, simulate } = issued;
  const faults = simulate === undefined ? '' : `. It simulates ${simulate}`;
  return `Key ${id} of organization ${organizationId}${labelText(issued)}, shown only this once:\n${key}\nIt allows ${limitsText(issued)}, and ${expiryText(expiresAt)}${faults}.${scopeText(issued)}`;
}

/** Says what to do about a key that could not be shown. */
const notShownText = ({ id }: IssuedKey): string => `Key ${id} was issued but not shown. Revoke it.`;
