import { once } from 'node:events';
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import { Config } from '../../src/config';
import { KeyReceivers } from '../../src/feed/webhooks/key-receivers';
import { ReceiverLookup } from '../../src/feed/webhooks/receiver-lookup';
import { type Webhook, WebhookClient, type WebhookMessage } from '../../src/feed/webhooks/webhook-client';
import { FeedReaderEntity } from '../../src/feed/changes/feed-reader.entity';

const CLIENT = new WebhookClient(new ReceiverLookup({ allowPrivate: true }), new KeyReceivers(new Config()));
const MESSAGE: WebhookMessage = { type: 'changes', id: 'msg_1', fields: `,"changes":["${'x'.repeat(20 << 20)}"]` };

describe('an attempt', () => {
  let server: Server;
  const sockets: Socket[] = [];
  afterEach(() => {
    server.close();
    for (const socket of sockets.splice(0)) socket.destroy();
  });

  /** To a receiver that reads nothing of what it is sent. */
  const sendTo = async (receive: (socket: Socket) => void) => {
    server = createServer((socket) => {
      sockets.push(socket.on('error', () => undefined).pause());
      receive(socket);
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
    const secret = `whsec_${Buffer.alloc(32).toString('base64')}`;
    const webhook: Webhook = Object.assign(new FeedReaderEntity(), { url, secret, organizationId: 1 });
    return CLIENT.send(webhook, MESSAGE, new Date());
  };

  it('ends when the receiver says yes and reads nothing', async () => {
    const yes = (socket: Socket) => void socket.write('HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n');
    expect(await sendTo(yes)).toMatchObject({ status: 200 });
  });

  it('ends a second after the head of an answer whose body does not end', async () => {
    const begun = performance.now();
    const yes = (socket: Socket) => void socket.write('HTTP/1.1 202 Accepted\r\n\r\nso far');
    expect(await sendTo(yes)).toMatchObject({ status: 202 });
    expect(performance.now() - begun).toBeGreaterThan(990);
  });

  it('follows a response after a few informational ones', async () => {
    const yes = (socket: Socket) =>
      void socket.write(`${'HTTP/1.1 102 Processing\r\n\r\n'.repeat(8)}HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n`);
    expect(await sendTo(yes)).toMatchObject({ status: 200 });
  });

  it('ends when a receiver floods it with informational responses, after the first piece of them', async () => {
    let pieces = 0;
    const flood = (socket: Socket): void => {
      const write = (): void => {
        while (!socket.destroyed && socket.write('HTTP/1.1 103 Early Hints\r\n\r\n'.repeat(2_000))) pieces++;
      };
      socket.on('drain', write);
      write();
    };
    expect(await sendTo(flood)).toEqual({ error: 'too many informational responses' });
    expect(pieces).toBeLessThan(100);
  });
});
