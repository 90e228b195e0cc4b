import { readdirSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { promisify } from 'node:util';
import { DataSource } from 'typeorm';
import { createApp } from '../../../src/app';
import { readConfig } from '../../../src/config';
import { poolOf } from '../../../src/data/database/data-source';

/** What a process holds when nobody asks it anything. */
export interface Figures {
  /** Live after a collection, with what lies beside the heap. */
  heapMib: number;
  residentMib: number;
  descriptors: number;
  /** Of clients. */
  connections: number;
  databaseConnections: number;
  /** On the connection to PostgreSQL that has most. */
  preparedStatements: number;
}

const MIB = 1 << 20;
const MAX_ATTEMPTS = 60;

/** Fills the pool, so that its connections are the same number each time: one that was never given back is missed here. */
async function preparedStatements(dataSource: DataSource): Promise<number> {
  const pool = poolOf(dataSource);
  // All but the one on which webhooks are sent.
  const clients = [];
  // On a machine that has much to do, connecting may take longer than a request waits for it.
  for (let attempt = 0; clients.length < pool.options.max - 1 && attempt < MAX_ATTEMPTS; attempt++) {
    const client = await pool.connect().catch(() => undefined);
    if (client) clients.push(client);
  }
  const counts: number[] = [];
  for (const client of clients) {
    const { rows } = await client.query<{ n: number }>('select count(*)::int as n from pg_prepared_statements');
    counts.push(rows[0]?.n ?? 0);
    client.release();
  }
  return Math.max(...counts);
}

async function figures(server: Server, dataSource: DataSource): Promise<Figures> {
  const statements = await preparedStatements(dataSource);
  for (let times = 0; times < 3; times++) {
    globalThis.gc?.();
    await new Promise(setImmediate);
  }
  const { heapUsed, external, rss } = process.memoryUsage();
  return {
    heapMib: (heapUsed + external) / MIB,
    residentMib: rss / MIB,
    descriptors: readdirSync('/proc/self/fd').length,
    connections: await promisify(server.getConnections.bind(server))(),
    databaseConnections: poolOf(dataSource).totalCount,
    preparedStatements: statements,
  };
}

/** The server, with a port beside it that tells its figures. */
async function main(): Promise<void> {
  const config = readConfig();
  const app = await createApp(config);
  await app.listen(0, config.host);
  const server = app.getHttpServer() as Server;
  const beside = createServer((_, response) => {
    response.setHeader('Connection', 'close');
    figures(server, app.get(DataSource)).then(
      (found) => response.end(JSON.stringify(found)),
      (error: Error) => response.writeHead(500).end(error.message),
    );
  });
  beside.listen(Number(process.env.FIGURES_PORT), config.host);
  process.stdout.write(`Lanyard is listening on http://127.0.0.1:${(server.address() as AddressInfo).port}\n`);
}

void main();
