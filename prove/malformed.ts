import Table from 'cli-table3';
import type { Pool } from 'pg';
import * as services from '../scripts/services.mjs';
import { eventInput, exhibitor, industryEventInput, leadInput } from '../test/support/builders';
import { Campaign, Fault } from './malformed/campaign';
import { readOperations } from './malformed/description';
import { forget, measured, Memory, memoryOf } from './malformed/memory';
import { State } from './malformed/state';
import { fillWorld, sender, World } from './malformed/world';
import { record } from './results';

/** requests of a result to publish */
const FULL = 100_000;

/**
 * Sends requests that are made from openapi.json and broken, and sees that each is refused as the contract has it, that
 * no row changes, and that the server holds no more at the end than half-way. The same seed makes the same requests.
 */
const { requests, seed, ...places } = services.readOptions({
  requests: { type: 'string', default: String(FULL) },
  seed: { type: 'string', default: String(Date.now() % 1_000_000_000 || 1) },
}) as { requests: number; seed: number };

/** requests between two looks at the rows */
const BATCH = 5000;

const SETTINGS = {
  LANYARD_AUTHENTICATION_FAILURES: '1000000',
  LANYARD_HEADERS_TIMEOUT_MS: '2000',
  LANYARD_REQUEST_TIMEOUT_MS: '3000',
};

type Services = Awaited<ReturnType<typeof services.startServices>>;

async function makeWorld(own: Services, baseUrl: string): Promise<World> {
  const { users, tagGroup, event, activation, lead, activity } = exhibitor();
  const note = activity();
  const dataset = {
    ...{ users, tagGroups: [tagGroup], events: [event], activations: [activation] },
    ...{ leads: [lead], leadActivityEvents: [note] },
  };
  const main = await services.makeOrganization(own, 'Main', [dataset]);
  const other = await services.makeOrganization(own, 'Other');
  const revoked = await issue(own, main.id);
  await services.operator(own, ['keys', 'revoke', revoked.id]);
  const empty = await issue(own, main.id, '--max-tokens', '1', '--refill-rate', '0.001');
  const makers = { event: eventInput, lead: leadInput, industryEvent: industryEventInput };
  const ids = await fillWorld(sender(baseUrl, main.key), makers);
  const foreign = await fillWorld(sender(baseUrl, other.key), makers);
  Reflect.deleteProperty(foreign, 'industryEventId'); // they are everybody's
  await sender(baseUrl, empty.key)('GET', '/leads');
  const imported = { leadActivityEventId: [note.id], activationId: [activation.id], tagGroupId: [tagGroup.id] };
  return { ids: { ...ids, ...imported }, foreign, keys: { valid: main.key, empty: empty.key, revoked: revoked.key } };
}

const issue = (own: Services, organization: number, ...limits: string[]): Promise<{ id: string; key: string }> =>
  services.operator(own, ['keys', 'issue', '--organization', String(organization), ...limits]);

const MB = 1 << 20;
const say = (text: string): void => void process.stdout.write(`${text}\n`);
const mib = (bytes: number): string => (bytes / MB).toFixed(1);

/** Sends all, and looks at the memory after a tenth of the requests, after half, and after all. */
async function measure(campaign: Campaign, pid: number): Promise<Memory[]> {
  const memories: Memory[] = [];
  const marks = [0.1, 0.5, 1].map((part) => Math.ceil(requests * part));
  const started = performance.now();
  for (let until = 0; until < requests;) {
    until = Math.min(requests, until + BATCH, marks.find((mark) => mark > until) ?? requests);
    await campaign.until(until);
    say(`${campaign.requests} requests, ${campaign.faultCount} faults, ${campaign.changes} changes`);
    if (marks.includes(until)) memories.push(await memoryOf(pid));
  }
  const seconds = (performance.now() - started) / 1000;
  say(`${(campaign.requests / seconds).toFixed(0)} requests/s, looking at rows and memory included`);
  return memories;
}

const show = ({ index, labels, fault, sent }: Fault): void => say(`${index} (${labels.join(', ')}): ${fault}\n${sent}`);

function print({ table, unanswered }: Campaign): void {
  const columns = [...new Set([...table.values()].flatMap((row) => [...row.keys()]))].sort();
  const page = new Table({ head: ['what is wrong', ...columns], style: { head: [], border: [] } });
  for (const [label, row] of [...table].sort()) page.push([label, ...columns.map((each) => row.get(each) ?? '')]);
  say(page.toString());
  for (const [how, count] of unanswered) say(`without an answer: ${count}: ${how}`);
}

/** Level: neither the live heap nor the physical memory grew by a tenth, or by 5 MB, in the second half. */
const isLevel = (half: number, end: number): boolean => end - half < Math.max(half / 10, 5 * MB);

void services.run(main);

async function main(defer: (undo: () => Promise<unknown>) => void): Promise<number> {
  const own = await services.startServices(places, defer);
  defer(() => Promise.resolve(forget()));
  const watched = { ...measured, settings: { ...measured.settings, ...SETTINGS } };
  const server = await services.startServer(own, services.LANYARD, watched as object);
  const { hostname: host, port } = new URL(server.url);
  const world = await makeWorld(own, `http://${host}:${port}/api/v0`);
  say(`seed ${seed}`);
  const grammar = { operations: readOperations(), world, seed };
  const state = await State.of(own.pool as Pool);
  const campaign = new Campaign({ host, port: Number(port), grammar, state }, show);
  const [tenth, half, end] = (await measure(campaign, server.pid ?? 0)) as [Memory, Memory, Memory];
  print(campaign);
  return conclude(campaign, tenth, half, end);
}

function conclude(campaign: Campaign, tenth: Memory, half: Memory, end: Memory): number {
  const row = (of: (memory: Memory) => string | number): string => [tenth, half, end].map(of).join(', ');
  const memory =
    `after a tenth, half and all of them: ${row(({ heap }) => mib(heap))} MiB live after a collection, ` +
    `${row(({ rss }) => mib(rss))} MiB resident, ${row(({ descriptors }) => descriptors)} descriptors`;
  const level = isLevel(half.heap, end.heap) && isLevel(half.rss, end.rss) && end.descriptors <= half.descriptors + 5;
  const kept = campaign.faultCount === 0 && campaign.changes === 0 && level;
  const measuredText =
    `${campaign.requests} requests (seed ${seed}), ${campaign.answers} answers: ` +
    `${campaign.faultCount} not as the contract has it, ${campaign.changes} changes of state; ${memory}`;
  record({ promise: 'malformed requests to every endpoint', measured: measuredText, kept }, requests >= FULL);
  return kept ? 0 : 1;
}
