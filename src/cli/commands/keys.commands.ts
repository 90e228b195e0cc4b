import { Command } from 'commander';
import { ApiKeysService, DEFAULT_LIMITS, type IssuedKey, KeyEnded } from '../../access/api-keys.service';
import { limitsFault, MAX_TOKENS, REFILL_RATE } from '../../rate-limit/token-bucket';
import {
  command,
  decimal,
  GlobalOptions,
  keyId,
  moment,
  organization,
  requireOrganization,
  text,
  wholeNumber,
} from '../arguments';
import { issuedText, keysTable, limitsText, rowOf } from './keys.text';
import { withDatabase } from '../session';
import { answer, Refusal, UsageError } from '../terminal/terminal';

interface Limits {
  maxTokens?: number;
  refillRate?: number;
}

const MOST_SECONDS = 999_999_999;
const EXAMPLE_ID = '0197f0a2-6c1e-7d55-9d0e-3b0f5a6c7d8e';
const ROW = '{id, prefix, label, maxTokens, refillRate, createdAt, lastUsedAt, expiresAt, revokedAt}';
const ISSUED = '{id, key, organizationId, label, maxTokens, refillRate, expiresAt}';

/** `keys …` */
export function keysCommands(program: Command): void {
  const group = command(program, 'keys', {
    about: 'Issue, list, limit, rotate and revoke the API keys of an organization.',
    examples: [
      'keys issue --organization 1 --label crm-sync',
      'keys list --organization 1',
      `keys revoke ${EXAMPLE_ID}`,
    ],
  });
  issueCommand(group);
  listCommand(group);
  setLimitsCommand(group);
  rotateCommand(group);
  revokeCommand(group);
}

const withLimits = (to: Command): Command =>
  to
    .option('--max-tokens <N>', `requests that may come at once: an integer ${range(MAX_TOKENS)}`, decimal)
    .option(
      '--refill-rate <R>',
      `requests a second in the long run: ${range(REFILL_RATE)}, at most 3 decimals`,
      decimal,
    );

const range = ({ least, most }: { least: number; most: number }): string => `from ${least} to ${most}`;

function issueCommand(group: Command): void {
  const issue = command(group, 'issue', {
    about: 'Issue a key. It is shown this once; only a hash of it is stored.',
    result: ISSUED,
    examples: [
      'keys issue --organization 1',
      'keys issue --organization 1 --label crm-sync --max-tokens 100 --refill-rate 10 --expires-at 2027-01-31',
    ],
  })
    .requiredOption('--organization <ID>', 'whose key it is', organization)
    .option('--label <TEXT>', 'what it is for, at most 255 characters', text('--label'));
  withLimits(issue)
    .option(
      '--expires-at <DATE>',
      'a date (midnight UTC) or an ISO 8601 date-time; without it, it never expires',
      moment,
    )
    .addHelpText(
      'after',
      `\nWithout limits a key has ${DEFAULT_LIMITS.maxTokens} tokens and ${DEFAULT_LIMITS.refillRate} a second.`,
    )
    .action(async (_, self: Command) => {
      const {
        json,
        organization: id,
        label,
        expiresAt,
        ...rest
      } = self.optsWithGlobals<GlobalOptions & Limits & { organization: number; label?: string; expiresAt?: Date }>();
      const limits = checkedLimits(rest);
      const issued = await withDatabase(async (dataSource) => {
        await requireOrganization(dataSource, id);
        const settings = { ...limits, ...(label !== undefined && { label }), ...(expiresAt && { expiresAt }) };
        return new ApiKeysService(dataSource.manager).issue(id, settings);
      });
      await answer(json, issued, () => issuedText(issued), unseen(issued));
    });
}

