import { randomUUID } from 'node:crypto';
import { appendFileSync, createReadStream, existsSync, openSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { escapeInvisible } from '../fields/invisible';
import { OWNER_ONLY } from './new-file';
import { errorMessage, CommandError } from './terminal/terminal';

/** The size of a file in bytes, or undefined if it is unknown. Errors are reported when the file is read. */
export const fileSize = (file: string): number | undefined =>
  file !== '-' && existsSync(file) ? statSync(file).size || undefined : undefined;

/** A file, standard input, or what a descriptor has from its beginning. */
function openStream(file: string | number): Readable {
  if (typeof file === 'number') return createReadStream('', { fd: file, start: 0, autoClose: false });
  return file === '-' ? process.stdin : createReadStream(file);
}

/**
 * Yields the contents of a file, or of standard input.
 * @param onBytes called with the size of each chunk
 * @throws CommandError if it cannot be read
 */
export async function* readChunks(file: string | number, onBytes?: (count: number) => void): AsyncGenerator<Buffer> {
  try {
    for await (const chunk of openStream(file)) {
      const bytes = chunk as Buffer;
      onBytes?.(bytes.length);
      yield bytes;
    }
  } catch (error) {
    throw new CommandError(
      `Cannot read ${file === '-' ? 'standard input' : escapeInvisible(String(file))}: ${errorMessage(error)}`,
    );
  }
}

/** What a person sees of the reading. */
interface ReadingProgress {
  restart: () => void;
  read: (bytes: number) => void;
}

/**
 * Opens a file as often as it is called. What can be read only once, such as standard input, is kept in a temporary file
 * without a name, which is gone when the process ends.
 */
export function openAgain(file: string, progress: ReadingProgress): () => AsyncGenerator<Buffer> {
  let isComplete = file !== '-' && existsSync(file) && statSync(file).isFile();
  let kept: number | undefined;
  return async function* () {
    progress.restart();
    if (!isComplete) {
      kept = openNamelessFile();
      for await (const bytes of readChunks(file)) appendFileSync(kept, bytes);
      isComplete = true;
    }
    yield* readChunks(kept ?? file, progress.read);
  };
}

/** @returns a descriptor: Node.js warns of a `FileHandle` that nobody closes, which a file is that is never read again */
function openNamelessFile(): number {
  const path = join(tmpdir(), `lanyard-${randomUUID()}`);
  const descriptor = openSync(path, 'wx+', OWNER_ONLY);
  rmSync(path);
  return descriptor;
}

/** What differs after a regular file has been changed. */
export function fileState(file: string): string {
  const { ino, size, mtimeNs } = statSync(file, { bigint: true });
  return [ino, size, mtimeNs].join(' ');
}
