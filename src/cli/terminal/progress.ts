import { SingleBar } from 'cli-progress';
import { figure } from './table';

/** The size of the work: bytes of a file, or records. Undefined when unknown. */
interface Total {
  bytes?: number;
  records?: number;
}

/** The progress of a long command, drawn on standard error when that is a terminal. */
export class Progress {
  private readonly bar?: SingleBar;
  private readonly startedAt = Date.now();
  private bytes = 0;

  constructor(
    private readonly total: Total = {},
    stream: NodeJS.WriteStream = process.stderr,
  ) {
    if (!stream.isTTY) return;
    const size = total.bytes ?? total.records;
    const [bar, time] =
      size === undefined ? ['', '{duration_formatted}'] : ['{bar} {percentage}% | ', 'ETA {eta_formatted}'];
    this.bar = new SingleBar({
      format: `${bar}{records} records | {rate}/s | ${time}`,
      stream,
      barsize: 24,
      barCompleteChar: '█',
      barIncompleteChar: '░',
      hideCursor: true,
      clearOnComplete: true,
      gracefulExit: false, // the command handles Ctrl-C
    });
    this.bar.start(size ?? 0, 0, { records: 0, rate: 0 });
  }

  read = (count: number): void => {
    this.bytes += count;
    if (this.total.bytes !== undefined) this.bar?.update(this.bytes);
  };

  /** @param count records so far */
  records = (count: number): void => {
    const seconds = Math.max(1, (Date.now() - this.startedAt) / 1000);
    const shown = { records: figure(count), rate: figure(Math.round(count / seconds)) };
    this.bar?.update(this.total.bytes === undefined ? count : this.bytes, shown);
  };

  stop(): void {
    this.bar?.stop();
  }
}
