// Loads a file of conferences (one JSON object a line, each a body of POST /industryEvents) through the API, then looks
// for some of them and pages through the catalog. Run again, it creates none twice: those with an eventUrl never, the
// others within 24 hours.
//
//   LANYARD_KEY=lan_… node clients/examples/conferences.mjs conferences.ndjson
import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { createInterface } from 'node:readline';
import { argument, call, fail, parsed } from './call.mjs';

const file = argument('conferences', 'FILE');

const outcome = { created: 0, existing: 0, withPotentialDuplicates: 0 };
const loaded = new Set();
const lines = createInterface({ input: createReadStream(file) })[Symbol.asyncIterator]();

let number = 0;

/** Several of these take lines from the one file until there is none left. */
async function worker() {
  for (let line = await lines.next(); !line.done; line = await lines.next()) {
    const once = createHash('sha256').update(`${++number} ${line.value}`).digest('hex');
    const conference = parsed(line.value) ?? fail(`${file}, line ${number}: not JSON; what stands before it is loaded`);
    const { results } = await call('POST', '/industryEvents', conference, once);
    outcome[results.created ? 'created' : 'existing']++;
    if (results.potentialDuplicates.length > 0) outcome.withPotentialDuplicates++;
    loaded.add(results.industryEvent.id);
  }
}

await Promise.all(Array.from({ length: 8 }, worker));
console.log(`created: true ${outcome.created}, created: false ${outcome.existing}`);
console.log(`with potential duplicates ${outcome.withPotentialDuplicates}`);

for (const q of ['wroclaw ruby', '"react" amsterdam', 'conferência']) {
  const { results } = await call('GET', `/industryEvents?limit=3&q=${encodeURIComponent(q)}`);
  const found = results.industryEvents.map((event) => `${event.name} (${event.venueCity})`);
  console.log(`${q}: ${results.total} found: ${found.join(', ')}`);
}

const met = new Map();
for (let offset = 0; ; offset++) {
  const { results } = await call('GET', `/industryEvents?limit=50&offset=${offset}`);
  for (const { id } of results.industryEvents) met.set(id, (met.get(id) ?? 0) + 1);
  if (results.industryEvents.length === 0) break;
}
const once = [...loaded].filter((id) => met.get(id) === 1).length;
console.log(
  `paged through ${met.size} records; of ${loaded.size} loaded ones each was met once: ${once === loaded.size}`,
);
process.exitCode = once === loaded.size ? 0 : 1;
