import { createInterface } from 'node:readline';
import {
  type EmbeddedPostgresOptions,
  startEmbeddedPostgres,
} from '../../../src/data/embedded-postgres/embedded-postgres';

/** A process that uses the embedded PostgreSQL: prints its URL, and stops when a line arrives. */
async function main(): Promise<void> {
  const options = JSON.parse(String(process.argv[2])) as Omit<EmbeddedPostgresOptions, 'log'>;
  const postgres = await startEmbeddedPostgres({ ...options, log: () => undefined });
  process.stdout.write(`${postgres.url}\n`);
  createInterface({ input: process.stdin }).once('line', () => void postgres.stop().then(() => process.exit()));
}

main().catch((error: unknown) => {
  process.stderr.write(`${error instanceof Error ? error.stack : String(error)}\n`);
  process.exit(1);
});
