import { createHash, randomBytes } from 'node:crypto';
import { appendFile, readFile, stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { ErasureRecord, FormerHash, RecordedErasure } from '../exchange/persons/erased-persons.service';
import { OWNER_ONLY, syncFolder } from './new-file';
import { CommandError } from './terminal/terminal';

/** How the first form of the file named a person. */
export const formerHash =
  (salt: string): FormerHash =>
  (organizationId, address) =>
    createHash('sha256').update(`${salt} ${organizationId} ${address}`).digest('hex');

/**
 * Reads the persons that were erased, to be erased again after a restore. The first line has the salt, each other line the time
 * and hashes: a list of them or, in the first form of the file, the hash of one address.
 * @returns undefined if the file is empty or does not exist
 * @throws CommandError if it is another kind of file, or the error of the file system
 */
async function readRecord(file: string): Promise<(ErasureRecord & { endsInLine: boolean }) | undefined> {
  const existing = await stat(file).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return undefined;
    throw error;
  });
  if (!existing || existing.size === 0) {
    if (existing?.isFile() === false) throw otherKind(file);
    return undefined;
  }
  // To read a pipe would wait for whoever writes into it.
  if (!existing.isFile()) throw otherKind(file);
  const text = await readFile(file, 'utf8');
  const [head = '', ...lines] = text.trimEnd().split('\n');
  const { salt } = parseLine(head);
  if (typeof salt !== 'string') throw otherKind(file);
  const record: ErasureRecord = { salt, erasures: [], formerErasures: [] };
  for (const [index, line] of lines.entries()) {
    const { at, sha256 } = parseLine(line);
    const isFormer = typeof sha256 === 'string';
    const hashes: unknown[] = Array.isArray(sha256) ? sha256 : [sha256];
    const isTime = typeof at === 'string' && !Number.isNaN(Date.parse(at));
    if (!isTime || !hashes.every((hash) => typeof hash === 'string')) {
      throw new CommandError(`${file} is damaged in line ${index + 2}. Nothing was changed.`);
    }
    (isFormer ? record.formerErasures : record.erasures).push({ at, sha256: hashes });
  }
  return { ...record, endsInLine: !text.endsWith('\n') };
}

const otherKind = (file: string): CommandError =>
  new CommandError(`${file} is not a file of "persons erase --record". Nothing was changed.`);

/** The object of a line of JSON, without properties if it is none. */
function parseLine(line: string): Record<string, unknown> {
  try {
    return Object(JSON.parse(line)) as Record<string, unknown>;
  } catch {
    return {};
  }
}

/** @throws CommandError, or the error of the file system */
export async function readErasures(file: string): Promise<ErasureRecord> {
  const record = await readRecord(file);
  if (!record) throw new CommandError(`There is no record of erasures in ${file}. Nothing was changed.`);
  return record;
}

/** @throws CommandError if nothing can be appended to the file, because it is one of another kind */
export async function requireErasureFile(file: string): Promise<void> {
  await readRecord(file);
}

/**
 * Appends a line, and waits until the disk has it.
 * @param erasureOf gives the line for the salt of the file
 */
export async function recordErasure(
  file: string,
  erasureOf: (salt: string) => Promise<RecordedErasure>,
): Promise<void> {
  const record = await readRecord(file);
  const salt = record?.salt ?? randomBytes(32).toString('hex');
  const lines = [...(record ? [] : [{ salt }]), await erasureOf(salt)].map((line) => `${JSON.stringify(line)}\n`);
  const text = lines.join('');
  await appendFile(file, record?.endsInLine ? `\n${text}` : text, { mode: OWNER_ONLY, flush: true });
  await syncFolder(dirname(file));
}
