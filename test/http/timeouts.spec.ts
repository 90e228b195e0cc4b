import { randomUUID } from 'node:crypto';
import { EventEmitter, once } from 'node:events';
import type { Server, ServerResponse } from 'node:http';
import { connect, type Socket } from 'node:net';
import { promisify } from 'node:util';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { gzipSync } from 'node:zlib';
import type { Request, Response } from 'express';
import { DataSource } from 'typeorm';
import { UnfinishedBodies } from '../../src/http/unfinished';
import { UntakenAnswers } from '../../src/http/untaken';
import { leadInput } from '../support/builders';
import { until } from '../support/embedded-fixtures';
import { InProcess, startInProcess, Tenant } from '../support/lanyard';

describe('a client that does not take its answer', () => {
  it('is cut off, and keeps no memory', async () => {
    const lanyard = await startInProcess({ answerTimeoutMs: 200 });
    const tenant = await lanyard.tenant();
    const long = '\u0001'.repeat(30_000); // six bytes each in JSON: more than the system takes for both sides
    for (let n = 0; n < 50; n++)
      await tenant.import({ leads: [{ id: randomUUID(), description: long, address: long }] });
    const server = lanyard.app.getHttpServer() as Server;
    const connections = promisify(server.getConnections.bind(server));
    const { hostname, port } = new URL(lanyard.baseUrl);
    const socket = connect(Number(port), hostname).pause();
    socket.on('error', () => undefined);
    socket.write(`GET /api/v0/leads?limit=50 HTTP/1.1\r\nHost: x\r\nx-api-key: ${tenant.key}\r\n\r\n`);
    await until(async () => (await connections()) === 1);
    await until(async () => (await connections()) === 0);
    socket.destroy();
    await lanyard.stop();
  });

  it('is not cut off for another answer behind it, which takes its time', async () => {
    const lanyard = await startInProcess({ answerTimeoutMs: 200 });
    const tenant = await lanyard.tenant();
    const { body } = await tenant.api.post('/leads', leadInput()).expect(200);
    await lanyard.app.get(DataSource).query(`
      create function dawdle() returns trigger language plpgsql as $$ begin perform pg_sleep(0.6); return new; end $$;
      create trigger dawdling before update on leads for each row execute function dawdle()`);
    const { hostname, port } = new URL(lanyard.baseUrl);
    const socket = connect(Number(port), hostname).setEncoding('latin1');
    const head = `HTTP/1.1\r\nHost: x\r\nx-api-key: ${tenant.key}\r\n`;
    const json = 'Content-Type: application/json\r\nContent-Length: 18\r\n';
    const change = (more = ''): string =>
      `PATCH /api/v0/leads/${body.results.id} ${head}${json}${more}\r\n{"jobTitle":"CEO"}`;
    socket.write(`${change()}GET /api/v0/leads ${head}\r\n${change('Connection: close\r\n')}`);
    let answers = '';
    for await (const text of socket) answers += text;
    expect(answers.match(/HTTP\/1.1 200/g)).toHaveLength(3);
    await lanyard.stop();
  });

  it('is cut off at once, when it has waited longest and others wait too', () => {
    const untaken = new UntakenAnswers(1000, 10);
    const destroyed: string[] = [];
    const answer = (name: string, writableLength: number): ServerResponse =>
      Object.assign(new EventEmitter(), {
        ...{ writableLength, destroyed: false, setTimeout: () => undefined },
        req: { socket: { destroy: () => destroyed.push(name) } },
      }) as unknown as ServerResponse;
    const [gone, large] = [answer('gone', 5), answer('large', 6)];
    for (const one of [gone, answer('taken', 0), large]) untaken.watch(one);
    expect(destroyed).toEqual(['gone']);
    large.emit('close');
    for (const one of [answer('first', 4), answer('second', 4), answer('third', 4)]) untaken.watch(one);
    expect(destroyed).toEqual(['gone', 'first']);
  });
});

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;

/** Bytes that this process holds. */
function held(): number {
  collectGarbage();
  const { arrayBuffers, heapUsed } = process.memoryUsage();
  return arrayBuffers + heapUsed;
}

