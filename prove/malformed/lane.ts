import { connect, Socket } from 'node:net';
import { AnswerReader } from './answers';
import { Attempt } from './attempt';
import { faultOf } from './verdict';

/** What came of an attempt. */
export interface Outcome {
  attempt: Attempt;
  statuses: number[];
  /** how it ended, where not every request was answered */
  unanswered?: string;
  fault?: string;
}

/** Milliseconds within which the server must have answered and, where it must, closed. Far above what it takes. */
const PATIENCE = 20_000;

/** Sends attempts one after the other, on one connection as long as that stays open. */
export class Lane {
  private socket: Socket | undefined;
  private take: (bytes: Buffer) => void = () => undefined;
  private closed: (how: string) => void = () => undefined;

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
    const { answers: expected, pieces, ending } = attempt;
    const reader = new AnswerReader((answered) => expected[answered]?.isHead ?? false);
    const end = this.listen(attempt, reader);
    const socket = (this.socket ??= this.open());
    for (const piece of pieces) {
      socket.write(piece);
      if (pieces.length > 1) await new Promise(setImmediate);
    }
    if (ending === 'ended') socket.end();
    if (ending === 'gone') await goAway(socket);
    const how = await end;
    if (how !== 'open') this.close();
    return judge(attempt, reader, how);
  }

  private open(): Socket {
    const socket = connect({ port: this.port, host: this.host, noDelay: true });
    let isReset = false;
    socket.on('data', (bytes: Buffer) => this.take(bytes));
    socket.on('error', () => {
      isReset = true;
    });
    socket.on('end', () => socket.end());
    socket.on('close', () => {
      if (this.socket !== socket) return;
      this.socket = undefined;
      this.closed(isReset ? 'reset' : 'closed');
    });
    return socket;
  }

  /** Resolves when all is answered on a connection that stays open, or when it is closed. */
  private listen({ answers, ending }: Attempt, reader: AnswerReader): Promise<string> {
    return new Promise((resolve) => {
      const late = setTimeout(() => done('late'), PATIENCE);
      const done = (how: string): void => {
        clearTimeout(late);
        this.take = this.closed = () => undefined;
        resolve(how);
      };
      this.closed = done;
      this.take = (bytes) => {
        reader.add(bytes);
        const isAnswered = reader.answers.length >= answers.length && reader.pending === 0;
        if (reader.fault !== undefined) done('unreadable');
        else if (ending === 'open' && isAnswered && !saysClose(reader)) done('open');
      };
    });
  }
}

const saysClose = ({ answers }: AnswerReader): boolean => answers.at(-1)?.headers.get('connection') === 'close';

/** What was written is on its way before the connection is cut. */
async function goAway(socket: Socket): Promise<void> {
  await new Promise((resolve) => socket.write('', resolve));
  socket.destroy();
}

function judge(attempt: Attempt, reader: AnswerReader, how: string): Outcome {
  const { answers: expected, ending } = attempt;
  const statuses = reader.answers.map(({ status }) => status);
  const outcome: Outcome = { attempt, statuses };
  if (ending === 'gone') return { ...outcome, statuses: [], unanswered: 'the client went away' };
  for (const [at, answer] of reader.answers.entries()) {
    const wanted = expected[at];
    outcome.fault ??= wanted ? faultOf(answer, wanted) : `${answer.status} that nobody asked for`;
  }
  if (reader.fault !== undefined) outcome.fault ??= reader.fault;
  if (reader.pending > 0) outcome.fault ??= 'half an answer';
  const isAnswered = statuses.length >= expected.length;
  if (!isAnswered && !saysClose(reader))
    outcome.fault ??= `${how} after ${statuses.length} of ${expected.length} answers`;
  if (!isAnswered) outcome.unanswered = 'after an answer that closes the connection';
  if (how === 'late') outcome.fault ??= 'not closed';
  return outcome;
}
