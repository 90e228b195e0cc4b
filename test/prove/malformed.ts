import { setTimeout as pause } from 'node:timers/promises';
import * as services from '../../scripts/services.mjs';
import { createExhibitor } from '../support/builders';
import { openState } from '../support/state';
import { Campaign } from './malformed/campaign';
import { readOperations } from './malformed/description';
import { makeWorld, type World } from './malformed/world';
import { record } from './results';
import { formatCount } from './support/figures';
import { memoryOf } from './support/daemon';

/**
 * Sends requests that are made from openapi.json and broken. Each must be refused as the contract has it; no row may
 * change, and the server may hold no more at the end than halfway. The same seed makes the same requests.
 */

/** Requests of a result to publish. */
const FULL = 100_000;
const { requests, seed, ...places } = services.readOptions({
  requests: { type: 'string', default: String(FULL) },
  seed: { type: 'string', default: String((Date.now() % 1_000_000_000) + 1) },
}) as { requests: number; seed: number };

const SETTINGS = {
  LANYARD_AUTHENTICATION_FAILURES: '1000000',
  LANYARD_HEADERS_TIMEOUT_MS: '2000',
  LANYARD_REQUEST_TIMEOUT_MS: '3000',
};
/** In the second half of the requests. */
const MAX_GROWTH = 0.1;
/** What V8's young generation may still have to grow by, in MiB, in a run too short for it to have its size at half. */
const YOUNG_GENERATION = 32;
/** For what requests hold that were answered a moment ago. */
const SETTLE_MS = 3000;

type Services = Awaited<ReturnType<typeof services.startServices>>;

async function stocked(own: Services, port: number): Promise<World> {
  const { dataset, ids } = createExhibitor();
  const main = await services.makeOrganization(own, 'Main', [dataset]);
  const { key: other } = await services.makeOrganization(own, 'Other');
  const issue = (...limits: string[]): Promise<{ id: string; key: string }> =>
    services.operator(own, ['keys', 'issue', '--organization', String(main.id), ...limits]);
  const revoked = await issue();
  await services.operator(own, ['keys', 'revoke', revoked.id]);
  const empty = await issue('--max-tokens', '1', '--refill-rate', '0.001');
  return makeWorld(port, { valid: main.key, other, empty: empty.key, revoked: revoked.key }, ids);
}

const say = (text: string): void => void process.stdout.write(`${text}\n`);

async function main(defer: (undo: () => Promise<unknown>) => void): Promise<number> {
  const own = await services.startServices(places, defer);
  const server = await services.startServer(own, services.LANYARD, { settings: SETTINGS } as object);
  const port = Number(new URL(server.url).port);
  const world = await stocked(own, port);
  const grammar = { operations: readOperations(), world, seed };
  const state = await openState(own.environment.DATABASE_URL);
  defer(() => state.end());
  const campaign = new Campaign(port, grammar, () => state.everyRow());
  const memoryMib: number[] = [];
  for (const part of [0.1, 0.5, 1]) {
    await campaign.until(requests * part);
    await pause(SETTLE_MS);
    memoryMib.push(memoryOf(server.pid ?? 0));
    say(`${campaign.requests} requests, ${campaign.faultCount} faults`);
  }
  for (const { index, label, fault, sent } of campaign.faults) say(`${index} (${label}): ${fault}\n${sent}`);
  const [, half = 0, end = 0] = memoryMib;
  const maxMib = half * (1 + MAX_GROWTH) + (requests >= FULL ? 0 : YOUNG_GENERATION);
  const kept = campaign.faultCount === 0 && end > 0 && end <= maxMib;
  const measured =
    `${formatCount(campaign.requests)} requests (seed ${seed}), ${formatCount(campaign.answers)} responses: ` +
    `${campaign.faultCount} against the contract, ${campaign.changes} changed rows. After a tenth, half and all of them: ` +
    `${memoryMib.map((mib) => mib.toFixed(0)).join(', ')} MiB resident`;
  record({ promise: 'malformed requests to every endpoint', measured, kept }, requests >= FULL);
  return kept ? 0 : 1;
}

void services.run(main);
