import type { Server } from 'node:http';
import { Pool } from 'pg';
import { Campaign } from '../../prove/malformed/campaign';
import { readOperations } from '../../prove/malformed/description';
import { fillWorld, sender, World } from '../../prove/malformed/world';
import { exhibitor } from '../support/builders';
import { InProcess, startInProcess } from '../support/lanyard';
import { everyRow } from '../support/state';

const REQUESTS = 800;
const SEEDS = [20_260_301, 356_637_947, 735_082_114];

/** A short run of `npm run prove malformed`, which describes it. */
describe('requests made from openapi.json and broken', () => {
  let lanyard: InProcess;
  let pool: Pool;
  let world: World;
  beforeAll(async () => {
    lanyard = await startInProcess({ headersTimeoutMs: 2000, requestTimeoutMs: 3000 });
    pool = new Pool({ connectionString: lanyard.config.databaseUrl });
    world = await makeWorld();
  });
  afterAll(async () => {
    await pool.end();
    // Of clients that went away in the middle of a request; a server that closes looks after them no more.
    (lanyard.app.getHttpServer() as Server).closeAllConnections();
    await lanyard.stop();
  });

  async function makeWorld(): Promise<World> {
    const [main, other] = [await lanyard.tenant(), await lanyard.tenant()];
    const { users, tagGroup, event, activation, lead, activity } = exhibitor();
    const note = activity();
    await main.import({
      ...{ users, tagGroups: [tagGroup], events: [event], activations: [activation] },
      ...{ leads: [lead], leadActivityEvents: [note] },
    });
    const ids = await fillWorld(sender(lanyard.baseUrl, main.key));
    const { eventId = [], leadId = [] } = await fillWorld(sender(lanyard.baseUrl, other.key));
    const empty = await main.issueKey({ maxTokens: 1, refillRate: 0.001 });
    await empty.api.get('/leads').expect(200);
    const revoked = await main.issueKey({});
    await pool.query('update api_keys set revoked_at = now() where id = $1', [revoked.id]);
    const imported = { leadActivityEventId: [note.id], activationId: [activation.id], tagGroupId: [tagGroup.id] };
    const keys = { valid: main.key, empty: empty.key, revoked: revoked.key };
    return { ids: { ...ids, ...imported }, foreign: { eventId, leadId }, keys };
  }

  it.each(SEEDS)('are refused as the contract has it, and change nothing: seed %i', async (seed) => {
    const { hostname: host, port } = new URL(lanyard.baseUrl);
    const grammar = { operations: readOperations(), world, seed };
    const rows = () => everyRow(lanyard.config.databaseUrl ?? '');
    const campaign = new Campaign({ host, port: Number(port), grammar, rows });
    await campaign.until(REQUESTS);
    expect(campaign.faults).toEqual([]);
    expect(campaign).toMatchObject({ faultCount: 0, changes: 0 });
  });
});
