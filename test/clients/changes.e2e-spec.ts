import {
  type Change,
  Lanyard as Client,
  LanyardError,
  type LanyardOptions,
  type LeadV0Response,
} from '../../clients/typescript/src';
import { sleepFor } from '../../clients/typescript/src/sleep';
import { eventInput, createExhibitor, leadInput } from '../support/builders';
import { Lanyard, startLanyard, Tenant } from '../support/lanyard';
import { listRecords, nameOf, foreignCursor } from '../support/replica';

let lanyard: Lanyard;
let tenant: Tenant;
beforeAll(async () => void (lanyard = await startLanyard()));
beforeEach(async () => void (tenant = await lanyard.tenant()));

const client = (options: Partial<LanyardOptions> = {}): Client =>
  new Client({ baseUrl: lanyard.baseUrl, key: tenant.key, sleep: () => Promise.resolve(), ...options });
const newLead = async (over: object = {}): Promise<string> =>
  ((await tenant.api.post('/leads', leadInput(over)).expect(200)).body as { results: LeadV0Response }).results.id;
const errorOf = async (loop: AsyncIterable<unknown>): Promise<unknown> => {
  try {
    for await (const _ of loop) void _;
  } catch (error) {
    return error;
  }
  return undefined;
};

/** A copy of the records, by their names. */
class Copy extends Map<string, unknown> {
  apply(change: Change): void {
    if (change.record === null) this.delete(nameOf(change));
    else this.set(nameOf(change), change.record);
  }
}

describe('pages of changes', () => {
  it('make a copy that equals the lists, though replies are lost, and wait only when there is no more', async () => {
    await tenant.import(createExhibitor().dataset);
    const gone = await newLead();
    const waits: number[] = [];
    const phases: string[] = [];
    const copy = new Copy();
    let calls = 0;
    const api = client({
      fetch: async (url, init) => {
        const response = await fetch(url, init);
        if (++calls % 3 === 0) throw new TypeError('fetch failed');
        return response;
      },
      random: () => 0,
      sleep: async (milliseconds) => {
        waits.push(milliseconds);
        if (milliseconds !== 7000) return;
        await tenant.api.delete(`/leads/${gone}`).expect(200);
        await newLead();
      },
    });
    for await (const { phase, changes, hasMore } of api.changePages({ limit: 2, intervalMs: 7000 })) {
      phases.push(phase);
      changes.forEach((change) => copy.apply(change));
      if (!hasMore && waits.includes(7000)) break;
    }
    expect(Object.fromEntries(copy)).toEqual(Object.fromEntries(await listRecords(tenant.api)));
    expect(phases).toEqual(['snapshot', 'snapshot', 'snapshot', 'snapshot', 'changes', 'changes']);
    expect(waits.filter((milliseconds) => milliseconds > 0)).toEqual([7000]);
  });

  it('are those of some resources, from now on or from a cursor', async () => {
    await tenant.import(createExhibitor().dataset);
    const pages = client({
      sleep: async () => {
        await newLead({ lastName: 'Ito' });
        await tenant.api.post('/events', eventInput()).expect(200);
      },
    }).changePages({ since: 'now', resources: ['leads', 'tagGroups'] });
    const { value: first } = await pages.next();
    expect(first).toMatchObject({ phase: 'changes', changes: [], hasMore: false });
    const { value: second } = await pages.next();
    expect(second).toMatchObject({ changes: [{ resource: 'leads', operation: 'created' }] });
    const { value: again } = await client()
      .changePages({ cursor: first?.cursor, resources: ['tagGroups', 'leads'] })
      .next();
    expect(again?.changes).toEqual(second?.changes);
  });

  it.each([
    { changes: [], cursor: 'c' },
    { changes: [], hasMore: false },
    { cursor: 'c', hasMore: false },
  ])('are not what a 200 with %j has', async (results) => {
    const api = client({ fetch: () => Promise.resolve(Response.json({ status: 200, results })) });
    expect(await errorOf(api.changePages())).toMatchObject({
      name: 'LanyardError',
      message: expect.stringContaining('The answer is not that of the API'),
    });
  });
});