function listCommand(group: Command): void {
  command(group, 'list', {
    about: 'List the keys of an organization, oldest first.',
    result: `[${ROW}]`,
    examples: ['keys list --organization 1'],
  })
    .requiredOption('--organization <ID>', 'whose keys', organization)
    .action(async (_, self: Command) => {
      const { json, organization: id } = self.optsWithGlobals<GlobalOptions & { organization: number }>();
      const keys = await withDatabase(async (dataSource) => {
        await requireOrganization(dataSource, id);
        return new ApiKeysService(dataSource.manager).list(id);
      });
      await answer(json, keys.map(rowOf), () => (keys.length > 0 ? keysTable(keys) : `Organization ${id} has no key.`));
    });
}

function setLimitsCommand(group: Command): void {
  const setLimits = command(group, 'set-limits', {
    about: 'Change the limits of a key; in force within 5 seconds.',
    result: ROW,
    examples: [`keys set-limits ${EXAMPLE_ID} --max-tokens 200`],
  });
  withLimits(setLimits)
    .argument('<KEYID>', 'id of the key (keys list shows it)', keyId)
    .action(async (id: string, _, self: Command) => {
      const { json, ...rest } = self.optsWithGlobals<GlobalOptions & Limits>();
      const limits = checkedLimits(rest);
      if (Object.keys(limits).length === 0) throw new UsageError('--max-tokens or --refill-rate must be given');
      const key = await withDatabase(async (dataSource) =>
        found(id, await new ApiKeysService(dataSource.manager).setLimits(id, limits)),
      );
      await answer(json, rowOf(key), () => `Key ${id}: ${limitsText(key)}`);
    });
}

function rotateCommand(group: Command): void {
  command(group, 'rotate', {
    about: 'Issue a key with the settings of another one, which expires after the overlap.',
    result: ISSUED,
    examples: [`keys rotate ${EXAMPLE_ID} --overlap 3600`],
  })
    .argument('<KEYID>', 'id of the key to replace (keys list shows it)', keyId)
    .option('--overlap <SECONDS>', 'for how long the old key still works', wholeNumber('--overlap', MOST_SECONDS), 0)
    .action(async (id: string, _, self: Command) => {
      const { json, overlap } = self.optsWithGlobals<GlobalOptions & { overlap: number }>();
      const { oldEnds, ...issued } = await withDatabase(async (dataSource) =>
        found(
          id,
          await new ApiKeysService(dataSource.manager).rotate(id, overlap).catch((error: unknown) => {
            throw error instanceof KeyEnded ? new Refusal(`key ${id} is revoked or expired`) : error;
          }),
        ),
      );
      const old = `key ${id} works ${overlap === 0 ? 'no more' : `until ${oldEnds.toISOString()}`}`;
      const text = (): string => `${issuedText(issued)}\nThe old ${old}.`;
      await answer(json, issued, text, `${unseen(issued)}, and ${old}`);
    });
}

function revokeCommand(group: Command): void {
  command(group, 'revoke', {
    about: 'Revoke a key for good; after 5 seconds no process takes it.',
    result: '{id, revokedAt}',
    examples: [`keys revoke ${EXAMPLE_ID}`],
  })
    .argument('<KEYID>', 'id of the key (keys list shows it)', keyId)
    .action(async (id: string, _, self: Command) => {
      const { json } = self.optsWithGlobals<GlobalOptions>();
      const revoked = await withDatabase(async (dataSource) =>
        found(id, await new ApiKeysService(dataSource.manager).revoke(id)),
      );
      await answer(json, revoked, () => `Key ${id} was revoked at ${revoked.revokedAt.toISOString()}`);
    });
}

/** What is to be done with a key that nobody has seen. */
const unseen = ({ id }: IssuedKey): string => `key ${id} was issued all the same, to nobody: revoke it`;

/** The limits that were given. @throws UsageError when a key cannot have them */
function checkedLimits({ maxTokens, refillRate }: Limits): Limits {
  const given = { ...(maxTokens !== undefined && { maxTokens }), ...(refillRate !== undefined && { refillRate }) };
  const fault = limitsFault({ ...DEFAULT_LIMITS, ...given });
  if (fault) throw new UsageError(fault);
  return given;
}

function found<T>(id: string, key: T | undefined): T {
  if (key === undefined) throw new Refusal(`key ${id} does not exist`);
  return key;
}
