import { Options, Params, SingleBar } from 'cli-progress';
import { figure } from './table';

/** What a bar counts towards: bytes of a file, or the records themselves. Undefined when nobody knows. */
interface Total {
  bytes?: number;
  records?: number;
}

/** How far a long command is, drawn on standard error when that is a terminal. */
export class Progress {
  private readonly bar?: SingleBar;
  private bytes = 0;
  private count = 0;

  constructor(
    private readonly total: Total = {},
    stream: NodeJS.WriteStream = process.stderr,
  ) {
    if (!stream.isTTY) return;
    // Ctrl-C is the command's own affair, not the bar's.
    this.bar = new SingleBar({
      format: this.line,
      stream,
      hideCursor: true,
      clearOnComplete: true,
      gracefulExit: false,
    });
    this.bar.start(total.bytes ?? total.records ?? 0, 0);
  }

  read = (count: number): void => {
    this.bytes += count;
    if (this.total.bytes !== undefined) this.bar?.update(this.bytes);
  };

  /** @param count records so far */
  records = (count: number): void => {
    this.count = count;
    if (this.total.bytes === undefined) this.bar?.update(count);
  };

  stop(): void {
    this.bar?.stop();
  }

  private line = (_: Options, { progress, startTime, maxWidth }: Params): string => {
    const seconds = (Date.now() - startTime) / 1000;
    const share = (this.total.bytes ?? this.total.records) === undefined ? undefined : progress;
    return progressLine(figures({ records: this.count, seconds, share }), share, maxWidth);
  };
}

/** Characters of a bar; with fewer than the least it would say nothing. */
const LONGEST_BAR = 40;
const LEAST_BAR = 5;

/**
 * A bar, the share in percent, and figures, in one line that a terminal shows whole: first the bar gives way, then the
 * figures, from the last.
 * @param share of the work that is done, from 0 to 1; undefined when nobody knows
 */
export function progressLine(known: string[], share: number | undefined, columns: number): string {
  const width = columns - 1; // What is cleared behind the line would take the last column with it.
  const parts = share === undefined ? [...known] : [`${Math.floor(share * 100)}%`, ...known];
  while (parts.length > 1 && parts.join(' | ').length > width) parts.pop();
  const text = parts.join(' | ');
  const size = Math.min(LONGEST_BAR, width - text.length - 1);
  if (share === undefined || size < LEAST_BAR) return text;
  const done = Math.round(share * size);
  return `${'█'.repeat(done)}${'░'.repeat(size - done)} ${text}`;
}

/**
 * What stands beside the bar: the records, how many a second, and for how long it goes on, or has gone.
 * @param share of the work that is done, from 0 to 1; undefined when nobody knows
 */
export function figures({ records, seconds, share }: { records: number; seconds: number; share?: number }): string[] {
  const rate = seconds > 0 ? `${figure(Math.round(records / seconds))}/s` : '';
  // What was read is still to be settled in the end; nobody knows for how long.
  const left =
    share === 1 ? 'finishing' : share ? `${duration((seconds * (1 - share)) / share)} left` : duration(seconds);
  return [`${figure(records)} records`, rate, left].filter(Boolean);
}

/** Seconds as a person says them: `8 s`, `3 min 20 s`, `2 h 5 min`. */
function duration(seconds: number): string {
  const whole = Math.round(seconds);
  if (whole < 60) return `${whole} s`;
  if (whole < 3600) return `${Math.floor(whole / 60)} min ${whole % 60} s`;
  return `${Math.floor(whole / 3600)} h ${Math.floor((whole % 3600) / 60)} min`;
}
