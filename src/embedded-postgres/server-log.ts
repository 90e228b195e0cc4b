import { closeSync, constants, existsSync, fchownSync, fstatSync, ftruncateSync, openSync, readSync } from 'node:fs';
import { join } from 'node:path';
import type { DataDirectory } from './data-directory';
import { EmbeddedPostgresError } from './embedded-postgres-error';

/** Bytes after which the log starts again from nothing. */
const LARGEST = 5_000_000;

/** The messages of one PostgreSQL server. PostgreSQL holds the file open for appending, so it is cut, not replaced. */
export class ServerLog {
  readonly path: string;

  constructor(private readonly directory: DataDirectory) {
    this.path = join(directory.path, 'postgresql.log');
  }

  /**
   * A file descriptor for PostgreSQL's standard error; the caller closes it.
   *
   * As root, in a directory that belongs to another account: a link planted there must not be followed.
   */
  open(): number {
    const { O_APPEND, O_CREAT, O_RDWR, O_NOFOLLOW = 0 } = constants;
    const file = openSync(this.path, O_APPEND | O_CREAT | O_RDWR | O_NOFOLLOW, 0o600);
    const stats = fstatSync(file);
    if (!stats.isFile() || stats.nlink !== 1) {
      closeSync(file);
      throw new EmbeddedPostgresError(`${this.path} must be an ordinary file`);
    }
    const { account } = this.directory;
    if (account) fchownSync(file, account.uid, account.gid);
    return file;
  }

  /** What the server with process id `pid` wrote into `file` from `position` (bytes) on; also lines without an id. */
  linesOf(pid: number | undefined, file: number, position: number): string[] {
    const buffer = Buffer.alloc(64 * 1024);
    const lines = buffer.toString('utf8', 0, readSync(file, buffer, 0, buffer.length, position)).split('\n');
    return lines.filter((line) => line.trim() !== '' && (!/ \[\d+\] /.test(line) || line.includes(` [${pid}] `)));
  }

  /** Keeps the log from growing without bound. */
  trim(): void {
    if (!existsSync(this.path)) return;
    const file = this.open();
    if (fstatSync(file).size > LARGEST) ftruncateSync(file);
    closeSync(file);
  }
}

/** The line that tells best what went wrong, without time and process id. */
export function lastComplaint(lines: string[]): string {
  const wrong = lines.filter((line) => /\b(FATAL|PANIC|ERROR|error|could not|cannot)\b/.test(line));
  // A full disk makes PostgreSQL stumble over itself afterwards, so the last line is not the one to tell.
  const cause = wrong.find((line) => /No space left on device|Disk quota exceeded/.test(line));
  const line = cause ?? wrong.at(-1) ?? lines.at(-1) ?? 'no message';
  return line.replace(/^.*? \[\d+\] /, '').replace(/^((FATAL|PANIC|ERROR|LOG|initdb|postgres|error):\s*)+/, '');
}
