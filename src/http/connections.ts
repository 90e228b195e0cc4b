import type { RequestListener, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/** Milliseconds for which a connection is still read after its last answer. */
const LINGER = 2000;

/** The connections of a server, and on each the answers that are not gone yet, in the order of their requests. */
export class Connections {
  private readonly answers = new Map<Socket, Set<ServerResponse>>();
  private isEnding = false;

  /** @param carryOut told of each request but those behind the last one of a connection */
  constructor(server: Server, carryOut: RequestListener) {
    server.on('connection', (socket: Socket) => {
      // So Node ends it behind its last answer, though the client may still be sending.
      socket.destroySoon = () => endWith(socket);
      const answers = new Set<ServerResponse>();
      this.answers.set(socket, answers);
      socket.once('close', () => {
        this.answers.delete(socket);
        answers.forEach(close);
      });
    });
    server.on('request', (request, response) => {
      const answers = this.answers.get(request.socket);
      const isTooLate = answers && [...answers].some(isLast);
      answers?.add(response);
      response.once('close', () => answers?.delete(response));
      if (answers && this.isEnding) askToClose(answers);
      if (!isTooLate) carryOut(request, response);
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

/**
 * The last that is sent on a connection. If it were closed now, the system would answer what the client is still sending by
 * a reset, which takes the answer from it: so that is read, and dropped, until the client closes its side too.
 */
export function endWith(socket: Socket, bytes = ''): void {
  if (!socket.writable) return;
  socket.end(bytes);
  // Not by HTTP's parser any more: requests behind the last one are not carried out.
  socket.removeAllListeners('data').on('data', () => undefined);
  socket.resume();
  const late = setTimeout(() => socket.destroy(), LINGER).unref();
  socket.once('close', () => clearTimeout(late));
}

/** Whether it was said that no request behind it is answered. */
const isLast = (answer: ServerResponse): boolean => answer.headersSent && answer.getHeader('Connection') === 'close';

/** Node tells only the answer that was under way, and none that waited behind it, that the connection is closed. */
function close(answer: ServerResponse): void {
  Object.assign(answer, { destroyed: true, _closed: true }); // so that Node does not tell it once more
  answer.emit('close');
}

/** The last of them closes the connection, since whatever is behind one that does would get no answer. */
function askToClose(answers: Set<ServerResponse>): void {
  for (const answer of answers) if (!answer.headersSent) answer.removeHeader('Connection');
  const last = [...answers].at(-1);
  // One that has begun says already what it says, but may wait behind those that have not.
  if (last && !last.headersSent) last.setHeader('Connection', 'close');
}
