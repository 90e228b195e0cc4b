import { Lanyard as Client, LanyardError, type ReplicaEntry, type ReplicaStore } from '../../clients/typescript/src';
import { createExhibitor, leadInput } from '../support/builders';
import { type Lanyard, startLanyard, type Tenant } from '../support/lanyard';
import { foreignCursor, listRecords } from '../support/replica';

/** A store in memory. Every operation may fail, as in a program that is killed. */
class MemoryStore implements ReplicaStore {
  readonly entries = new Map<string, ReplicaEntry>();
  cursor?: string;
  sweeps: number[] = [];
  transaction?: ReplicaStore['transaction'];
  operations = 0;
  /** The number of operations after which the store fails. */
  failsAfter = Infinity;

  private count(): void {
    if (++this.operations > this.failsAfter) throw new Error('Killed');
  }

  loadCursor = () => this.cursor;
  saveCursor = (cursor: string): void => {
    this.count();
    this.cursor = cursor;
  };
  upsert = (entry: ReplicaEntry): void => {
    this.count();
    this.entries.set(`${entry.resource} ${entry.key.replace('/', ' ')}`, entry);
  };
  delete = (resource: string, key: string): void => {
    this.count();
    this.entries.delete(`${resource} ${key.replace('/', ' ')}`);
  };
  sweep = (mark: number): void => {
    this.count();
    this.sweeps.push(mark);
    for (const [name, entry] of this.entries) if (entry.mark < mark) this.entries.delete(name);
  };

  get records(): object {
    return Object.fromEntries([...this.entries].map(([name, { record }]) => [name, record]));
  }
}

describe('a replica', () => {
  let lanyard: Lanyard;
  let tenant: Tenant;
  let store: MemoryStore;
  beforeAll(async () => void (lanyard = await startLanyard()));
  beforeEach(async () => {
    tenant = await lanyard.tenant();
    store = new MemoryStore();
  });

  const client = (sleep = () => Promise.resolve()) => new Client({ baseUrl: lanyard.baseUrl, key: tenant.key, sleep });
  const createLead = async (): Promise<string> =>
    ((await tenant.api.post('/leads', leadInput()).expect(200)).body.results as { id: string }).id;
  const listed = async () => Object.fromEntries(await listRecords(tenant.api));
  /** Has the store's cursor belong to another database, which is what a restore does. */
  const expireCursor = (): void => {
    store.cursor = JSON.stringify({ ...(JSON.parse(store.cursor ?? '') as object), cursor: foreignCursor() });
  };

  it('equals the lists after a snapshot, and after changes', async () => {
    await tenant.import(createExhibitor().dataset);
    const id = await createLead();
    await client().replicate(store, { limit: 3 });
    expect(store.records).toEqual(await listed());
    await tenant.api.delete(`/leads/${id}`).expect(200);
    await createLead();
    await client().replicate(store);
    expect(store.records).toEqual(await listed());
    expect(store.sweeps).toEqual([1]);
  });

  it('keeps its records through an expired cursor, and then sweeps those that no longer exist', async () => {
    await createLead();
    const id = await createLead();
    await client().replicate(store);
    await tenant.api.delete(`/leads/${id}`).expect(200);
    expireCursor();
    const sizes: number[] = [];
    store.transaction = async (write: () => Promise<void>): Promise<void> => {
      await write();
      sizes.push(store.entries.size);
    };
    await client().replicate(store, { limit: 1 });
    expect(sizes[0]).toBe(2);
    expect(store.records).toEqual(await listed());
    expect(store.sweeps).toEqual([1, 2]);
  });

  it('ends equal to the lists, wherever its program is killed', async () => {
    for (let n = 0; n < 6; n++) await createLead();
    await client().replicate(store, { limit: 2 });
    for (let failsAfter = 0, isDone = false; !isDone; failsAfter++) {
      // Each round begins with an expired cursor, and a record that is deleted while the program is down.
      expireCursor();
      const id = await createLead();
      Object.assign(store, { operations: 0, failsAfter });
      const outcome = await client()
        .replicate(store, { limit: 2 })
        .catch((error: Error) => error.message);
      isDone = outcome === undefined;
      await tenant.api.delete(`/leads/${id}`).expect(200);
      store.failsAfter = Infinity;
      await client().replicate(store, { limit: 2 });
      expect([failsAfter, store.records]).toEqual([failsAfter, await listed()]);
      expect(outcome).toBe(isDone ? undefined : 'Killed');
    }
  });

  it('follows changes until its signal ends it', async () => {
    const stop = new AbortController();
    const reason = new Error('Closing time');
    const steps = [createLead, () => Promise.resolve(stop.abort(reason))];
    const api = client(async () => void (await steps.shift()?.()));
    await expect(api.replicate(store, { follow: true, signal: stop.signal })).rejects.toBe(reason);
    expect(store.records).toEqual(await listed());
    expect(store.entries.size).toBe(1);
  });

  it('copies the resources that it is asked for', async () => {
    await tenant.import(createExhibitor().dataset);
    await client().replicate(store, { resources: ['leads', 'eventLeads'] });
    const resources = [...store.entries.values()].map(({ resource }) => resource);
    expect([...new Set(resources)].sort()).toEqual(['eventLeads', 'leads']);
  });

  it('passes other errors on', async () => {
    const api = new Client({ baseUrl: lanyard.baseUrl, key: 'lan_x' });
    const error: unknown = await api.replicate(store).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(LanyardError);
    expect(error).toMatchObject({ status: 403, reason: 'rejected' });
  });
});
