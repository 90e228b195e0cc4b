import { Command } from 'commander';
import { type ApiKey, ApiKeysService, DEFAULT_LIMITS, type IssuedKey, KeyEnded } from '../../access/api-keys.service';
import { escapeInvisible } from '../../datasets/quote';
import { type BucketLimits, limitsFault, MAX_TOKENS, REFILL_RATE } from '../../rate-limit/token-bucket';
import * as args from '../arguments';
import { command, type GlobalOptions, requireOrganization } from '../arguments';
import type { Session } from '../session';
import { FORM, parseFaults } from '../../simulate/faults';
import { table } from '../terminal/table';
import { answer, Refusal, UsageError } from '../terminal/terminal';

type Limits = Partial<BucketLimits>;

interface IssueOptions extends GlobalOptions, Limits {
  organization: number;
  label?: string;
  expiresAt?: Date;
  simulate?: string;
}

const EXAMPLE_ID = '0197f0a2-6c1e-7d55-9d0e-3b0f5a6c7d8e';
const KEY_ID = ['<KEYID>', 'id of the key (see keys list)', args.keyId] as const;
const range = ({ least, most }: { least: number; most: number }): string => `from ${least} to ${most}`;
const BURST = ['--max-tokens <N>', `largest burst of requests: an integer ${range(MAX_TOKENS)}`, args.decimal] as const;
const RATE = ['--refill-rate <R>', `requests a second: ${range(REFILL_RATE)}, up to 3 decimals`, args.decimal] as const;
const ROW = '{id, prefix, label, maxTokens, refillRate, createdAt, lastUsedAt, expiresAt, revokedAt}';
const ISSUED = '{id, key, organizationId, label, maxTokens, refillRate, expiresAt}';

/** `keys …` */
export function keysCommand(program: Command, session: Session): void {
  const group = command(program, 'keys', {
    about: 'Issue, list, limit, rotate and revoke the API keys of an organization.',
    example: 'keys issue --organization 1 --label crm-sync',
  });
  command(group, 'issue', {
    about: `Issue a key, shown only this once: its hash is stored. By default it has ${limitsText(DEFAULT_LIMITS)}.`,
    result: ISSUED,
    example:
      'keys issue --organization 1 --label crm-sync \\\n    --max-tokens 100 --refill-rate 10 --expires-at 2027-01-31',
  })
    .requiredOption('--organization <ID>', 'organization of the key', args.organization)
    .option('--label <TEXT>', 'purpose of the key, at most 255 characters', args.text('--label'))
    .option(...BURST)
    .option(...RATE)
    .option('--expires-at <DATE>', 'date (midnight UTC) or ISO 8601 date-time; default: never', args.moment)
    .option('--simulate <FAULTS>', 'faults of each request on a server with LANYARD_SIMULATE=on', faults)
    .action((_, self: Command) => issue(session, self.optsWithGlobals()));

  command(group, 'list', {
    about: 'List the keys of an organization, oldest first.',
    result: `[${ROW}]`,
    example: 'keys list --organization 1',
  })
    .requiredOption('--organization <ID>', 'organization of the keys', args.organization)
    .action((_, self: Command) => list(session, self.optsWithGlobals()));

  command(group, 'set-limits', {
    about: 'Change the limits of a key; in force within 5 seconds.',
    result: ROW,
    example: `keys set-limits \\\n    ${EXAMPLE_ID} --max-tokens 200`,
  })
    .argument(...KEY_ID)
    .option(...BURST)
    .option(...RATE)
    .action((id: string, _, self: Command) => setLimits(session, id, self.optsWithGlobals()));

  command(group, 'rotate', {
    about: 'Issue a key with the settings of another one, which expires after the overlap.',
    result: ISSUED,
    example: `keys rotate \\\n    ${EXAMPLE_ID} --overlap 24h`,
  })
    .argument(...KEY_ID)
    .option('--overlap <TIME>', `time the old key still works, ${args.DURATION_HELP}`, args.duration('--overlap'), 0)
    .action((id: string, _, self: Command) => rotate(session, id, self.optsWithGlobals()));

  command(group, 'revoke', {
    about: 'Revoke a key for good; in force within 5 seconds.',
    result: '{id, revokedAt}',
    example: `keys revoke \\\n    ${EXAMPLE_ID}`,
  })
    .argument(...KEY_ID)
    .action((id: string, _, self: Command) => revoke(session, id, self.optsWithGlobals()));
}

/** @throws UsageError for faults that cannot be read */
function faults(text: string): string {
  if (!parseFaults(text)) throw new UsageError(`--simulate must be ${FORM}`);
  return text;
}

