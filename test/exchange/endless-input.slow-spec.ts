import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import type { EntityManager } from 'typeorm';
import type { OpenFile } from '../../src/exchange/csv/open';
import { csvImportSource } from '../../src/exchange/csv/read';
import { decodeText } from '../../src/exchange/datasets/open';
import { IssueCollector } from '../../src/exchange/datasets/import-error';
import { datasetRecords } from '../../src/exchange/datasets/read-json';
import { query } from '../../src/testing/test-database';
import { install } from '../support/operator';
import { DATASETS } from '../support/contexts';
import { CSV, mappingOf } from '../support/csv-files';
import { waitUntil } from '../support/wait';

const MIB = 1 << 20;

/** Parts that come until nobody wants more; `count` says how many were taken. */
function endless(part: Buffer, first = Buffer.alloc(0)) {
  const taken = { count: 0 };
  async function* chunks(): AsyncGenerator<Buffer> {
    yield await Promise.resolve(first);
    for (;;) {
      taken.count++;
      yield part;
    }
  }
  return { taken, chunks: chunks() };
}

/** The error at which reading ends. */
async function errorOf(records: AsyncIterable<unknown>): Promise<string> {
  try {
    for await (const record of records) expect(record).toBeDefined();
  } catch (error) {
    return (error as Error).message;
  }
  return 'none';
}

async function* each(parts: AsyncIterable<Iterable<unknown>>): AsyncGenerator<unknown> {
  for await (const part of parts) yield* part;
}
const jsonOf = (chunks: AsyncIterable<Buffer>) =>
  each(datasetRecords(decodeText(chunks), DATASETS, new IssueCollector()));
const NO_DATABASE = undefined as unknown as EntityManager;
async function* readCsv(open: OpenFile, issues: IssueCollector): AsyncGenerator<unknown> {
  const context = { organizationId: 1, manager: NO_DATABASE, issues };
  const source = csvImportSource(CSV, { mapping: mappingOf({ email: 'email' }), optionValues: [] }, open);
  yield* each(source.read(await source.plan(context), context));
}
const csvOf = (chunks: AsyncIterable<Buffer>) => readCsv(() => chunks, new IssueCollector());

describe('an input that does not end is refused as soon as it is too long:', () => {
  it.each([
    ['a row of CSV', 'email\n', csvOf, 'a row over 16 MiB'],
    ['the first row of CSV', '', csvOf, 'longer than 16 MiB'],
    [
      'a line of NDJSON',
      '{"section":"users","record":{"email":"a@b.co"}}\n',
      jsonOf,
      'line 2: This line is longer than 16 MiB.',
    ],
  ])('%s', async (_, first, read, reason) => {
    const { taken, chunks } = endless(Buffer.alloc(MIB, 'x'), Buffer.from(first));
    expect(await errorOf(read(chunks))).toContain(reason);
    expect(taken.count).toBeLessThan(20);
  });

  it('a JSON object', async () => {
    const { taken, chunks } = endless(Buffer.alloc(8 * MIB, ' '), Buffer.from('{'));
    expect(await errorOf(jsonOf(chunks))).toContain('one JSON object of more than 64 MiB');
    expect(taken.count).toBeLessThan(11);
  });

  it('what is no JSON from its first byte', async () => {
    const { taken, chunks } = endless(Buffer.alloc(MIB));
    expect(await errorOf(jsonOf(chunks))).toBe('line 1: This is not valid JSON.');
    expect(taken.count).toBeLessThan(3);
  });
});

it('a line that is not JSON does not end the reading of NDJSON, wherever a part of the file begins', async () => {
  const lineOf = (email: string): string => `{"section":"users","record":{"email":"${email}"}}\n`;
  const parts = [lineOf('a@example.com'), `{bad\n${lineOf('b@example.com')}`];
  const issues = new IssueCollector();
  const chunks = Readable.from(parts.map((part) => Buffer.from(part)));
  const lines: unknown[] = [];
  for await (const part of datasetRecords(decodeText(chunks), DATASETS, issues))
    for (const { line } of part) lines.push(line);
  expect(lines).toEqual([1, 3]);
  expect(() => issues.throwIfAny()).toThrow(/^line 2: This is not valid JSON\.$/);
});

// Reading that compares each column with each other would not end within the time of a test.
it('of a million columns a message names the first ones, and how many more there are', async () => {
  const content = Buffer.from(`${'C,'.repeat(1_000_000)}D\n`);
  const issues = new IssueCollector();
  await errorOf(readCsv(() => Readable.from([content]), issues));
  expect(() => issues.throwIfAny()).toThrow(
    /^line 1 and 999,999 more, column "C": The mapping does not name this column\./,
  );
});

describe('a named pipe to which nobody writes', () => {
  const folder = mkdtempSync(join(tmpdir(), 'lanyard-pipe-'));
  afterAll(() => rmSync(folder, { recursive: true }));

  it.each(['SIGINT', 'SIGTERM'] as const)('is left at %s, by which the process ends', async (signal) => {
    const { database, operator, server } = await install();
    const pipe = join(folder, signal);
    execFileSync('mkfifo', [pipe]);
    const { organizationId } = await server.tenant();
    const child = operator.start(['import', pipe, '--organization', String(organizationId)]);
    const staged = `select from pg_stat_activity where datname = current_database() and query like 'create temp%staged_industry%'`;
    await waitUntil(async () => (await query(database.url, staged)).length === 1);
    child.kill(signal);
    expect(await once(child, 'exit')).toEqual([null, signal]);
  });
});
