import { SingleBar } from 'cli-progress';

/** How far a long command is, drawn on standard error when that is a terminal. */
export class Progress {
  private readonly bar?: SingleBar;
  private bytes = 0;

  /** @param total bytes that will be read; undefined when nobody knows */
  constructor(total?: number, wanted = process.stderr.isTTY) {
    if (!wanted) return;
    const share = total === undefined ? '' : '[{bar}] {percentage}% | ';
    const format = `${share}{records} records | {duration_formatted}`;
    // Ctrl-C is the command's own affair, not the bar's.
    this.bar = new SingleBar({ format, hideCursor: true, clearOnComplete: true, gracefulExit: false });
    this.bar.start(total ?? 0, 0, { records: 0 });
  }

  read = (count: number): void => {
    this.bytes += count;
    this.bar?.update(this.bytes);
  };

  records = (count: number): void => this.bar?.update({ records: count });

  stop(): void {
    this.bar?.stop();
  }
}
