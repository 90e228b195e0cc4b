import { createServer, type Server, type Socket } from 'node:net';

/** An SMTP server that takes every message and keeps it. */
export class Mailbox {
  /** Messages as they were sent, the oldest first. */
  readonly messages: string[] = [];
  readonly server: Server = createServer((socket) => this.converse(socket));

  private converse(socket: Socket): void {
    let text = '';
    let isMessage = false;
    socket.on('error', () => undefined);
    socket.write('220 mailbox\r\n');
    socket.on('data', (chunk) => {
      text += String(chunk);
      for (;;) {
        const end = isMessage ? '\r\n.\r\n' : '\r\n';
        const at = text.indexOf(end);
        if (at < 0) return;
        const part = text.slice(0, at);
        text = text.slice(at + end.length);
        if (isMessage) this.messages.push(part);
        const command = isMessage ? '' : part.slice(0, 4).toUpperCase();
        isMessage = command === 'DATA';
        socket.write(command === 'DATA' ? '354 go on\r\n' : command === 'QUIT' ? '221 bye\r\n' : '250 taken\r\n');
        if (command === 'QUIT') return void socket.end();
      }
    });
  }
}
