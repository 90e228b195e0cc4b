import { rmSync } from 'node:fs';
import { open, rename, stat } from 'node:fs/promises';
import { OWNER_ONLY } from './new-file';
import { errorMessage, CommandError } from './terminal/terminal';

/** Appends a chunk. It resolves when the chunk has been written. */
type Append = (chunk: string | Buffer) => Promise<void>;

/**
 * Writes to a temporary file next to the target and renames it at the end, so that a file of that name is always complete.
 * The data is personal, so only the owner may read it.
 * @throws CommandError with the name of the file if it cannot be written
 */
export async function writeFile<T>(file: string, write: (append: Append) => Promise<T>): Promise<T> {
  const withFileName = <R>(work: Promise<R>): Promise<R> =>
    work.catch((error: unknown) => Promise.reject(new CommandError(`Cannot write ${file}: ${errorMessage(error)}`)));
  const existing = await stat(file).catch(() => undefined);
  if (existing?.isFile() === false) throw new CommandError(`Cannot write ${file}: it is not a regular file`);
  const part = `${file}.${process.pid}.part`;
  // Opened exclusively, so that it follows no link of that name, which anybody could create in a shared folder.
  const output = await withFileName(open(part, 'wx', OWNER_ONLY));
  const removePart = (): void => rmSync(part, { force: true });
  process.once('exit', removePart); // also after a signal
  try {
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
