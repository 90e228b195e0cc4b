import { randomUUID } from 'node:crypto';
import { EventEmitter, once } from 'node:events';
import type { Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { promisify } from 'node:util';
import type { Request } from 'express';
import { BodyMemoryLimit } from '../../src/http/pipeline/body-memory-limit';
import { SlowReaderLimit } from '../../src/http/server/slow-reader-limit';
import { openConnection, receiveAll } from '../support/connection';
import { InProcess, startInProcess, Tenant, withTenant } from '../support/lanyard';
import { waitUntil } from '../support/wait';

describe('a client that does not take its answer', () => {
  it('is cut off, and keeps no memory', async () => {
    const lanyard = await startInProcess({ responseTimeoutMs: 200 });
    const tenant = await lanyard.tenant();
    const long = '\u0001'.repeat(30_000); // six bytes each in JSON: more than the system takes for both sides
    for (let n = 0; n < 50; n++)
      await tenant.import({ leads: [{ id: randomUUID(), description: long, address: long }] });
    const server = lanyard.app.getHttpServer() as Server;
    const connections = promisify(server.getConnections.bind(server));
    const socket = openConnection(lanyard.baseUrl).pause();
    socket.on('error', () => undefined);
    socket.write(`GET /api/v0/leads?limit=50 HTTP/1.1\r\nHost: x\r\nx-api-key: ${tenant.key}\r\n\r\n`);
    await waitUntil(async () => (await connections()) === 1);
    await waitUntil(async () => (await connections()) === 0);
    socket.destroy();
  });

  it('is cut off at once, when it has waited longest and all have too many bytes', async () => {
    const slowReaders = new SlowReaderLimit(1000, 10);
    const destroyed: string[] = [];
    const response = (name: string, writableLength: number, socket = new EventEmitter()) => {
      Object.assign(socket, { destroy: () => destroyed.push(name), setTimeout: () => undefined });
      const one = Object.assign(new EventEmitter(), { writableLength, setTimeout: () => undefined, req: { socket } });
      slowReaders.watch(one as unknown as ServerResponse);
      return { one, socket };
    };
    response('gone', 5);
    response('read', 0);
    const large = response('large', 6);
    expect(destroyed).toEqual(['gone']);
    const behind = response('behind', 1, large.socket);
    large.one.emit('finish');
    behind.one.emit('finish');
    const rest = ['first', 'second', 'third'].map((name) => response(name, 4));
    expect(destroyed).toEqual(['gone', 'first']);
    let isDrained = false;
    const drained = slowReaders.waitUntilSent().then(() => (isDrained = true));
    rest[1]?.socket.emit('close');
    await new Promise(setImmediate);
    expect(isDrained).toBe(false);
    rest[2]?.socket.emit('close');
    await drained;
  });
});

describe('a body that does not end', () => {
  it('is dropped when all are too many bytes, the oldest of the organization that holds most', () => {
    const limit = new BodyMemoryLimit(4000);
    const dropped: string[] = [];
    const body = (name: string, organizationId: number) =>
      limit.add({ caller: { organizationId } } as Request, () => dropped.push(name));
    const [ada, old, young] = [body('ada', 1), body('old', 2), body('young', 2)];
    for (const each of [young, ada, old]) limit.hold(each, 1100);
    expect(dropped).toEqual([]);
    limit.hold(ada, 800); // has most alone, but less than the other two together
    expect(dropped).toEqual(['old']);
    limit.hold(old, 5000); // which is dropped already
    expect(dropped).toEqual(['old']);
    for (const each of [ada, young]) limit.release(each);
    limit.hold(body('alone', 1), 4000);
    expect(dropped).toEqual(['old']);
    limit.hold(body('many', 2), 1);
    expect(dropped).toEqual(['old', 'alone']);
  });

  describe('in a server', () => {
    let lanyard: InProcess;
    beforeAll(async () => void (lanyard = await startInProcess()));

    /** A connection on which a body is read. */
    async function begin({ key }: Tenant, more: string): Promise<Socket> {
      const socket = openConnection(lanyard.baseUrl).setEncoding('latin1');
      socket.write(`PUT /api/v0/events/1/leads HTTP/1.1\r\nHost: x\r\nx-api-key: ${key}\r\nExpect: 100-continue\r\n`);
      socket.write(`Content-Type: application/json\r\n${more}\r\n\r\n`);
      await once(socket, 'data');
      return socket;
    }
    const answered = async (socket: Socket): Promise<string> => ((await once(socket, 'data')) as [string])[0];

    it('is answered 408; another organization loses none', async () => {
      const [honest, other] = [await lanyard.tenant(), await lanyard.tenant()];
      const first = await begin(honest, 'Content-Length: 2');
      first.write('{');
      const others: Socket[] = [];
      const ended: string[] = [];
      while (ended.length === 0 && others.length < 66) {
        const socket = await begin(other, `Content-Length: ${2 ** 20}`);
        let answer = '';
        socket.on('data', (text: string) => {
          answer += text;
          if (answer.endsWith('}')) ended.push(answer);
        });
        await promisify<string, void>(socket.write.bind(socket))(' '.repeat(2 ** 20 - 1));
        others.push(socket);
      }
      await waitUntil(() => ended.length > 0);
      expect(ended[0]).toMatch(/^HTTP\/1.1 408/);
      expect(ended[0]).toMatch(/\r\n\r\n\{"status":408,"error":"Request Timeout"\}$/);
      first.write('}');
      expect(await answered(first)).toContain("Missing or invalid 'eventLeads'");
      for (const socket of [first, ...others]) socket.destroy();
    });
  });
});

describe('a client that takes too long', () => {
  let lanyard: InProcess;
  let tenant: Tenant;
  beforeAll(
    async () =>
      void ([lanyard, tenant] = await withTenant(startInProcess({ headersTimeoutMs: 100, requestTimeoutMs: 150 }))),
  );

  /** All that comes back until the server closes the connection. */
  function answerTo(bytes: string): Promise<string> {
    const socket = openConnection(lanyard.baseUrl);
    socket.write(bytes);
    return receiveAll(socket);
  }

  const POST = 'POST /api/v0/leads HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 500\r\n';
  it.each([
    ['no byte of a head that has begun', () => 'GET /api/v0/leads HTTP/1.1\r\nHost: x\r\nx-api'],
    ['no body', () => `${POST}x-api-key: ${tenant.key}\r\n\r\n`],
    ['half a body', () => `${POST}x-api-key: ${tenant.key}\r\n\r\n{"firstName":"Ada"`],
    [
      'half a body of another type',
      () => `${POST.replace('application/json', 'text/plain')}x-api-key: ${tenant.key}\r\n\r\nAda`,
    ],
  ])('gets one 408, and the connection is closed: %s', async (_, bytes) => {
    const answer = await answerTo(bytes());
    expect(answer.match(/HTTP\/1\.1 \d+/g)).toEqual(['HTTP/1.1 408']);
    expect(answer).toContain('application/json; charset=utf-8');
    expect(answer).toMatch(/\r\n\r\n\{"status":408,"error":"Request Timeout"\}$/);
  });

  it('gets one answer when it was refused before its body came', async () => {
    const answer = await answerTo(`${POST}\r\n`);
    expect(answer.match(/HTTP\/1\.1 \d+/g)).toEqual(['HTTP/1.1 401']);
  });
});
