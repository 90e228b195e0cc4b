import { existsSync, rmSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { isConnectionError } from '../database/errors';
import { NDJSON_FORMAT } from '../datasets/export-format';
import type { FormerRecord } from '../datasets/former-records';
import { CommandError, errorMessage } from './terminal/terminal';

const OWNER_ONLY = 0o600;
const WRITE_LENGTH = 65_536;

/** The file of `--before`: the records that an import changes, as they were. It is created if there is such a record. */
export class BeforeFile {
  /** The absolute name, by which a later undo names the file. */
  readonly path: string;
  /** How many records were written. */
  count = 0;

  /** @throws CommandError if there is such a file already */
  constructor(name: string) {
    this.path = resolve(name);
    if (existsSync(this.path)) throw this.error('the file exists already');
  }

  /** Writes the whole file to the disk, before the import commits. */
  async write(records: AsyncIterable<FormerRecord>): Promise<void> {
    this.remove();
    let text = '';
    let file: Awaited<ReturnType<typeof open>> | undefined;
    const fail = (error: unknown): never => {
      throw this.error(errorMessage(error));
    };
    try {
      for await (const { section, record } of records) {
        // Created exclusively, so that nothing is overwritten, and no link of that name is followed.
        file ??= await open(this.path, 'wx', OWNER_ONLY).catch(fail);
        text += NDJSON_FORMAT.record(record, section, this.count++);
        if (text.length < WRITE_LENGTH) continue;
        await file.appendFile(text).catch(fail);
        text = '';
      }
      await file?.appendFile(text).catch(fail);
      await file?.sync().catch(fail);
      if (file) await syncFolder(dirname(this.path));
    } finally {
      await file?.close();
    }
  }

  /** Removes the file of an import that has failed. If the connection was lost, the import may have been committed. */
  removeAfter(error: unknown): void {
    if (!isConnectionError(error)) this.remove();
  }

  private remove(): void {
    if (this.count > 0) rmSync(this.path, { force: true });
    this.count = 0;
  }

  private error(reason: string): CommandError {
    return new CommandError(`Cannot write ${this.path}: ${reason}. Nothing was imported.`);
  }
}

/** Keeps the name of a new file over a power failure, where the system can do that. */
async function syncFolder(path: string): Promise<void> {
  const folder = await open(path).catch(() => undefined);
  await folder?.sync().catch(() => undefined);
  await folder?.close();
}
