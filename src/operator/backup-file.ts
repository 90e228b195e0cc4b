import type { Readable } from 'node:stream';
import { createGunzip } from 'node:zlib';

/** A backup cannot be made or restored. The message is one line. */
export class BackupError extends Error {}

/**
 * A backup is a gzip of lines: the head as JSON, then for each table its name as JSON, its rows as COPY writes them, and
 * END_OF_ROWS; and at the end the number of rows of each table, without which the file is incomplete.
 */
export const BACKUP_FORMAT = 'lanyard-backup';
export const BACKUP_FORMAT_VERSION = 1;

/** The line that ends the rows of a table. No row is like it, because COPY writes a backslash as two. */
export const END_OF_ROWS = '\\.\n';

export interface BackupTable {
  name: string;
  columns: string[];
}

export interface BackupHead {
  format: typeof BACKUP_FORMAT;
  version: number;
  /** The release that made the backup. */
  release: string;
  createdAt: string;
  /** Names of the applied migrations, in the order in which they were applied. */
  migrations: string[];
  tables: BackupTable[];
  /** `value` was given last; sequences that have not given any are left out. */
  sequences: { name: string; value: string }[];
}

/** The number of rows of each table. */
export type RowCounts = Record<string, number>;

/** A head has a few kilobytes; a file without lines that is something else may have gigabytes. */
const MAX_LINE_BYTES = 16 << 20;

const INCOMPLETE = 'is incomplete: its end is missing';
const DAMAGED = 'is damaged';
const FOREIGN = 'is not a backup of Lanyard';

/** Reads a backup, part by part, in memory that is bounded by its longest row. */
export class BackupReader {
  private readonly chunks: AsyncIterator<Buffer>;
  private buffered: Buffer = Buffer.alloc(0);

  constructor(
    /** How messages name the file. */
    private readonly name: string,
    file: Readable,
  ) {
    const gunzip = createGunzip({ chunkSize: 256 << 10 });
    // The error of a file that cannot be read ends the reading, too.
    file.on('error', (error) => gunzip.destroy(error));
    this.chunks = file.pipe(gunzip)[Symbol.asyncIterator]() as AsyncIterator<Buffer>;
  }

  /** @throws BackupError when the file is something else, or of a later format */
  async readHead(): Promise<BackupHead> {
    const head = parseJson(await this.line()) as BackupHead | undefined;
    if (head?.format !== BACKUP_FORMAT) throw this.error(FOREIGN);
    if (head.version === BACKUP_FORMAT_VERSION) return head;
    throw this.error(`was made by Lanyard ${head.release}, whose format this release does not know: use that release`);
  }

  /** The next table, or undefined after the last one. */
  async table(): Promise<BackupTable | undefined> {
    const line = parseJson(await this.line()) as { readTable?: BackupTable; rows?: RowCounts } | undefined;
    if (line?.rows) {
      this.counts = line.rows;
      await this.end();
      return undefined;
    }
    if (!line?.readTable) throw this.error(DAMAGED);
    return line.readTable;
  }

  /** The number of rows of each table, known after the last table. */
  counts: RowCounts = {};

  /** The rows of a table in whole lines, as COPY reads them. */
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

  private async line(): Promise<string> {
    for (;;) {
      const end = this.buffered.indexOf('\n');
      if (end !== -1) return this.take(end + 1).toString();
      if (this.buffered.length > MAX_LINE_BYTES) throw this.error(FOREIGN);
      await this.fill();
    }
  }

  /** Reads to the end, where gzip has the checksum. */
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

function parseJson(readLine: string): unknown {
  try {
    return JSON.parse(readLine) as unknown;
  } catch {
    return undefined;
  }
}
