import { createReadStream, existsSync, statSync } from 'node:fs';
import { errorMessage, CommandError } from './terminal/terminal';

/** Bytes of a file, as far as that is known; whether it can be read is seen when it is read. */
export const fileSize = (file: string): number | undefined =>
  file !== '-' && existsSync(file) ? statSync(file).size || undefined : undefined;

/**
 * A file, or standard input.
 * @param onBytes called with the size of each part
 * @throws Refusal when it cannot be read
 */
export async function* readChunks(file: string, onBytes: (count: number) => void): AsyncGenerator<Buffer> {
  try {
    for await (const chunk of file === '-' ? process.stdin : createReadStream(file)) {
      const bytes = chunk as Buffer;
      onBytes(bytes.length);
      yield bytes;
    }
  } catch (error) {
    throw new CommandError(`cannot read ${file === '-' ? 'standard input' : file}: ${errorMessage(error)}`);
  }
}
