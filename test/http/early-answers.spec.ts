import { once } from 'node:events';
import type { Server } from 'node:http';
import { connect, type Socket } from 'node:net';
import { leadInput } from '../support/builders';
import { receiveAll } from '../support/connection';
import { InProcess, startInProcess, Tenant, withTenant } from '../support/lanyard';

/** Bytes that a client sends at a time. */
const PIECE = 2 ** 16;

const CLOSE = 'Connection: close\r\n';

describe('an answer that is given before its request has ended, on a connection that ends with it,', () => {
  let lanyard: InProcess;
  let tenant: Tenant;
  let lead: string;
  beforeAll(async () => void ([lanyard, tenant] = await withTenant(startInProcess())));
  beforeEach(async () => {
    lead = (await tenant.api.post('/leads', leadInput()).expect(200)).body.results.id;
  });

  const open = (): Socket => {
    const { hostname, port } = new URL(lanyard.baseUrl);
    const socket = connect({ port: Number(port), host: hostname, allowHalfOpen: true })
      .setEncoding('latin1')
      .pause();
    return socket.on('error', () => undefined).on('end', () => socket.end());
  };

  /** All that comes back until the connection is closed, to a client that looks at it once it has sent everything. */
  async function answerTo(bytes: string, socket = open()): Promise<string> {
    const closed = receiveAll(socket);
    for (let at = 0; at < bytes.length; at += PIECE) {
      await new Promise((resolve) => socket.write(bytes.slice(at, at + PIECE), resolve));
    }
    socket.resume();
    return closed;
  }

  /** A connection on which the head of a request has arrived. */
  async function begun(head: string): Promise<Socket> {
    const server = lanyard.app.getHttpServer() as Server;
    const socket = open();
    socket.write(head);
    await once(server, 'request');
    return socket;
  }

  const post = (length: number, key: string, more = ''): string =>
    `POST /api/v0/leads HTTP/1.1\r\nHost: x\r\nx-api-key: ${key}\r\nContent-Type: application/json\r\nContent-Length: ${length}\r\n${more}\r\n`;
  const remove = (): string => `DELETE /api/v0/leads/${lead} HTTP/1.1\r\nHost: x\r\nx-api-key: ${tenant.key}\r\n`;

  const empty = async (): Promise<string> => {
    const { key, api } = await tenant.issueKey({ maxTokens: 1, refillRate: 0.001 });
    await api.get('/leads').expect(200);
    return key;
  };
  it.each<[number, number, () => string | Promise<string>]>([
    [403, 1_000_000, () => 'unknown'],
    [413, 3_000_000, () => tenant.key],
    [429, 1_000_000, empty],
  ])('reaches its client: %i', async (status, length, keyOf) => {
    const key = await keyOf();
    for (let n = 0; n < 20; n++) {
      const socket = await begun(post(length, key, CLOSE));
      const answer = await answerTo(' '.repeat(length), socket);
      expect(answer).toMatch(new RegExp(`^HTTP/1.1 ${status} [^]*\\r\\n\\r\\n\\{"status":${status},.*\\}$`));
    }
  });

  it('is the last when others may read the request as two', async () => {
    const ambiguous = `GET /api/v0/leads HTTP/1.1\r\nHost: x\r\nHost: y\r\nx-api-key: ${tenant.key}\r\n\r\n`;
    const answer = await answerTo(`${ambiguous}${remove()}\r\n`);
    expect(answer.match(/HTTP\/1.1 \d+/g)).toEqual(['HTTP/1.1 400']);
    await tenant.api.get(`/leads/${lead}`).expect(200);
  });

  it('is one answer when what follows is broken', async () => {
    const chunked = `POST /api/v0/leads HTTP/1.1\r\nHost: x\r\nx-api-key: unknown\r\nTransfer-Encoding: chunked\r\n${CLOSE}\r\n`;
    const socket = await begun(chunked);
    const answer = await answerTo('no chunk\r\n', socket);
    expect(answer.match(/HTTP\/1.1 \d+/g)).toEqual(['HTTP/1.1 400']);
  });

  it('is the last: what the client sends behind its body is not carried out', async () => {
    const length = 2 ** 20 + 1;
    for (let n = 0; n < 10; n++) {
      const socket = await begun(post(length, tenant.key, 'Expect: 100-continue\r\n'));
      const answer = await answerTo(`${' '.repeat(length)}${remove()}\r\n`, socket);
      expect(answer.match(/HTTP\/1.1 \d+/g) ?? ['HTTP/1.1 413']).toEqual(['HTTP/1.1 413']);
      await tenant.api.get(`/leads/${lead}`).expect(200);
    }
  });
});
