import type { Command } from 'commander';
import { type ApiKey, ApiKeysService } from '../../access/api-keys.service';
import { hasKeyForm } from '../../access/key-format';
import { type Organization, OrganizationsService } from '../../access/organizations.service';
import { addCommand } from '../arguments';
import { readChunks } from '../input';
import type { Session } from '../session';
import { CommandError, printStatus } from '../terminal/terminal';

/** Why servers reject a key. Responses do not tell it (docs/decisions/0005). */
const REJECTIONS = {
  malformed:
    'This is not a key: a key is lan_ and 49 letters and digits, the last 6 of them a checksum. Was all of it pasted?',
  unknown: 'This key was not issued in this database, or its organization was deleted.',
  revoked: 'This key was revoked.',
  expired: 'This key has expired.',
};

/** Keys are shorter. What is longer is no key, and is not read to its end. */
const MAX_INPUT_LENGTH = 1000;

/** The command `keys check`. */
export function addCheckCommand(group: Command, session: Session): void {
  addCommand(group, 'check', {
    summary: 'Tell whether a key is active, expired, revoked or unknown, and whose it is.',
    notes:
      'It reads the key from standard input, so that the key is in no shell history and in no list of processes, and never ' +
      'prints it. It exits with status 1 if servers reject the key.',
    example: 'keys check < key.txt',
  }).action(() => checkKey(session));
}

async function checkKey(session: Session): Promise<void> {
  const text = await readKey();
  const { key, organization } = await session.withServices(async (services) => {
    const key = await services.get(ApiKeysService).find(text);
    return { key, organization: key && (await services.get(OrganizationsService).find(key.organizationId)) };
  });
  const rejection = rejectionOf(text, key, organization);
  await session.print({ state: rejection ?? 'active', ...key, organization });
  if (rejection) throw new CommandError(REJECTIONS[rejection]);
}

async function readKey(): Promise<string> {
  if (process.stdin.isTTY) printStatus('Paste the key, then press Enter and Ctrl-D.');
  let text = '';
  for await (const chunk of readChunks('-')) {
    text += chunk.toString('latin1');
    if (text.length > MAX_INPUT_LENGTH) break;
  }
  return text.trim();
}

/** @param key null if it is not in the database */
function rejectionOf(
  text: string,
  key: ApiKey | null,
  organization: Organization | null,
): keyof typeof REJECTIONS | undefined {
  if (!hasKeyForm(text)) return 'malformed';
  if (!key || !organization) return 'unknown';
  if (key.revokedAt) return 'revoked';
  return key.expiresAt && key.expiresAt <= new Date() ? 'expired' : undefined;
}
