import { formatNumber } from './table';

const BAR_WIDTH = 24;

/** Shows the progress of a long command on standard error, if that is a terminal. */
export class Progress {
  private bytesRead = 0;
  private count = 0;

  /** @param bytes the size of the file; undefined if it is unknown or there is no file */
  constructor(private readonly bytes?: number) {}

  /** The file is read from its beginning. */
  restart = (): void => {
    this.bytesRead = 0;
  };

  read = (bytes: number): void => {
    this.bytesRead += bytes;
    this.show();
  };

  /** @param count records so far */
  records = (count: number): void => {
    this.count = count;
    this.show();
  };

  stop(): void {
    replaceLine('');
  }

  private show(): void {
    const share = Math.min(1, this.bytesRead / (this.bytes ?? Infinity));
    const bar = '█'.repeat(share * BAR_WIDTH).padEnd(BAR_WIDTH, '░');
    replaceLine(`${this.bytes ? `${bar} ${Math.floor(share * 100)}% | ` : ''}${formatNumber(this.count)} records`);
  }
}

/** Replaces the line in which the cursor is. */
function replaceLine(text: string): void {
  if (process.stderr.isTTY) process.stderr.write(`\r\x1b[K${text}`);
}
