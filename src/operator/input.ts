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
  if (typeof file === 'number') return createReadStream('', { fd: file, start: 0 });
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

/**
 * Opens a file for a first and a second reading. What can be read only once, such as standard input, is kept in a temporary
 * file without a name, which is gone when the process ends.
 * @param onBytes called with the size of each part of the second reading
 */
export function openTwice(file: string, onBytes: (count: number) => void): () => AsyncGenerator<Buffer> {
  let isFirst = true;
  let kept: number | undefined;
  const isRegularFile = file !== '-' && existsSync(file) && statSync(file).isFile();
  return async function* () {
    const wasFirst = isFirst;
    isFirst = false;
    if (wasFirst && !isRegularFile) kept = openNamelessFile();
    for await (const bytes of readChunks(wasFirst ? file : (kept ?? file), wasFirst ? undefined : onBytes)) {
      if (wasFirst && kept !== undefined) appendFileSync(kept, bytes);
      yield bytes;
    }
  };
}

/** @returns a descriptor: Node.js warns of a `FileHandle` that nobody closes, which a file is that is never read again */
function openNamelessFile(): number {
  const path = join(tmpdir(), `lanyard-${randomUUID()}`);
  const descriptor = openSync(path, 'wx+', OWNER_ONLY);
  rmSync(path);
  return descriptor;
}
