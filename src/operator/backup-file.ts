import type { Readable } from 'node:stream';
import { createGunzip } from 'node:zlib';

/** A backup cannot be written or restored. The message is one line. */
export class BackupError extends Error {}

/**
 * The format of a backup. It is gzipped text: the head as a line of JSON; then for each table a line of JSON with its name,
 * its rows as COPY writes them, and END_OF_ROWS; and finally a line of JSON with the number of rows of each table, without
 * which the file is incomplete.
 */
export const BACKUP_FORMAT = 'lanyard-backup';
export const BACKUP_FORMAT_VERSION = 1;

/** The line that ends the rows of a table. No row looks like it, because COPY doubles backslashes. */
export const END_OF_ROWS = '\\.\n';

export interface BackupTable {
  name: string;
  columns: string[];
}

export interface BackupHead {
  format: typeof BACKUP_FORMAT;
  version: number;
  /** The release that wrote the backup. */
  release: string;
  createdAt: string;
  /** Names of the applied migrations, in the order in which they were applied. */
  migrations: string[];
  tables: BackupTable[];
  /** `value` is the last one that was used. Unused sequences are left out. */
  sequences: { name: string; value: string }[];
}

/** The number of rows of each table. */
export type RowCounts = Record<string, number>;

/** Maximum length of a line of JSON. A head has a few kilobytes, but another file may have gigabytes without a line break. */
const MAX_LINE_BYTES = 16 << 20;

const INCOMPLETE = 'is incomplete: its end is missing.';
const DAMAGED = 'is damaged.';
const FOREIGN = 'is not a backup of Lanyard.';

/** Reads a backup sequentially, in memory that is bounded by its longest row. */
export class BackupReader {
  private readonly chunks: AsyncIterator<Buffer>;
  private buffered: Buffer = Buffer.alloc(0);

  constructor(
    /** The name of the file in messages. */
    private readonly name: string,
    file: Readable,
  ) {
    const gunzip = createGunzip({ chunkSize: 256 << 10 });
    // pipe() does not forward errors, so reading would never end if the file cannot be read.
    file.on('error', (error) => gunzip.destroy(error));
    this.chunks = file.pipe(gunzip)[Symbol.asyncIterator]() as AsyncIterator<Buffer>;
  }

  /** @throws BackupError if the file is not a backup, or has a newer format */
  async readHead(): Promise<BackupHead> {
    const head = parseJson(await this.readLine()) as BackupHead | undefined;
    if (head?.format !== BACKUP_FORMAT) throw this.error(FOREIGN);
    if (head.version === BACKUP_FORMAT_VERSION) return head;
    throw this.error(
      `was written by Lanyard ${head.release} in a format that this release cannot read. Restore it with that release.`,
    );
  }

  /** Reads the head of the next table. The result is undefined after the last one. */
  async readTable(): Promise<BackupTable | undefined> {
    const line = parseJson(await this.readLine()) as { table?: BackupTable; rows?: RowCounts } | undefined;
    if (line?.rows) {
      this.counts = line.rows;
      await this.end();
      return undefined;
    }
    if (!line?.table) throw this.error(DAMAGED);
    return line.table;
  }

  /** The number of rows of each table. It is empty until the last table has been read. */
  counts: RowCounts = {};

  /** Yields the rows of a table in whole lines, as COPY reads them. */
  async *readRows(): AsyncGenerator<Buffer> {
    for (;;) {
      if (this.buffered.subarray(0, END_OF_ROWS.length).equals(Buffer.from(END_OF_ROWS))) {
        this.take(END_OF_ROWS.length);
        return;
      }
      const end = this.buffered.indexOf(`\n${END_OF_ROWS}`);
      const lineEnd = end === -1 ? this.buffered.lastIndexOf('\n') : end;
      if (lineEnd === -1) await this.fill();
      else yield this.take(lineEnd + 1);
    }
  }

  error(reason: string, cause?: unknown): BackupError {
    return new BackupError(`${this.name} ${reason}`, { cause });
  }

  private async readLine(): Promise<string> {
    for (;;) {
      const end = this.buffered.indexOf('\n');
      if (end !== -1) return this.take(end + 1).toString();
      if (this.buffered.length > MAX_LINE_BYTES) throw this.error(FOREIGN);
      await this.fill();
    }
  }

  /** Reads to the end, where gzip stores the checksum. */
  private async end(): Promise<void> {
    if (this.buffered.length > 0 || !(await this.next()).done) throw this.error(DAMAGED);
  }

  private take(length: number): Buffer {
    const result = this.buffered.subarray(0, length);
    this.buffered = this.buffered.subarray(length);
    return result;
  }

  private async fill(): Promise<void> {
    const next = await this.next();
    if (next.done) throw this.error(INCOMPLETE);
    this.buffered = this.buffered.length > 0 ? Buffer.concat([this.buffered, next.value]) : next.value;
  }

  private async next(): Promise<IteratorResult<Buffer>> {
    try {
      return await this.chunks.next();
    } catch (error) {
      const { code, message } = error as NodeJS.ErrnoException;
      if (code === 'Z_BUF_ERROR') throw this.error(INCOMPLETE, error);
      if (code === 'Z_DATA_ERROR') throw this.error(/header/.test(message) ? FOREIGN : DAMAGED, error);
      throw this.error(`cannot be read: ${message}`, error);
    }
  }
}

function parseJson(line: string): unknown {
  try {
    return JSON.parse(line) as unknown;
  } catch {
    return undefined;
  }
}
