// Runs the collection with newman against a server of its own, on a database with the demo's records: every request is
// sent, with ids that exist, and every assertion holds. The key is one as the operator issues it, so that the last requests
// wait for their tokens.
import { readFileSync } from 'node:fs';
import newman from 'newman';
import { DEMO_RECORDS } from '../../dist/src/operator/demo/demo.js';
import { recordsWithExamples } from '../../scripts/example-ids.mjs';
import * as services from '../../scripts/services.mjs';

const options = services.readOptions({});
const text = readFileSync(new URL('lanyard.postman_collection.json', import.meta.url), 'utf8');
// The example's host cannot be looked up, and a server checks the host of a webhook. Nobody listens at this address.
const collection = JSON.parse(text.replaceAll(/https:\/\/flows\.example\.com[^"\\]*/g, 'http://127.0.0.1:9/'));

await services.run(async (defer) => {
  const own = await services.startServices(options, defer);
  const { key } = await services.makeOrganization(own, 'Postman', [DEMO_RECORDS], []);
  const { url } = await services.startServer(own, services.LANYARD, {
    settings: { LANYARD_API_WEBHOOK_PRIVATE: 'on' },
  });
  const envVar = [
    { key: 'baseUrl', value: url },
    { key: 'apiKey', value: key },
  ];
  const summary = await new Promise((resolve, reject) => {
    newman.run({ collection, envVar, reporters: 'cli' }, (error, found) => (error ? reject(error) : resolve(found)));
  });
  const { requests, assertions } = summary.run.stats;
  const all = summary.collection.items.members.flatMap(({ items }) => items.members);
  // What the demo has none of cannot be asked for by its id.
  const known = recordsWithExamples();
  const isOfNone = ({ request }) => request.url.variables.all().some(({ key }) => !known.has(key.replace(/Id$/, '')));
  const sent = summary.run.executions.filter(({ response }) => response).map(({ item }) => item.id);
  const skipped = all.filter((item) => isOfNone(item) && !sent.includes(item.id));
  for (const { name } of skipped) console.log(`skipped, for the demo has no such record: ${name}`);
  const wanted = all.length - skipped.length;
  const failed = summary.run.failures.length;
  console.log(
    `${requests.total - requests.failed} of ${wanted} requests, ${assertions.total} assertions, ${failed} failed`,
  );
  return failed === 0 && requests.total === wanted && assertions.total >= wanted ? 0 : 1;
});
