import type { Command } from 'commander';
import { type ApiKey, ApiKeysService } from '../../access/api-keys.service';
import { hasKeyForm } from '../../access/key-format';
import { type Organization, OrganizationsService } from '../../access/organizations.service';
import { escapeInvisible } from '../../datasets/quote';
import { addCommand } from '../arguments';
import { readChunks } from '../input';
import type { Session } from '../session';
import { CommandError, printStatus } from '../terminal/terminal';

/** Why servers accept a key or not. Responses do not tell them apart (docs/decisions/0005). */
type KeyState = 'active' | 'expired' | 'malformed' | 'revoked' | 'unknown';

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
    .action(() => checkKey(session));
}

async function checkKey(session: Session): Promise<void> {
  const text = await readKey();
  const { key, organization } = await session.withServices(async (services) => {
    const key = hasKeyForm(text) ? await services.get(ApiKeysService).find(text) : null;
    return { key, organization: key && (await services.get(OrganizationsService).find(key.organizationId)) };
  });
  const [state, message] = judge(text, key, organization);
  // Without --json, the message about a rejected key is printed only once, as the error.
  if (session.json || state === 'active') await session.print({ state, ...keyJson(key, organization) }, () => message);
  if (state !== 'active') throw new CommandError(message);
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

/** @param key null if it is not in the database */
function judge(text: string, key: ApiKey | null, organization: Organization | null): [KeyState, message: string] {
  if (!hasKeyForm(text))
    return [
      'malformed',
      'This is not a key: a key is lan_ and 49 letters and digits, the last 6 of them a checksum. Was all of it pasted?',
    ];
  if (!key || !organization)
    return ['unknown', 'Unknown key: it was not issued in this database, or its organization was deleted.'];
  const { id, expiresAt, revokedAt } = key;
  const name = `Key ${id}${labelText(key)} of organization ${organization.id} (${escapeInvisible(organization.name)})`;
  if (revokedAt) return ['revoked', `${name} was revoked at ${revokedAt.toISOString()}.`];
  if (expiresAt && expiresAt <= new Date()) return ['expired', `${name} expired at ${expiresAt.toISOString()}.`];
  return ['active', `${name} is active and ${expiryText(expiresAt)}.${scopeText(key)}`];
}

function keyJson(key: ApiKey | null, organization: Organization | null): object {
  const { id = null, prefix = null, label = null, scope = null, createdAt = null } = key ?? {};
  const { lastUsedAt = null, expiresAt = null, revokedAt = null } = key ?? {};
  return { id, prefix, label, scope, organization, createdAt, lastUsedAt, expiresAt, revokedAt };
}

export const labelText = ({ label }: Pick<ApiKey, 'label'>): string =>
  label === null ? '' : ` (${escapeInvisible(label)})`;

export const expiryText = (expiresAt: Date | null): string =>
  expiresAt ? `expires at ${expiresAt.toISOString()}` : 'never expires';

export const scopeText = ({ scope }: Pick<ApiKey, 'scope'>): string =>
  scope === 'all' ? '' : ` Its scope is ${scope}.`;
