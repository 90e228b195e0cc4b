import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/** A small, lively, invented dataset. It is the same on every machine, IDs included, because the API reference shows them. */
export const DEMO_RECORDS: Record<string, object[]> = {};

for (const line of readFileSync(join(__dirname, 'demo.ndjson'), 'utf8').trimEnd().split('\n')) {
  const { section, record } = JSON.parse(line) as { section: string; record: object };
  (DEMO_RECORDS[section] ??= []).push(record);
}
