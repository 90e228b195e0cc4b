import type { Server } from 'node:http';
import { Campaign } from '../../prove/malformed/campaign';
import { readOperations } from '../../prove/malformed/description';
import { makeWorld, World } from '../../prove/malformed/world';
import { ApiKeysService } from '../../src/access/api-keys.service';
import { exhibitor } from '../support/builders';
import { InProcess, startInProcess } from '../support/lanyard';
import { everyRow } from '../support/state';

const REQUESTS = 800;
const SEEDS = [20_260_301, 356_637_947, 735_082_114];

/** A short run of `npm run prove malformed`, which describes it. */
describe('requests made from openapi.json and broken', () => {
  let lanyard: InProcess;
  let world: World;
  beforeAll(async () => {
    lanyard = await startInProcess({ headersTimeoutMs: 2000, requestTimeoutMs: 3000 });
    world = await stocked();
  });
  afterAll(() => {
    // Of clients that went away in the middle of a request; a server that closes looks after them no more.
    (lanyard.app.getHttpServer() as Server).closeAllConnections();
  });

  const port = (): number => Number(new URL(lanyard.baseUrl).port);

  async function stocked(): Promise<World> {
    const [{ key: valid, import: load, issueKey }, { key: other }] = [await lanyard.tenant(), await lanyard.tenant()];
    const { dataset, ids } = exhibitor();
    await load(dataset);
    const { key: empty } = await issueKey({ maxTokens: 1, refillRate: 0.001 });
    const { key: revoked, id } = await issueKey({});
    await lanyard.app.get(ApiKeysService).revoke(id);
    return makeWorld(port(), { valid, other, empty, revoked }, ids);
  }

  it.each(SEEDS)('are refused as the contract has it, and change nothing: seed %i', async (seed) => {
    const grammar = { operations: readOperations(), world, seed };
    const rows = () => everyRow(lanyard.config.databaseUrl ?? '');
    const campaign = new Campaign(port(), grammar, rows);
    await campaign.until(REQUESTS);
    expect(campaign.faults).toEqual([]);
    expect(campaign).toMatchObject({ faultCount: 0, changes: 0 });
  });
});
