import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import * as services from '../../scripts/services.mjs';
import { createExhibitor } from '../support/builders';
import { freePort } from '../support/servers/free-port';
import { typescript } from '../support/program';
import { rejectWith, ACKNOWLEDGED } from '../support/servers/receiver';
import { record } from './results';
import { Client } from './soak/load';
import type { Figures } from './soak/server';
import { until } from './support/daemon';
import { Random } from './support/random';

/**
 * Every kind of request and of disconnect on two processes, with webhooks whose receivers misbehave: what a process holds
 * in the end must be what it held once it was warm.
 */

/** Of a result to publish. */
const FULL = { minutes: 30, warmUp: 10 };
const { minutes, seed, ...places } = services.readOptions({
  minutes: { type: 'string', default: String(FULL.minutes) },
  seed: { type: 'string', default: String((Date.now() % 1_000_000) + 1) },
}) as { minutes: number; seed: number };

const PROCESSES = 2;
const ORGANIZATIONS = 3;
const CLIENTS_EACH = 3;
/** What is live in the end may be so much more. */
const MAX_GROWTH = 0.05;
/** What was asked for a moment ago comes to its end. In ten seconds the pool would close its connections, with their statements. */
const SETTLE_MS = 5_000;
const FLAGS = ['--expose-gc', '--max-old-space-size=768'];

const COMPARED = ['heapMib', 'descriptors', 'connections', 'databaseConnections', 'preparedStatements'] as const;

const random = new Random(seed);
const say = (text: string): void => void process.stdout.write(`${text}\n`);

const MISDEEDS: (readonly [weight: number, answer: (response: ServerResponse) => void])[] = [
  [6, (response) => ACKNOWLEDGED(response, undefined as never)],
  [2, (response) => rejectWith(500)(response, undefined as never)],
  [1, (response) => void response.destroy()],
  [1, () => undefined],
];

/** @returns the URL of a receiver that misbehaves */
async function startReceiver(defer: (undo: () => Promise<unknown>) => void): Promise<string> {
  const server = createServer((request, response) => {
    request.on('error', () => undefined).resume();
    random.weighted(MISDEEDS)(response);
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  defer(async () => {
    server.close();
    server.closeAllConnections();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`;
}

interface Process {
  port: number;
  figures: () => Promise<Figures>;
}

async function begin(defer: (undo: () => Promise<unknown>) => void): Promise<[Process[], Client[]]> {
  const own = await services.startServices(places, defer);
  const organizations: [key: string, ids: ReturnType<typeof createExhibitor>['ids']][] = [];
  for (let n = 0; n < ORGANIZATIONS; n++) {
    const { dataset, ids } = createExhibitor();
    const { id, key } = await services.makeOrganization(own, `Organization ${n}`, [dataset]);
    organizations.push([key, ids]);
    const url = await startReceiver(defer);
    await services.operator(own, ['webhooks', 'create', '--url', url, '--organization', String(id)]);
  }
  const processes: Process[] = [];
  for (let n = 0; n < PROCESSES; n++) {
    const figuresPort = await freePort();
    const settings = {
      FIGURES_PORT: String(figuresPort),
      LANYARD_SIMULATE: 'production',
      LANYARD_AUTHENTICATION_FAILURES: '1000000',
    };
    const options = { settings, flags: FLAGS } as object;
    const { url } = await services.startServer(own, typescript('test/prove/soak/server.ts'), options);
    const figures = async (): Promise<Figures> => {
      const answer = await fetch(`http://127.0.0.1:${figuresPort}`);
      if (!answer.ok) throw new Error(await answer.text());
      return (await answer.json()) as Figures;
    };
    processes.push({ port: Number(new URL(url).port), figures });
  }
  const ports = processes.map(({ port }) => port);
  const clients = organizations.flatMap(([key, ids]) =>
    Array.from({ length: CLIENTS_EACH }, () => new Client(ports, key, ids, random)),
  );
  return [processes, clients];
}

/** @returns what each process holds after the load, at rest */
async function load(processes: Process[], clients: Client[], milliseconds: number): Promise<Figures[]> {
  const end = performance.now() + milliseconds;
  await Promise.all(clients.map((client) => client.run(() => performance.now() > end)));
  await pause(SETTLE_MS);
  const isAtRest = async (): Promise<boolean> =>
    (await Promise.all(processes.map(({ figures }) => figures()))).every(({ connections }) => connections === 0);
  await until('all connections are closed', isAtRest).catch((error: Error) => say(error.message));
  const found = await Promise.all(processes.map(({ figures }) => figures()));
  for (const each of found)
    say(
      Object.entries(each)
        .map(([name, value]) => `${name} ${value.toFixed(1)}`)
        .join(', '),
    );
  return found;
}

async function main(defer: (undo: () => Promise<unknown>) => void): Promise<number> {
  say(`seed ${seed}, ${minutes} minutes`);
  const [processes, clients] = await begin(defer);
  const warmUp = Math.min(FULL.warmUp, minutes / 3) * 60_000;
  const warm = await load(processes, clients, warmUp);
  const last = await load(processes, clients, minutes * 60_000 - warmUp);
  const grown = COMPARED.filter((name) =>
    last.some((figures, n) => figures[name] > (warm[n]?.[name] ?? 0) * (1 + MAX_GROWTH)),
  );
  const sum = (count: (client: Client) => number): number => clients.reduce((total, each) => total + count(each), 0);
  const failures = sum(({ answers }) => answers.countOf((what) => what === '500'));
  for (const { answers } of clients) say(`    ${answers.toString()}`);
  const both = (name: (typeof COMPARED)[number], digits = 0): string =>
    processes.map((_, n) => `${warm[n]?.[name].toFixed(digits)} → ${last[n]?.[name].toFixed(digits)}`).join(' and ');
  const measured =
    `${minutes} minutes (seed ${seed}): ${sum(({ answers }) => answers.total)} requests, ${failures} of them 500, and ` +
    `${sum(({ disconnects }) => disconnects)} disconnects; after ${(warmUp / 60_000).toFixed(1)} minutes and in the end, of ` +
    `${PROCESSES} processes: ${both('heapMib', 1)} MiB live after a collection, ${both('descriptors')} descriptors, ` +
    `${both('connections')} connections of clients, ${both('databaseConnections')} to PostgreSQL, ` +
    `${both('preparedStatements')} prepared statements; more than ${MAX_GROWTH * 100} % grown: ${grown.join() || 'nothing'}`;
  const kept = grown.length === 0 && failures === 0;
  record({ promise: 'resources of a process after hours', measured, kept }, minutes >= FULL.minutes);
  return kept ? 0 : 1;
}

void services.run(main);
