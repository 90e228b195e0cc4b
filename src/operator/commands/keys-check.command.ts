import { Command } from 'commander';
import { type ApiKey, ApiKeysService } from '../../access/api-keys.service';
import { hasKeyForm } from '../../access/key-format';
import { type Organization, OrganizationsService } from '../../access/organizations.service';
import { escapeInvisible } from '../../datasets/quote';
import { addCommand, type GlobalOptions } from '../arguments';
import { readChunks } from '../input';
import type { Session } from '../session';
import { CommandError, printResult, printStatus } from '../terminal/terminal';

/** Why servers accept a key or not. Responses do not tell them apart (docs/decisions/0005). */
type KeyState = 'active' | 'expired' | 'malformed' | 'revoked' | 'unknown';

interface CheckedKey {
  state: KeyState;
  /** Null if the key is not in the database. */
  key: ApiKey | null;
  organization: Organization | null;
}

const NOTES = `
It reads the key from standard input, so that the key is in no shell history and
in no list of processes, and never prints it. It exits with status 1 if servers
reject the key.`;

const CHECK_JSON =
  '{state, id, prefix, label, scope, organization: {id, name}, createdAt, lastUsedAt, expiresAt, revokedAt}, where state is ' +
  'active, expired, revoked, unknown or malformed, and everything else is null for a key that is not in the database';

/** Keys are shorter. What is longer is no key, and is not read to its end. */
const MAX_INPUT_LENGTH = 1000;

/** The command `keys check`. */
export function addCheckCommand(group: Command, session: Session): void {
  addCommand(group, 'check', {
    summary: 'Tell whether a key is active, expired, revoked or unknown, and whose it is.',
    jsonResult: CHECK_JSON,
    example: 'keys check < key.txt',
  })
    .addHelpText('after', NOTES)
    .action((_, self: Command) => checkKey(session, self.optsWithGlobals()));
}

async function checkKey(session: Session, { json }: GlobalOptions): Promise<void> {
  const text = await readKey();
  const checked = await session.withServices(async (services): Promise<CheckedKey> => {
    if (!hasKeyForm(text)) return { state: 'malformed', key: null, organization: null };
    const key = await services.get(ApiKeysService).find(text);
    const organization = key && (await services.get(OrganizationsService).find(key.organizationId));
    return { state: stateOf(key), key, organization };
  });
  const message = checkText(checked);
  const isActive = checked.state === 'active';
  // Without --json, the message about a rejected key is printed only once, as the error.
  if (json || isActive) await printResult(json, checkJson(checked), () => message);
  if (!isActive) throw new CommandError(message);
}

async function readKey(): Promise<string> {
  if (process.stdin.isTTY) printStatus('Paste the key, then press Enter and Ctrl-D.');
  let text = '';
  for await (const chunk of readChunks('-', () => undefined)) {
    text += chunk.toString('latin1');
    if (text.length > MAX_INPUT_LENGTH) break;
  }
  return text.trim();
}

function stateOf(key: ApiKey | null): KeyState {
  if (!key) return 'unknown';
  if (key.revokedAt) return 'revoked';
  return key.expiresAt && key.expiresAt <= new Date() ? 'expired' : 'active';
}

function checkJson({ state, key, organization }: CheckedKey): object {
  const { id = null, prefix = null, label = null, scope = null, createdAt = null } = key ?? {};
  const { lastUsedAt = null, expiresAt = null, revokedAt = null } = key ?? {};
  return { state, id, prefix, label, scope, organization, createdAt, lastUsedAt, expiresAt, revokedAt };
}

function checkText({ state, key, organization }: CheckedKey): string {
  if (state === 'malformed')
    return 'This is not a key: a key is lan_ and 49 letters and digits, the last 6 of them a checksum. Was all of it pasted?';
  if (!key || !organization) return 'Unknown key: it was not issued in this database, or its organization was deleted.';
  const label = key.label === null ? '' : ` (${escapeInvisible(key.label)})`;
  const name = `Key ${key.id}${label} of organization ${organization.id} (${escapeInvisible(organization.name)})`;
  if (key.revokedAt) return `${name} was revoked at ${key.revokedAt.toISOString()}.`;
  const expiry = key.expiresAt?.toISOString();
  if (state === 'expired') return `${name} expired at ${expiry}.`;
  const scope = key.scope === 'all' ? '' : ` Its scope is ${key.scope}.`;
  return `${name} is active and ${expiry ? `expires at ${expiry}` : 'never expires'}.${scope}`;
}
