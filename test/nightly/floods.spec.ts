import { once } from 'node:events';
import { connect } from 'node:net';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { gzipSync } from 'node:zlib';
import { type Answer, type Ask, ask } from '../prove/support/ask';
import { MAX_UNANSWERED_REQUESTS } from '../../src/http/server/connections';
import { leadInput } from '../support/builders';
import { type InProcess, startInProcess, type Tenant } from '../support/lanyard';
import { FLOOD_NAMES, FLOODS, type Send } from './floods';

/** What a default key may send at once. */
const BURST = 20;
const CONNECTIONS = 100;
const BODY_BYTES = 1_048_576;
const STANDSTILL_NS = 1e9;

/** Requests that cost a server far more than their sender must not keep it from serving another organization. */
describe('a flood of one organization', () => {
  let lanyard: InProcess;
  let flooding: Tenant;
  let other: Tenant;
  let port: number;
  beforeAll(async () => {
    lanyard = await startInProcess();
    [flooding, other] = await Promise.all([lanyard.tenant(), lanyard.tenant()]);
    port = Number(new URL(lanyard.baseUrl).port);
  });

  /** @returns how often each status came, or each error of the network */
  const statusesOf = (answers: Answer[]): string[] => [
    ...new Set(answers.map(({ status, error }) => String(status ?? error))),
  ];

  /** Sends a request until it is served: on a machine that is busy with more than these suites it may be 503 for a while. */
  const served = async (request: Ask, key: string): Promise<Answer> => {
    let answer: Answer;
    do answer = await ask(port, { ...request, key });
    while (answer.status !== 200 && (answer.status ?? 0) >= 500);
    expect([request.path, answer.status, answer.error]).toEqual([request.path, 200, undefined]);
    return answer;
  };

  /** What another organization does meanwhile. */
  const serveOther = async (): Promise<void> => {
    await served({ method: 'GET', path: '/api/v0/leads?limit=50' }, other.key);
    await served({ method: 'POST', path: '/api/v0/leads', body: leadInput() }, other.key);
    await served({ method: 'GET', path: '/api/v0/leads?limit=50' }, other.key);
  };

  it('of bodies that unpack to 350,000 values is rejected', async () => {
    const start = `${JSON.stringify(leadInput()).slice(0, -1)},"unknown":[{}`;
    const values = ',{}'.repeat(Math.floor((BODY_BYTES - start.length - 2) / 3));
    const body = gzipSync(`${start}${values}]}`.padEnd(BODY_BYTES), { level: 9 });
    const headers = { 'content-encoding': 'gzip' };
    const send = () => ask(port, { method: 'POST', path: '/api/v0/leads', key: flooding.key, headers, body });
    const [answers] = await Promise.all([Promise.all(Array.from({ length: CONNECTIONS }, send)), serveOther()]);
    expect(statusesOf(answers).filter((status) => status !== '413' && status !== '503')).toEqual([]);
  }, 60_000);

  it.each(FLOOD_NAMES)(
    'of %s is answered, and so are others',
    async (name) => {
      const prepare: Send = async (request) => {
        const { body } = await served(request, flooding.key);
        return body?.results as Record<string, unknown>;
      };
      const next = await FLOODS[name]?.(prepare);
      if (!next) throw new Error(`There is no flood of ${name}`);
      const { key } = await flooding.issueKey({ maxTokens: BURST, refillRate: 1 });
      const delay = monitorEventLoopDelay();
      delay.enable();
      const send = () => ask(port, { ...next(), key, isDiscarded: true });
      const [answers] = await Promise.all([Promise.all(Array.from({ length: BURST }, send)), serveOther()]);
      // A process that stands still for two seconds may answer 500 (docs/reliability.md).
      const allowed = ['200', '413', '503', ...(delay.max > STANDSTILL_NS ? ['500'] : [])];
      expect(statusesOf(answers).filter((status) => !allowed.includes(status))).toEqual([]);
    },
    120_000,
  );
});

/** Connections of a flood, and requests that each of them sends at once. */
const PIPELINING = 300;
const PIPELINED = 100;
/** A machine that is busy with more than these suites gets several attempts. */
const ATTEMPTS = 5;
const INVALID_KEY = 'lan_0000000000000000000000000000000000000000000000000';

describe('a flood of pipelined requests', () => {
  let lanyard: InProcess;
  let flooding: Tenant;
  let other: Tenant;
  let port: number;
  beforeAll(async () => {
    lanyard = await startInProcess();
    [flooding, other] = await Promise.all([lanyard.tenant(), lanyard.tenant()]);
    port = Number(new URL(lanyard.baseUrl).port);
  });

  /** Sends requests at once on a new connection. @returns how many responses came before it was closed */
  const pipeline = async (path: string, key: string, requests: number): Promise<number> => {
    const socket = connect(port, '127.0.0.1');
    let text = '';
    socket.setEncoding('latin1').on('data', (chunk: string) => (text += chunk));
    socket.on('error', () => undefined);
    const last = requests === 1 ? 'connection: close\r\n' : '';
    socket.write(`GET ${path} HTTP/1.1\r\nhost: x\r\nx-api-key: ${key}\r\n${last}\r\n`.repeat(requests));
    await once(socket, 'close');
    return text.split('HTTP/1.1 ').length - 1;
  };

  /** @returns how many requests of somebody else, sent one after another, were served before a flood was over */
  const servedDuring = async (flood: Promise<unknown>, path: string, key?: string): Promise<number> => {
    let isOver = false;
    void flood.then(() => (isOver = true));
    for (let served = 0; ; served++) {
      const { status } = await ask(port, { method: 'GET', path, key });
      expect(status).toBe(200);
      if (isOver) return served;
    }
  };

  it.each([
    ['of a default key', '/api/v0/leads?limit=50', true, PIPELINED],
    ['of an invalid key', '/api/v0/leads?limit=50', false, PIPELINED],
    ['for the health of the process', '/health/live', false, PIPELINED],
    ['of one request at a time', '/health/live', false, 1],
  ])(
    '%s ends with the responses that are due, and others are served before it is over',
    async (_, path, isValid, requests) => {
      const { key: validKey } = await flooding.issueKey({ maxTokens: BURST, refillRate: 1 });
      const key = isValid ? validKey : INVALID_KEY;
      for (let attempt = 1; ; attempt++) {
        const flood = Promise.all(Array.from({ length: PIPELINING }, () => pipeline(path, key, requests)));
        const [responses, read, health] = await Promise.all([
          flood,
          servedDuring(flood, '/api/v0/leads?limit=50', other.key),
          servedDuring(flood, '/health/live'),
        ]);
        expect([...new Set(responses)]).toEqual([Math.min(requests, MAX_UNANSWERED_REQUESTS)]);
        if (read > 0 && health > 0) break;
        if (attempt === ATTEMPTS) throw new Error(`During a flood, ${read} reads and ${health} of health were served.`);
      }
    },
    60_000,
  );
});
