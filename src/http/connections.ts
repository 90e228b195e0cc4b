import type { Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/** The connections of a server, and on each the answers that are not gone yet, in the order of their requests. */
export class Connections {
  private readonly answers = new Map<Socket, Set<ServerResponse>>();
  private isEnding = false;

  constructor(server: Server) {
    server.on('connection', (socket: Socket) => {
      const answers = new Set<ServerResponse>();
      this.answers.set(socket, answers);
      socket.once('close', () => {
        this.answers.delete(socket);
        answers.forEach(close);
      });
    });
    server.prependListener('request', ({ socket }, response) => {
      const answers = this.answers.get(socket);
      answers?.add(response);
      response.once('close', () => answers?.delete(response));
      if (answers && this.isEnding) askToClose(answers);
    });
  }

  /** From now on clients are asked to close their connections, by each answer that has not begun. */
  end(): void {
    this.isEnding = true;
    for (const answers of this.answers.values()) askToClose(answers);
  }

  /** Waits for the answers that were given, until their clients have taken them, or are gone. */
  async taken(): Promise<void> {
    const given = [...this.answers.values()].flatMap((answers) => [...answers]).filter((one) => one.writableEnded);
    await Promise.all(given.map((answer) => new Promise((resolve) => answer.once('close', resolve))));
  }
}

/** Node tells only the answer that was under way, and none that waited behind it, that the connection is closed. */
function close(answer: ServerResponse): void {
  Object.assign(answer, { destroyed: true, _closed: true }); // so that Node does not tell it once more
  answer.emit('close');
}

/** The last of them closes the connection, since whatever is behind one that does would get no answer. */
function askToClose(answers: Set<ServerResponse>): void {
  const notBegun = [...answers].filter(({ headersSent }) => !headersSent);
  for (const answer of notBegun) answer.removeHeader('Connection');
  notBegun.at(-1)?.setHeader('Connection', 'close');
}
