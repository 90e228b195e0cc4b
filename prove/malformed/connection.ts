import { connect, type Socket } from 'node:net';
import { AnswerReader, faultOf } from './answers';
import type { Attempt } from './attempt';

export interface Outcome {
  statuses: number[];
  /** what is not as the contract has it */
  fault?: string;
}

/** For all answers and the end of the connection: far more than they take. */
const TIMEOUT_MS = 20_000;

/** Sends attempts one after the other, on one connection as long as that stays open. */
export class Connection {
  private socket: Socket | undefined;

  constructor(
    private readonly host: string,
    private readonly port: number,
  ) {}

  async send(attempt: Attempt): Promise<Outcome> {
    const isReused = this.socket !== undefined;
    const outcome = await this.exchange(attempt);
    // Between two requests a server may close what it kept open; then the client has to try again.
    return isReused && outcome.statuses.length === 0 && outcome.fault ? this.exchange(attempt) : outcome;
  }

  close(): void {
    this.socket?.destroy();
    this.socket = undefined;
  }

  private async exchange(attempt: Attempt): Promise<Outcome> {
    const socket = (this.socket ??= connect({ port: this.port, host: this.host, noDelay: true }));
    const reader = new AnswerReader();
    const ended = this.untilOver(socket, attempt, reader);
    const written = new Promise((resolve) => socket.write(attempt.bytes, resolve));
    if (attempt.ending === 'ended') socket.end();
    if (attempt.ending === 'gone') void written.then(() => socket.destroy());
    const how = await ended;
    if (how !== 'open') this.close();
    return judge(attempt, reader, how);
  }

  /** Resolves when all is answered on a connection that stays open, or when it is closed. */
  private untilOver(socket: Socket, { answers, ending }: Attempt, reader: AnswerReader): Promise<string> {
    return new Promise((resolve) => {
      let isReset = false;
      const timer = setTimeout(() => done('late'), TIMEOUT_MS);
      const done = (how: string): void => {
        clearTimeout(timer);
        socket.removeAllListeners().on('error', () => undefined);
        resolve(how);
      };
      socket.on('error', () => (isReset = true));
      socket.on('end', () => socket.end());
      socket.on('close', () => done(isReset ? 'reset' : 'closed'));
      socket.on('data', (bytes) => {
        reader.add(bytes);
        const isAnswered = reader.answers.length >= answers.length && !reader.isPending;
        if (reader.fault !== undefined) done('unreadable');
        else if (ending === 'open' && isAnswered && !reader.saysClose) done('open');
      });
    });
  }
}

function judge({ answers: expected, ending }: Attempt, reader: AnswerReader, how: string): Outcome {
  const statuses = reader.answers.map(({ status }) => status);
  if (ending === 'gone') return { statuses: [] };
  const wrong = reader.answers.map((answer, at) => {
    const wanted = expected[at];
    return wanted ? faultOf(answer, wanted) : `${answer.status} without a request`;
  });
  const isCut = statuses.length < expected.length && !reader.saysClose;
  const fault =
    wrong.find(Boolean) ??
    reader.fault ??
    (reader.isPending ? 'half an answer' : undefined) ??
    (isCut ? `${how} after ${statuses.length} of ${expected.length} answers` : undefined) ??
    (how === 'late' ? 'not closed' : undefined);
  return { statuses, fault };
}
