import type { Command } from 'commander';
import { type ApiKey, ApiKeysService, DEFAULT_LIMITS, type KeySettings } from '../../access/api-keys.service';
import { KeyWebhooksService } from '../../feed/webhooks/key-webhooks.service';
import { KEY_SCOPES } from '../../http/pipeline/scopes';
import { type BucketLimits, limitsError, MAX_TOKENS, REFILL_RATE } from '../../http/rate-limit/token-bucket';
import {
  addCommand,
  DURATION_HELP,
  findOrganization,
  organizationOption,
  parseChoice,
  parseDateTimeOption,
  parseDuration,
  parseNumber,
  parser,
  parseText,
  parseUuid,
  requireFound,
} from '../arguments';
import type { Session } from '../session';
import { SUMMARIES } from '../summaries';
import { FAULTS_SYNTAX, parseFaults } from '../../http/simulate/faults';
import { printStatus, UsageError } from '../terminal/terminal';
import { addCheckCommand } from './keys-check.command';

type Limits = Partial<BucketLimits>;

const KEY_ID_ARGUMENT = ['<KEYID>', 'ID of the key (see "keys list")', parseUuid('KEYID', 'a key')] as const;
const rangeText = ({ min, max }: { min: number; max: number }): string => `from ${min} to ${max}`;
const MAX_TOKENS_OPTION = [
  '--max-tokens <N>',
  `largest burst of requests, an integer ${rangeText(MAX_TOKENS)}`,
  parseNumber,
] as const;
const REFILL_RATE_OPTION = [
  '--refill-rate <R>',
  `requests per second, ${rangeText(REFILL_RATE)}, with up to 3 decimals`,
  parseNumber,
] as const;
const SHOWN_ONCE = 'The key is shown only this once.';

/** The command `keys …`. */
export function keysCommand(program: Command, session: Session): void {
  const group = addCommand(program, 'keys', {
    summary: SUMMARIES.keys,
    example: 'keys issue --organization 1 --label crm-sync',
  });
  addIssueCommand(group, session);
  addListCommand(group, session);
  addCheckCommand(group, session);
  addChangeCommands(group, session);
}

function addIssueCommand(group: Command, session: Session): void {
  const { maxTokens, refillRate } = DEFAULT_LIMITS;
  addCommand(group, 'issue', {
    summary: 'Issue a key. It is shown only this once, because only its hash is stored.',
    notes: `By default it allows bursts of ${maxTokens} requests, and ${refillRate} a second on average.`,
    example:
      'keys issue --organization 1 --label crm-sync \\\n    --max-tokens 100 --refill-rate 10 --expires-at 2027-01-31',
  })
    .option(...organizationOption('organization of the key'))
    .option('--label <TEXT>', 'purpose of the key, at most 255 characters', parseText('--label'))
    .option(
      '--scope <SCOPE>',
      `what it may do: ${KEY_SCOPES.join(', ')} (default: all)`,
      parseChoice('--scope', KEY_SCOPES),
    )
    .option(...MAX_TOKENS_OPTION)
    .option(...REFILL_RATE_OPTION)
    .option(
      '--expires-at <DATE>',
      'date (midnight UTC) or ISO 8601 date-time (default: never)',
      parseDateTimeOption('--expires-at'),
    )
    .option(
      '--simulate <FAULTS>',
      'faults to inject into every request, on servers with LANYARD_SIMULATE=on',
      parser(`--simulate must be ${FAULTS_SYNTAX}`, (text) => (parseFaults(text) ? text : undefined)),
    )
    .action(({ organization, ...settings }: Partial<KeySettings> & { organization?: number }) => {
      requireLimits(settings);
      if (settings.expiresAt && settings.expiresAt <= new Date())
        throw new UsageError('--expires-at must be in the future');
      return session.run(async (services) => {
        const { id } = await findOrganization(services, organization);
        return services.get(ApiKeysService).issue(id, settings);
      }, SHOWN_ONCE);
    });
}

