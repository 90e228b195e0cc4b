import { Presets, SingleBar } from 'cli-progress';
import { formatNumber } from './table';

/** Shows the progress of a long command on standard error, if that is a terminal. */
export class Progress {
  private readonly bar?: SingleBar;
  private readonly startedAt = Date.now();

  /** @param bytes the size of the file; undefined if it is unknown or there is no file */
  constructor(bytes?: number) {
    if (!process.stderr.isTTY) return;
    const [bar, time] =
      bytes === undefined ? ['', '{duration_formatted}'] : ['{bar} {percentage}% | ', 'ETA {eta_formatted}'];
    const options = {
      format: `${bar}{records} records | {rate}/s | ${time}`,
      barsize: 24,
      hideCursor: true,
      clearOnComplete: true,
      gracefulExit: false, // the command handles Ctrl-C
    };
    this.bar = new SingleBar(options, Presets.shades_classic);
    this.bar.start(bytes ?? 0, 0, { records: 0, rate: 0 });
  }

  read = (bytes: number): void => {
    this.bar?.increment(bytes);
  };

  /** @param count records so far */
  records = (count: number): void => {
    const seconds = Math.max(1, (Date.now() - this.startedAt) / 1000);
    this.bar?.update({ records: formatNumber(count), rate: formatNumber(Math.round(count / seconds)) });
  };

  stop(): void {
    this.bar?.stop();
  }
}
