import { createHash, randomBytes } from 'node:crypto';
import { open, readFile } from 'node:fs/promises';

/** The file of `persons erase --record` is not one, or is damaged. The message names the line. */
export class ErasureFileError extends Error {}

const OWNER_ONLY = 0o600;

/**
 * The persons that were erased, to be erased again after a restore. The first line has the salt, each other line the time
 * and a SHA-256 of the organization and the address: no address can be read from it.
 */
export interface ErasureFile {
  salt: string;
  hashes: Set<string>;
}

export const hashPerson = (salt: string, organizationId: number, email: string): string =>
  createHash('sha256').update(`${salt} ${organizationId} ${email}`).digest('hex');

/** @throws ErasureFileError, or the error of the file system */
export async function readErasures(file: string): Promise<ErasureFile> {
  const [head = '', ...lines] = (await readFile(file, 'utf8')).split('\n');
  const { salt } = parseLine<{ salt: unknown }>(head, file, 1);
  if (typeof salt !== 'string') throw new ErasureFileError(`${file} is not a file of "persons erase --record".`);
  const hashes = new Set<string>();
  for (const [index, line] of lines.entries()) {
    if (line === '') continue;
    const { sha256 } = parseLine<{ sha256: unknown }>(line, file, index + 2);
    if (typeof sha256 !== 'string') throw new ErasureFileError(`${file} is damaged in line ${index + 2}.`);
    hashes.add(sha256);
  }
  return { salt, hashes };
}

function parseLine<T extends object>(line: string, file: string, number: number): Partial<T> {
  try {
    const value: unknown = JSON.parse(line);
    if (typeof value === 'object' && value !== null) return value;
  } catch {
    // The error below says what is wrong.
  }
  throw new ErasureFileError(`${file} is damaged in line ${number}.`);
}

/** Appends a line for each address, and waits until the disk has them. */
export async function recordErasure(file: string, organizationId: number, emails: string[], at: Date): Promise<void> {
  const handle = await open(file, 'a+', OWNER_ONLY);
  try {
    const isNew = (await handle.stat()).size === 0;
    const salt = isNew ? randomBytes(32).toString('hex') : (await readErasures(file)).salt;
    const head = isNew ? [JSON.stringify({ salt })] : [];
    const lines = emails.map((email) => JSON.stringify({ at, sha256: hashPerson(salt, organizationId, email) }));
    await handle.appendFile(`${[...head, ...lines].join('\n')}\n`);
    await handle.sync();
  } finally {
    await handle.close();
  }
}