describe('changes', () => {
  it('have the fields of their resource', async () => {
    const { dataset, lead } = createExhibitor();
    await tenant.import(dataset);
    const told: string[] = [];
    for await (const change of client().changes({ resources: ['leads', 'eventLeads'] })) {
      // The compiler knows which fields there are.
      if (change.resource === 'leads') told.push(`${change.id} ${change.record?.firstName} ${change.remoteIds.length}`);
      else if (change.resource === 'eventLeads') told.push(`${change.leadId} ${change.record?.checkedIn}`);
      if (told.length === 2) break;
    }
    expect(told).toEqual([`${lead.id} ${lead.firstName} ${lead.remoteIds.length}`, `${lead.id} true`]);
  });

  it('have a cursor that stands behind a page only when the loop has come back from its last change', async () => {
    for (let n = 0; n < 5; n++) await newLead();
    const changes = client().changes({ resources: ['leads'], limit: 2 });
    const cursors: (string | undefined)[] = [];
    for await (const _ of changes) {
      void _;
      if (cursors.push(changes.cursor) === 5) break;
    }
    const [first, second, third, fourth, fifth] = cursors;
    expect([first, second]).toEqual([undefined, undefined]);
    expect(third).toEqual(expect.any(String));
    expect(fourth).toBe(third);
    expect(fifth).not.toBe(fourth);
    expect(changes.cursor).toBe(fifth);
  });

  it('are told until each was applied: a program that stores the cursor and dies anywhere misses none', async () => {
    for (let n = 0; n < 5; n++) await newLead();
    const stop = new AbortController();
    const copy = new Copy();
    let stored: string | undefined;
    let taken = 0;
    for (let isDone = false; !isDone;) {
      const changes = client({
        sleep: (_, signal) => {
          isDone = true;
          stop.abort(new Error('Enough'));
          return Promise.reject(signal?.reason as Error);
        },
      }).changes({ cursor: stored, limit: 2, signal: stop.signal });
      try {
        for await (const change of changes) {
          if (++taken % 4 === 0) break; // taken, and not applied
          copy.apply(change);
          stored = changes.cursor;
        }
      } catch (error) {
        expect(error).toEqual(new Error('Enough'));
      }
    }
    expect(taken).toBeGreaterThan(5);
    expect(Object.fromEntries(copy)).toEqual(Object.fromEntries(await listRecords(tenant.api)));
  });

  it('go on in another loop where the last one ended', async () => {
    const changes = client({ sleep: () => newLead().then(() => undefined) }).changes({ since: 'now', limit: 1 });
    const told: Change[] = [];
    for (let loop = 0; loop < 3; loop++) {
      for await (const change of changes) {
        told.push(change);
        if (told.length % 2 === 0) break;
      }
    }
    const ids = told.map((change) => nameOf(change).split(' ')[1]);
    const listed = (await tenant.api.all<{ id: string }>('/leads', 'leads')).map(({ id }) => id);
    expect([...new Set(ids)]).toEqual(listed.slice(0, 4));
    expect(ids).toHaveLength(6);
  });

  it('end with what to do when the cursor can no longer be used', async () => {
    const error = await errorOf(client().changes({ cursor: foreignCursor() }));
    expect(error).toBeInstanceOf(LanyardError);
    expect(error).toMatchObject({
      message: expect.stringMatching(/^The cursor can no longer be used: read anew, without a cursor, and .* remove /),
      status: 410,
      method: 'GET',
      path: '/api/v0/changes',
      attempts: 1,
      cause: expect.objectContaining({ text: 'Gone' }),
    });
  });

  it('end with the reason of their signal, also while they wait', async () => {
    const stop = new AbortController();
    const reason = new Error('Closing time');
    const sleep: LanyardOptions['sleep'] = (milliseconds, signal) => {
      setImmediate(() => stop.abort(reason));
      return sleepFor(milliseconds, signal);
    };
    const changes = client({ sleep }).changes({ since: 'now', signal: stop.signal, intervalMs: 600_000 });
    expect(await errorOf(changes)).toBe(reason);
  });
});
