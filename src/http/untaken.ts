import type { ServerResponse } from 'node:http';

/** Bytes of answers that may wait for their clients in a process. */
const MOST = 256 << 20;

/**
 * Answers that their clients, slow readers, have not taken yet. They are in memory, which is everybody's: a client that
 * takes nothing for a while is cut off and, when they are too many bytes together, so is the one that has taken longest.
 */
export class UntakenAnswers {
  private bytes = 0;
  /** bytes of each, in the order in which they were given */
  private readonly answers = new Map<ServerResponse, number>();

  /** @param patience milliseconds without a byte that is taken */
  constructor(
    private readonly patience: number,
    private readonly most = MOST,
  ) {}

  /** To be told of every answer; most have left the process by then. */
  watch(answer: ServerResponse): void {
    const waiting = answer.writableLength;
    if (waiting === 0 || answer.destroyed || this.answers.has(answer)) return;
    this.answers.set(answer, waiting);
    this.bytes += waiting;
    answer.once('close', () => this.forget(answer));
    answer.setTimeout(this.patience, () => answer.destroy());
    // Whatever waits behind it would be cut off in its place. Before Node does what it does at the end of an answer.
    answer.prependOnceListener('finish', () => answer.socket?.setTimeout(0));
    for (const oldest of this.answers.keys()) {
      if (this.bytes <= this.most) break;
      this.forget(oldest);
      oldest.req.socket.destroy(); // its own may be another one's before it still
    }
  }

  private forget(answer: ServerResponse): void {
    this.bytes -= this.answers.get(answer) ?? 0;
    this.answers.delete(answer);
  }
}
