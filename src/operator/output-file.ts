import { rmSync } from 'node:fs';
import { open, rename, stat } from 'node:fs/promises';
import { errorMessage, CommandError } from './terminal/terminal';

const OWNER_ONLY = 0o600;
const PERMISSION_BITS = 0o777;

/** Resolves when the chunk was written. */
type Append = (chunk: string | Buffer) => Promise<void>;

/**
 * Writes next to the file and renames when everything is written, so that a file of that name is always complete. What it holds
 * is personal data: a new file is for its owner only, and one that replaces another keeps the permissions of that.
 * @throws Refusal that names the file when it cannot be written
 */
export async function writeFile<T>(file: string, write: (append: Append) => Promise<T>): Promise<T> {
  const withFileName = <R>(work: Promise<R>): Promise<R> =>
    work.catch((error: unknown) => Promise.reject(new CommandError(`cannot write ${file}: ${errorMessage(error)}`)));
  const existing = await stat(file).catch(() => undefined);
  if (existing?.isFile() === false) throw new CommandError(`cannot write ${file}: it is no regular file`);
  const part = `${file}.${process.pid}.part`;
  // Exclusively, so that a link of that name, which anybody may make in a shared folder, is not followed.
  const output = await withFileName(open(part, 'wx', OWNER_ONLY));
  const removePart = (): void => rmSync(part, { force: true });
  process.once('exit', removePart); // also after a signal
  try {
    if (existing) await withFileName(output.chmod(existing.mode & PERMISSION_BITS));
    const result = await write((chunk) => withFileName(output.appendFile(chunk)));
    await withFileName(output.sync());
    await withFileName(rename(part, file));
    return result;
  } finally {
    await output.close();
    removePart();
    process.off('exit', removePart);
  }
}
