import { createReadStream, existsSync, statSync } from 'node:fs';
import { errorMessage, CommandError } from './terminal/terminal';

/** The size of a file in bytes, or undefined if it is unknown. Errors are reported when the file is read. */
export const fileSize = (file: string): number | undefined =>
  file !== '-' && existsSync(file) ? statSync(file).size || undefined : undefined;

/**
 * Yields the contents of a file, or of standard input.
 * @param onBytes called with the size of each chunk
 * @throws CommandError if it cannot be read
 */
export async function* readChunks(file: string, onBytes: (count: number) => void): AsyncGenerator<Buffer> {
  try {
    for await (const chunk of file === '-' ? process.stdin : createReadStream(file)) {
      const bytes = chunk as Buffer;
      onBytes(bytes.length);
      yield bytes;
    }
  } catch (error) {
    throw new CommandError(`Cannot read ${file === '-' ? 'standard input' : file}: ${errorMessage(error)}`);
  }
}