describe('a body that does not end', () => {
  const noAnswer = (): Response => new EventEmitter() as Response;

  it('is given up when all are too many bytes, the oldest of the organization that holds most', () => {
    const unfinished = new UnfinishedBodies(4000);
    const givenUp: string[] = [];
    const body = (name: string, organizationId: number, given: object = {}) => {
      const request = Object.assign(new EventEmitter(), { caller: { organizationId }, headers: {}, ...given });
      const hold = unfinished.watch(request as unknown as Request, noAnswer(), () => givenUp.push(name));
      return Object.assign(request, { hold });
    };

    const [ada, old, young] = [body('ada', 1), body('old', 2), body('young', 2)];
    for (const each of [young, ada, old]) each.hold(1100);
    expect(givenUp).toEqual([]);
    ada.hold(800); // has most alone, but less than the other two together
    expect(givenUp).toEqual(['old']);
    old.hold(5000); // which is let go
    expect(givenUp).toEqual(['old']);
    for (const each of [ada, young]) each.emit('close');

    body('alone', 1).hold(4000);
    expect(givenUp).toEqual(['old']);
    body('many', 2).hold(1);
    expect(givenUp).toEqual(['old', 'alone']);
    body('whole', 3, { complete: true }).hold(5000);
    body('gone', 3, { destroyed: true }).hold(5000);
    expect(givenUp).toEqual(['old', 'alone']);
  });

  // Node tells a body nothing more once its request has been answered, not even that its client has gone.
  it('holds nothing any more once its request has been answered', () => {
    const givenUp: string[] = [];
    const unfinished = new UnfinishedBodies(3000);
    const begin = (name: string): Response => {
      const answer = noAnswer();
      const body = Object.assign(new EventEmitter(), { headers: {} }) as unknown as Request;
      unfinished.watch(body, answer, () => givenUp.push(name))(1000);
      return answer;
    };
    begin('first').emit('close');
    for (const name of ['second', 'third', 'fourth']) begin(name);
    expect(givenUp).toEqual([]);
    begin('fifth');
    expect(givenUp).toEqual(['second']);
  });

  describe('in a server', () => {
    let lanyard: InProcess;
    beforeAll(async () => {
      lanyard = await startInProcess();
    });
    afterAll(() => lanyard.stop());

    /** A connection on which a body is read. */
    async function begin({ key }: Tenant, more: string): Promise<Socket> {
      const { hostname, port } = new URL(lanyard.baseUrl);
      const socket = connect(Number(port), hostname).setEncoding('latin1');
      socket.write(`PUT /api/v0/events/1/leads HTTP/1.1\r\nHost: x\r\nx-api-key: ${key}\r\nExpect: 100-continue\r\n`);
      socket.write(`Content-Type: application/json\r\n${more}\r\n\r\n`);
      await once(socket, 'data');
      return socket;
    }
    const answered = async (socket: Socket): Promise<string> => ((await once(socket, 'data')) as [string])[0];

    it('is answered 408, and its connection closed; nobody else loses theirs', async () => {
      const [honest, other] = [await lanyard.tenant(), await lanyard.tenant()];
      const first = await begin(honest, 'Content-Length: 2');
      first.write('{');
      const others: Socket[] = [];
      const ended: string[] = [];
      while (ended.length === 0 && others.length < 66) {
        const socket = await begin(other, `Content-Length: ${2 ** 20}`);
        let answer = '';
        socket.on('data', (text: string) => (answer += text)).once('close', () => ended.push(answer));
        await promisify<string, void>(socket.write.bind(socket))(' '.repeat(2 ** 20 - 1));
        others.push(socket);
      }
      await until(() => ended.length > 0);
      expect(ended[0]).toMatch(/^HTTP\/1.1 408/);
      expect(ended[0]).toContain('Connection: close\r\n');
      expect(ended[0]).toMatch(/\r\n\r\n\{"status":408,"error":"Request Timeout"\}$/);
      first.write('}');
      expect(await answered(first)).toContain("Missing or invalid 'eventLeads'");
      for (const socket of [first, ...others]) socket.destroy();
    });

    it('reaches its client also when that is still sending', async () => {
      const tenant = await lanyard.tenant();
      const server = lanyard.app.getHttpServer() as Server;
      const requests: Request[] = [];
      const note = (request: Request): void => void requests.push(request);
      server.on('request', note);
      const sockets: Socket[] = [];
      while (requests[0]?.socket.writable !== false && sockets.length < 66) {
        const socket = (await begin(tenant, `Content-Length: ${2 ** 20}`)).pause();
        await promisify<string, void>(socket.write.bind(socket))(' '.repeat(2 ** 20 - 100));
        sockets.push(socket);
      }
      server.off('request', note);
      const [first, own] = [sockets[0] as Socket, requests[0]?.socket as Socket];
      await until(() => own.writableFinished || own.destroyed);
      let answer = '';
      first.on('error', () => undefined).on('data', (text: string) => (answer += text));
      first.pause();
      for (let n = 0; n < 10; n++) await new Promise((resolve) => first.write(' ', resolve));
      if (!first.destroyed) await once(first.resume(), 'end');
      for (const socket of sockets) socket.destroy();
      expect(answer).toMatch(/^HTTP\/1.1 408/);
    });

    it.each<[string, string, string, RegExp]>([
      ['too large', 'Transfer-Encoding: chunked', `fffff\r\n${' '.repeat(2 ** 20 - 1)}\r\n5\r\n12345\r\n`, / 413 /],
      ['whole', `Content-Length: ${2 ** 20}`, `${' '.repeat(2 ** 20 - 2)}{}`, / 400 /],
    ])('is held no longer than until it is answered, when it is %s', async (_, head, body, answer) => {
      const tenant = await lanyard.tenant();
      const [before, sockets] = [held(), [] as Socket[]];
      for (let n = 0; n < 30; n++) {
        const socket = await begin(tenant, head);
        const answering = answered(socket);
        socket.write(body);
        expect(await answering).toMatch(answer);
        sockets.push(socket);
      }
      await until(() => held() < before + 2 ** 22);
      for (const socket of sockets) socket.destroy();
    });

    it('is held no longer than until it is answered, when it was many values', async () => {
      const tenant = await lanyard.tenant();
      const text = `{"eventLeads":[${'{},'.repeat(300_000)}{}]}`;
      const [before, sockets] = [held(), [] as Socket[]];
      for (let n = 0; n < 5; n++) {
        const socket = await begin(tenant, `Content-Length: ${text.length}`);
        const answering = answered(socket);
        socket.write(text);
        expect(await answering).toMatch(/ 400 /);
        sockets.push(socket);
      }
      await until(() => held() < before + 2 ** 23);
      for (const socket of sockets) socket.destroy();
    });

    const tiny = '1\r\n \r\n'.repeat(4000);
    const gzip = gzipSync('{}');
    it.each<[string, string, string | Buffer, string | Buffer]>([
      ['is in tiny pieces', 'Transfer-Encoding: chunked', tiny, '2\r\n{}\r\n0\r\n\r\n'],
      [
        ...['is small as it is compressed', `Content-Encoding: gzip\r\nContent-Length: ${gzip.length}`],
        ...[gzip.subarray(0, -1), gzip.subarray(-1)],
      ] as [string, string, Buffer, Buffer],
    ])('counts as many bytes as it takes, also when it %s', async (_, head, start, end) => {
      const tenant = await lanyard.tenant();
      const sockets = await Promise.all(Array.from({ length: 100 }, () => begin(tenant, head)));
      const answers = Promise.all(sockets.map(answered));
      await Promise.all(sockets.map((socket) => promisify<string | Buffer, void>(socket.write.bind(socket))(start)));
      // By its answer that has been read.
      await tenant.api.get('/leads').expect(200);
      for (const socket of sockets) socket.write(end);
      for (const answer of await answers) expect(answer).toContain("Missing or invalid 'eventLeads'");
      for (const socket of sockets) socket.destroy();
    });
  });
});

