import { resolve } from 'node:path';
import { isConnectionError } from '../data/database/errors';
import { NDJSON_FORMAT } from '../exchange/datasets/export-format';
import type { FormerRecord } from '../exchange/datasets/former-records';
import { NewFile } from './new-file';

/** The file of `--before`: the records that an import changes, as they were. It is created if there is such a record. */
export class BeforeFile {
  /** The absolute name, by which a later undo names the file. */
  readonly path: string;
  /** How many records were written. */
  count = 0;
  private readonly file: NewFile;

  /** @throws CommandError if there is such a file already */
  constructor(name: string) {
    this.path = resolve(name);
    this.file = new NewFile(this.path);
    this.file.requireNew();
  }

  /** Writes the whole file to the disk, before the import commits. */
  async write(records: AsyncIterable<FormerRecord>): Promise<void> {
    await this.file.remove();
    this.count = 0;
    for await (const { section, record } of records) {
      await this.file.append(NDJSON_FORMAT.record(record, section, this.count++));
    }
    await this.file.finish();
  }

  /** Removes the file of an import that has failed. If the connection was lost, the import may have been committed. */
  async removeAfter(error: unknown): Promise<void> {
    if (!isConnectionError(error)) await this.file.remove();
  }
}
