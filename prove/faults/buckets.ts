import { connect, type Socket } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { ApiKeysService } from '../../src/access/api-keys.service';
import { ask, Tally } from '../support/ask';
import { seconds } from '../support/figures';
import type { Cluster } from './cluster';
import type { Fault, Stage } from './stage';

/** Keys on several processes: their tokens, and their end. */

const PROCESSES = 4;
const REQUESTS_A_PROCESS = 250;
/** The specification's defaults. */
const DEFAULTS = { maxTokens: 20, refillRate: 1 };
/** A round in which a token came back is played again, with at most so many keys for each round. */
const KEYS_A_ROUND = 3;
const MAX_REVOCATION_MS = 5_000;

/** Kept connections to one server, on which one request each is sent at the same moment. */
class Burst {
  private sockets: Socket[] = [];

  constructor(private readonly port: number) {}

  async connect(): Promise<void> {
    this.sockets = this.sockets.filter(({ writable }) => writable);
    const missing = Array.from({ length: REQUESTS_A_PROCESS - this.sockets.length }, () => opened(this.port));
    this.sockets.push(...(await Promise.all(missing)));
  }

  /** @returns the status of each answer, or the error of the network */
  send(key: string): Promise<string[]> {
    const request = `GET /api/v0/tagGroups HTTP/1.1\r\nHost: x\r\nx-api-key: ${key}\r\n\r\n`;
    return Promise.all(this.sockets.map((socket) => exchange(socket, request)));
  }

  end(): void {
    for (const socket of this.sockets) socket.destroy();
  }
}

const opened = (port: number): Promise<Socket> =>
  new Promise((resolve, reject) => {
    const socket = connect({ port, host: '127.0.0.1', noDelay: true }, () => resolve(socket));
    socket.on('error', reject); // which does nothing once it is connected
  });

function exchange(socket: Socket, request: string): Promise<string> {
  return new Promise((resolve) => {
    let text = '';
    const read = (chunk: Buffer): void => {
      text += chunk.toString('latin1');
      const end = text.indexOf('\r\n\r\n');
      const length = Number(/content-length: (\d+)/i.exec(text)?.[1] ?? 0);
      if (end >= 0 && text.length >= end + 4 + length) finish(text.slice(9, 12));
    };
    const lost = (): void => finish('ECONNRESET');
    const finish = (status: string): void => {
      socket.off('data', read).off('close', lost);
      resolve(status);
    };
    socket.on('data', read).once('close', lost);
    socket.write(request);
  });
}

export const oneKey: Fault = {
  name: 'one-key',
  promise: 'one default key on four processes',
  times: 200,
  async play(stage) {
    const cluster = await stage.cluster({ apis: PROCESSES });
    const keys = await cluster.tenants(stage.times * KEYS_A_ROUND, DEFAULTS);
    const bursts = cluster.apis.map(({ port }) => new Burst(port));
    stage.defer(() => bursts.forEach((burst) => burst.end()));
    const answers = new Tally();
    const admitted: number[] = [];
    for (const { key } of keys) {
      if (admitted.length === stage.times) break;
      await Promise.all(bursts.map((burst) => burst.connect()));
      const begun = performance.now();
      const statuses = (await Promise.all(bursts.map((burst) => burst.send(key)))).flat();
      const tookMs = performance.now() - begun;
      for (const status of statuses) answers.add({ error: status });
      // After that a token came back, which one more request may rightly have taken.
      if (tookMs < 1000 / DEFAULTS.refillRate) admitted.push(statuses.filter((status) => status === '200').length);
    }
    const exact = admitted.filter((count) => count === DEFAULTS.maxTokens).length;
    const others = answers.toString((what) => what !== '200' && what !== '429');
    const broken = [
      ...(exact < stage.times ? [`${exact} exact rounds; admitted: ${[...new Set(admitted)].join(', ')}`] : []),
      ...(others === 'none' ? [] : [`other answers: ${others}`]),
    ];
    return { answers, measured: `exactly 20 admitted in ${exact} of ${stage.times} rounds`, broken };
  },
};

export const revocation: Fault = {
  name: 'revocation',
  promise: 'revocation of a key',
  times: 10,
  async play(stage) {
    const cluster = await stage.cluster({ apis: PROCESSES });
    const answers = new Tally();
    const recoveredMs: number[] = [];
    for (let n = 0; n < stage.times; n++) recoveredMs.push(await revoke(cluster, stage, answers));
    const slowest = Math.max(...recoveredMs);
    const broken = slowest > MAX_REVOCATION_MS ? [`403 after ${seconds(slowest)}`] : [];
    return { answers, recoveredMs, measured: `${stage.times} keys on ${PROCESSES} processes`, broken };
  },
};

/** Revokes a key that all processes use. @returns milliseconds until all of them refuse it */
async function revoke(cluster: Cluster, { canaries, random }: Stage, answers: Tally): Promise<number> {
  const { keyId, key } = await cluster.tenant();
  canaries.watch(key);
  let revoked = Infinity;
  const refused = cluster.apis.map(async ({ port }) => {
    for (;;) {
      const answer = await ask(port, { method: 'GET', path: '/api/v0/tagGroups', key });
      answers.add(answer);
      const sinceMs = performance.now() - revoked;
      if (answer.status === 403 || sinceMs > 2 * MAX_REVOCATION_MS) return sinceMs;
      await pause(20);
    }
  });
  await pause(random.between(200, 5_000));
  await cluster.asOperator((dataSource) => {
    revoked = performance.now();
    return new ApiKeysService(dataSource.manager).revoke(keyId);
  });
  return Math.max(0, ...(await Promise.all(refused)));
}