describe('a client that takes too long', () => {
  let lanyard: InProcess;
  let tenant: Tenant;
  beforeAll(async () => {
    lanyard = await startInProcess({ headersTimeoutMs: 100, requestTimeoutMs: 150 });
    tenant = await lanyard.tenant();
  });
  afterAll(() => lanyard.stop());

  /** All that comes back until the server closes the connection. */
  async function answerTo(bytes: string): Promise<string> {
    const { hostname, port } = new URL(lanyard.baseUrl);
    const socket = connect(Number(port), hostname, () => socket.write(bytes));
    let answer = '';
    socket.setEncoding('latin1').on('data', (text: string) => {
      answer += text;
    });
    await once(socket, 'close');
    return answer;
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
  ])('is told so once, and the connection is closed: %s', async (_, bytes) => {
    const answer = await answerTo(bytes());
    expect(answer.match(/HTTP\/1\.1 \d+/g)).toEqual(['HTTP/1.1 408']);
    expect(answer).toContain('application/json; charset=utf-8');
    expect(answer).toMatch(/\r\n\r\n\{"status":408,"error":"Request Timeout"\}$/);
  });

  it('is told once of what was refused before its body came', async () => {
    const answer = await answerTo(`${POST}\r\n`);
    expect(answer.match(/HTTP\/1\.1 \d+/g)).toEqual(['HTTP/1.1 401']);
  });
});