function addListCommand(group: Command, session: Session): void {
  addCommand(group, 'list', {
    summary: 'List the keys of an organization, oldest first.',
    notes:
      '`lastUsedAt` is the time of the last request that the key was accepted for. It is shown up to a minute late, and lacks ' +
      'the last minute of a server that was killed. `successorId` is the key that replaced a rotated one, which ends at `expiresAt`.',
    example: 'keys list --organization 1',
  })
    .option(...organizationOption('organization of the keys'))
    .action(({ organization }: { organization?: number }) =>
      session.run(async (services) => {
        const { id } = await findOrganization(services, organization);
        return services.get(ApiKeysService).list(id);
      }),
    );
}

/** Commands that change a key that exists. */
function addChangeCommands(group: Command, session: Session): void {
  const change = async <T>(id: string, work: (keys: ApiKeysService) => Promise<T | null>): Promise<T> =>
    requireFound('Key', id, await session.withServices((services) => work(services.get(ApiKeysService))));

  addCommand(group, 'set-limits', {
    summary: 'Change the limits of a key. Servers apply them within 5 seconds.',
    example: 'keys set-limits KEYID --max-tokens 200',
  })
    .argument(...KEY_ID_ARGUMENT)
    .option(...MAX_TOKENS_OPTION)
    .option(...REFILL_RATE_OPTION)
    .action(async (id: string, limits: Limits) => {
      requireLimits(limits);
      if (Object.keys(limits).length === 0) throw new UsageError('Set --max-tokens, --refill-rate or both');
      const key = await change(id, (keys) => keys.setLimits(id, limits));
      await session.print(key);
      const warning = endWarning(key);
      if (warning) printStatus(warning);
    });

  addCommand(group, 'rotate', {
    summary: 'Replace a key. The old key keeps working until the overlap ends.',
    notes:
      'The new key has the organization, label, scope, limits and expiration of the old one. Webhooks that the old key has ' +
      'registered are passed on, and both keys have them until the overlap ends.',
    example: 'keys rotate KEYID --overlap 24h',
  })
    .argument(...KEY_ID_ARGUMENT)
    .option('--overlap <TIME>', `how long the old key keeps working, ${DURATION_HELP}`, parseDuration('--overlap'), 0)
    .option('--without-webhooks', 'delete the webhooks of the old key, which has leaked, instead of passing them on')
    .action(async (id: string, options: RotateOptions) => {
      const { overlap, withoutWebhooks: deletesWebhooks } = options;
      const { oldEnds, formerSuccessorId, ...issued } = await session.withServices(async (services) => {
        const rotated = await services.get(KeyWebhooksService).rotateKey(id, overlap, { deletesWebhooks });
        return requireFound('Key', id, rotated);
      });
      await session.print(issued, { hint: `${SHOWN_ONCE} The old one works until ${oldEnds.toISOString()}.` });
      if (formerSuccessorId) printStatus(`Key ${id} had been replaced by ${formerSuccessorId}, which stays valid.`);
    });

  addCommand(group, 'revoke', {
    summary: 'Revoke a key permanently. Servers reject it within 5 seconds.',
    example: 'keys revoke KEYID',
  })
    .argument(...KEY_ID_ARGUMENT)
    .action(async (id: string) => session.print(await change(id, (keys) => keys.revoke(id))));
}

/** Tells whether the limits of a key will soon, or already do, limit nothing. */
function endWarning({ id, revokedAt, expiresAt, successorId }: ApiKey): string | undefined {
  if (revokedAt) return `Key ${id} was revoked, so its limits have no effect.`;
  if (expiresAt && expiresAt <= new Date()) return `Key ${id} has expired, so its limits have no effect.`;
  if (expiresAt && successorId)
    return `Key ${id} ends at ${expiresAt.toISOString()}. Its successor ${successorId} keeps its own limits.`;
  return undefined;
}

interface RotateOptions {
  /** Seconds. */
  overlap: number;
  withoutWebhooks?: boolean;
}

/** @throws UsageError when a key cannot have them */
function requireLimits(given: Limits): void {
  const fault = limitsError({ ...DEFAULT_LIMITS, ...given });
  if (fault) throw new UsageError(fault);
}
