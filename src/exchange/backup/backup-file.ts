import { createHash } from 'node:crypto';
import { Readable } from 'node:stream';
import { isDeepStrictEqual } from 'node:util';
import { createGunzip } from 'node:zlib';
import { ExpectedError } from '../../errors/expected-error';

/** A backup cannot be written or restored. The message is one line. */
export class BackupError extends ExpectedError {}

/**
 * The format of a backup. It is gzipped text: the head as a line of JSON; then for each table a line of JSON with its name,
 * its rows as COPY writes them, and END_OF_ROWS; and finally a line of JSON with the number of rows of each table and the
 * SHA-256 of everything before that line. Without this line the file is incomplete.
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

export interface BackupEnd {
  rows: RowCounts;
  /** In hexadecimal digits. Backups of earlier commits have none. */
  sha256?: string;
}

/** Maximum length of a line of JSON. A head has a few kilobytes, but another file may have gigabytes without a line break. */
const MAX_LINE_BYTES = 16 << 20;

const INCOMPLETE = 'is incomplete: its end is missing.';
const DAMAGED = 'is damaged.';
const FOREIGN = 'is not a backup of Lanyard.';

/** Reads a backup sequentially, in memory that is bounded by its longest row. */
export class BackupReader {
  private readonly chunks: AsyncIterator<Buffer>;
  private buffered: Buffer = Buffer.alloc(0);
  /** The hash of what was read. */
  private readonly hash = createHash('sha256');

  constructor(
    /** The name of the file in messages. */
    private readonly name: string,
    file: AsyncIterable<Buffer>,
  ) {
    const gunzip = createGunzip({ chunkSize: 256 << 10 });
    const source = Readable.from(file);
    // pipe() does not forward errors, so reading would never end if the file cannot be read.
    source.on('error', (error) => gunzip.destroy(error));
    this.chunks = source.pipe(gunzip)[Symbol.asyncIterator]() as AsyncIterator<Buffer>;
  }

  /** @throws BackupError if the file is not a backup, has a newer format or is damaged */
  async readHead(): Promise<BackupHead> {
    const head = parseJson(await this.readLine()) as BackupHead | undefined;
    if (head?.format !== BACKUP_FORMAT) throw this.error(FOREIGN);
    if (typeof head.version === 'number' && head.version !== BACKUP_FORMAT_VERSION) {
      throw this.error(
        `was written by Lanyard ${head.release} in a format that this release cannot read. Restore it with that release.`,
      );
    }
    const isWhole = [head.migrations, head.tables, head.sequences].every(Array.isArray) && head.tables.every(isTable);
    if (head.version !== BACKUP_FORMAT_VERSION || !isWhole) throw this.error(DAMAGED);
    return head;
  }

  /**
   * Yields the tables that the head names. The rows of one must be read before the next.
   * @throws BackupError if the file does not contain them, or has changed since it was written
   */
  async *readTables({ tables }: BackupHead): AsyncGenerator<BackupTable & { rows: AsyncGenerator<Buffer> }> {
    const counts: RowCounts = {};
    for (const table of tables) {
      if (!isDeepStrictEqual(parseJson(await this.readLine()), { table })) throw this.error(DAMAGED);
      counts[table.name] = 0;
      yield { ...table, rows: this.readRows(table.name, counts) };
    }
    const sha256 = this.hash.copy().digest('hex');
    const end = (parseJson(await this.readLine()) ?? {}) as Partial<BackupEnd>;
    const expected = end.rows ?? {};
    if (Object.keys(expected).length !== tables.length || (end.sha256 ?? sha256) !== sha256) throw this.error(DAMAGED);
    for (const [name, count] of Object.entries(expected)) {
      if (count !== counts[name]) {
        throw this.error(`is damaged: it does not contain the ${count} rows of ${name} that it should.`);
      }
    }
    // At the end, gzip stores its checksum.
    if (this.buffered.length > 0 || !(await this.next()).done) throw this.error(DAMAGED);
  }

  /** Yields the rows of a table in whole lines, as COPY reads them, and counts them. */
  private async *readRows(name: string, counts: RowCounts): AsyncGenerator<Buffer> {
    for (;;) {
      if (this.buffered.subarray(0, END_OF_ROWS.length).equals(Buffer.from(END_OF_ROWS))) {
        this.take(END_OF_ROWS.length);
        return;
      }
      const end = this.buffered.indexOf(`\n${END_OF_ROWS}`);
      const lineEnd = end === -1 ? this.buffered.lastIndexOf('\n') : end;
      if (lineEnd === -1) {
        await this.fill();
        continue;
      }
      const rows = this.take(lineEnd + 1);
      counts[name]! += countLines(rows);
      yield rows;
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

  private take(length: number): Buffer {
    const result = this.buffered.subarray(0, length);
    this.buffered = this.buffered.subarray(length);
    this.hash.update(result);
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
      throw error;
    }
  }
}

/**
 * Reads a whole backup, so that a damaged one is found before a database is created or changed.
 * @throws BackupError if the file is not a backup, or not as it was written
 */
export async function verifyBackup(reader: BackupReader): Promise<void> {
  for await (const { rows } of reader.readTables(await reader.readHead())) await skip(rows);
}

/** Reads rows that nobody needs. */
export async function skip(rows: AsyncIterable<Buffer>): Promise<void> {
  for await (const _ of rows);
}

function countLines(rows: Buffer): number {
  let count = 0;
  for (let end = rows.indexOf('\n'); end !== -1; end = rows.indexOf('\n', end + 1)) count++;
  return count;
}

const isTable = (table: Partial<BackupTable> | null): boolean =>
  typeof table?.name === 'string' && Array.isArray(table.columns);

function parseJson(line: string): unknown {
  try {
    return JSON.parse(line) as unknown;
  } catch {
    return undefined;
  }
}
