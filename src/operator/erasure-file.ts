import { createHash, randomBytes } from 'node:crypto';
import { appendFile, readFile, stat } from 'node:fs/promises';
import { OWNER_ONLY } from './new-file';
import { CommandError } from './terminal/terminal';

/**
 * The persons that were erased, to be erased again after a restore. The first line has the salt, each other line the time
 * and a SHA-256 of the organization and the address: no address can be read from it.
 */
interface ErasureFile {
  salt: string;
  hashes: Set<string>;
}

export const hashPerson = (salt: string, organizationId: number, email: string): string =>
  createHash('sha256').update(`${salt} ${organizationId} ${email}`).digest('hex');

/** @throws CommandError, or the error of the file system */
export async function readErasures(file: string): Promise<ErasureFile> {
  const [head = '', ...lines] = (await readFile(file, 'utf8')).trimEnd().split('\n');
  const salt = parseText(head, 'salt');
  if (salt === undefined) throw new CommandError(`${file} is not a file of "persons erase --record".`);
  const hashes = lines.map((line, index) => {
    const hash = parseText(line, 'sha256');
    if (hash === undefined) throw new CommandError(`${file} is damaged in line ${index + 2}.`);
    return hash;
  });
  return { salt, hashes: new Set(hashes) };
}

/** The text that a line of JSON has under a name. */
function parseText(line: string, name: string): string | undefined {
  try {
    const text = (JSON.parse(line) as Record<string, unknown> | null)?.[name];
    return typeof text === 'string' ? text : undefined;
  } catch {
    return undefined;
  }
}

/** Appends a line for each address, and waits until the disk has them. */
export async function recordErasure(file: string, organizationId: number, emails: string[]): Promise<void> {
  // A file that cannot be written to is an error before it is read.
  await appendFile(file, '', { mode: OWNER_ONLY });
  const isNew = (await stat(file)).size === 0;
  const salt = isNew ? randomBytes(32).toString('hex') : (await readErasures(file)).salt;
  const at = new Date();
  const persons = emails.map((email) => ({ at, sha256: hashPerson(salt, organizationId, email) }));
  const lines = [...(isNew ? [{ salt }] : []), ...persons].map((line) => `${JSON.stringify(line)}\n`);
  await appendFile(file, lines.join(''), { flush: true });
}