/** @throws UsageError for a key that would never be of use */
function requireFuture(expiresAt?: Date): void {
  if (expiresAt && expiresAt <= new Date()) throw new UsageError('--expires-at is in the past');
}

async function issue(session: Session, { json, organization: id, ...settings }: IssueOptions): Promise<void> {
  requireLimits(settings);
  requireFuture(settings.expiresAt);
  const issued = await session.withServices(async (services) => {
    await requireOrganization(services, id);
    return services.get(ApiKeysService).issue(id, settings);
  });
  await answer(json, issued, () => issuedText(issued), unseenText(issued));
}

async function list(
  session: Session,
  { json, organization: id }: GlobalOptions & { organization: number },
): Promise<void> {
  const keys = await session.withServices(async (services) => {
    await requireOrganization(services, id);
    return services.get(ApiKeysService).list(id);
  });
  await answer(json, keys.map(rowOf), () => (keys.length > 0 ? keysTable(keys) : `Organization ${id} has no keys.`));
}

async function setLimits(session: Session, id: string, { json, ...limits }: GlobalOptions & Limits): Promise<void> {
  requireLimits(limits);
  if (Object.keys(limits).length === 0) throw new UsageError('--max-tokens or --refill-rate must be given');
  const key = await withKeys(session, id, (keys) => keys.setLimits(id, limits));
  await answer(json, rowOf(key), () => `Key ${id}: ${limitsText(key)}`);
}

async function rotate(
  session: Session,
  id: string,
  { json, overlap }: GlobalOptions & { overlap: number },
): Promise<void> {
  const { oldEnds, ...issued } = await withKeys(session, id, (keys) =>
    keys.rotate(id, overlap).catch((error: unknown) => {
      throw error instanceof KeyEnded ? new Refusal(`key ${id} is revoked or expired`) : error;
    }),
  );
  const old = `key ${id} ${overlap === 0 ? 'no longer works' : `works until ${oldEnds.toISOString()}`}`;
  const shown = (): string => `${issuedText(issued)}\nThe old ${old}.`;
  await answer(json, issued, shown, `${unseenText(issued)}, and ${old}`);
}

async function revoke(session: Session, id: string, { json }: GlobalOptions): Promise<void> {
  const revoked = await withKeys(session, id, (keys) => keys.revoke(id));
  await answer(json, revoked, () => `Key ${id} was revoked at ${revoked.revokedAt.toISOString()}`);
}

/** @throws Refusal when there is no such key */
async function withKeys<T>(
  session: Session,
  id: string,
  work: (keys: ApiKeysService) => Promise<T | null>,
): Promise<T> {
  const key = await session.withServices((services) => work(services.get(ApiKeysService)));
  if (key === null) throw new Refusal(`key ${id} does not exist`);
  return key;
}

/** @throws UsageError when a key cannot have them */
function requireLimits(given: Limits): void {
  const fault = limitsFault({ ...DEFAULT_LIMITS, ...given });
  if (fault) throw new UsageError(fault);
}

/** A key as programs see it listed: without its organization, which they named, and without faults if it has none. */
const rowOf = ({ organizationId: _, simulate, ...row }: ApiKey) => ({ ...row, ...(simulate !== null && { simulate }) });

const keysTable = (keys: ApiKey[]): string =>
  table(
    ['id', 'key', 'label', 'tokens', 'rate', 'created', 'last used', 'expires', 'revoked'],
    keys.map((key) => [
      key.id,
      `${key.prefix}…`,
      key.label && escapeInvisible(key.label),
      key.maxTokens,
      key.refillRate,
      minute(key.createdAt),
      minute(key.lastUsedAt),
      minute(key.expiresAt),
      minute(key.revokedAt),
    ]),
  );

/** A moment as a table shows it, in UTC. */
const minute = (at: Date | null): string | null => at && `${at.toISOString().slice(0, 16)}Z`;

const limitsText = ({ maxTokens, refillRate }: BucketLimits): string =>
  `${maxTokens} tokens, refilled by ${refillRate} a second`;

/** A new key, on a line of its own so that it can be copied. */
function issuedText(issued: IssuedKey): string {
  const { id, key, organizationId, label, expiresAt, simulate } = issued;
  const name = label === null ? '' : ` (${escapeInvisible(label)})`;
  const expiry = expiresAt ? `expires at ${expiresAt.toISOString()}` : 'never expires';
  const faults = simulate === undefined ? '' : `; simulates ${simulate}`;
  return `Key ${id} of organization ${organizationId}${name}, shown only this once:\n${key}\n${limitsText(issued)}; ${expiry}${faults}`;
}

/** What to do about a key that could not be shown. */
const unseenText = ({ id }: IssuedKey): string => `key ${id} was issued but not shown: revoke it`;
