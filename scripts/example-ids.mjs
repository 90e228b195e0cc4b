// Which records the examples of openapi.json tell of. The demo has them, so they can be asked for by the ids that stand there.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const SRC = fileURLToPath(new URL('../src', import.meta.url));

/** The first event and the first user of an organization have the number 1. */
const NUMBERED = ['event', 'user'];

/** `EXAMPLE_TAG_GROUP_ID` is that of a `tagGroup`. */
const recordOf = (name) => name.toLowerCase().replace(/_(\w)/g, (_, letter) => letter.toUpperCase());

/** The names of these records, of which src/openapi/example-ids.ts has the IDs. */
export function recordsWithExamples() {
  const ids = readFileSync(join(SRC, 'openapi/example-ids.ts'), 'utf8');
  const exported = [...ids.matchAll(/^export const EXAMPLE_(\w+)_ID\b/gm)].map(([, name]) => name);
  return new Set([...NUMBERED, ...exported.map(recordOf)]);
}
