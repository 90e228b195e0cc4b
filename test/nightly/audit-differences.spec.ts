import { isDeepStrictEqual } from 'node:util';
import { query } from '../../src/testing/test-database';
import { Random } from '../prove/support/random';
import { createExhibitor, eventInput, industryEventInput, leadInput } from '../support/builders';
import type { ApiClient } from '../support/client';
import type { Tenant } from '../support/lanyard';
import { type Installation, install } from '../support/operator';
import { listRecords } from '../support/replica';

interface Entry {
  keyId: string | null;
  operation: string;
  resource: string;
  id: string | number | Record<string, string | number> | null;
  change: 'created' | 'updated' | 'deleted';
}

type Records = Map<string, unknown>;

/** What a step did, as the audit log is to name it; undefined for a step that need not write. */
interface Step {
  operation: string;
  keyId: string | null;
}

const STEPS = 40;
/** Entries about the organization as a whole are of no list. */
const ADMINISTRATION = ['imports', 'exports', 'erasures', 'keys', 'organizations'];
const EMAILS = ['ada@example.com', 'ben@example.com', 'cleo@example.com'];

const nameOf = ({ resource, id }: Entry): string =>
  `${resource} ${id !== null && typeof id === 'object' ? Object.values(id).join(' ') : id}`;

/** The records of all lists, the catalog and the bookmarks too. */
async function listAll(api: ApiClient): Promise<Records> {
  const records = await listRecords(api);
  const catalog = await api.all<{ id: string }>('/industryEvents', 'industryEvents');
  for (const record of catalog) records.set(`industryEvents ${record.id}`, record);
  const { body } = await api.get('/industryEvents/bookmarks').expect(200);
  for (const { id } of (body.results as { industryEvents: { id: string }[] }).industryEvents)
    records.set(`industryEventBookmarks ${id}`, true);
  return records;
}

/** Whether an entry says what happened to a record, or that something was deleted with which it went or which it showed. */
function explains(entry: Entry, name: string, before: unknown, after: unknown): boolean {
  const isOf = nameOf(entry) === name;
  if (before === undefined) return isOf && entry.change === 'created';
  if (entry.change === 'deleted') {
    return isOf ? after === undefined : `${name} ${JSON.stringify(before)}`.includes(String(entry.id));
  }
  return isOf && after !== undefined && entry.change === 'updated';
}

class Walk {
  private readonly clients: { api: ApiClient; keyId: string; scope: 'all' | 'capture' }[];
  constructor(
    private readonly random: Random,
    private readonly installation: Installation,
    private readonly tenant: Tenant,
    keys: { api: ApiClient; id: string; scope: 'all' | 'capture' }[],
  ) {
    this.clients = keys.map(({ id, ...rest }) => ({ ...rest, keyId: id }));
  }

  private idsOf(records: Records, resource: string): string[] {
    return [...records.keys()].flatMap((name) =>
      name.startsWith(`${resource} `) ? [name.slice(resource.length + 1)] : [],
    );
  }

  /** Does something, and says what the log is to have of it. */
  async step(records: Records): Promise<Step> {
    const { random } = this;
    return random.below(6) === 0 ? this.command(records) : this.request(records);
  }

  private async request(records: Records): Promise<Step> {
    const { random } = this;
    const lead = random.pick([...this.idsOf(records, 'leads'), '01980000-0000-7000-8000-000000000000']);
    const event = random.pick([...this.idsOf(records, 'events'), '1']);
    const industryEvent = random.pick([
      ...this.idsOf(records, 'industryEvents'),
      '01980000-0000-7000-8000-000000000000',
    ]);
    const { api, keyId } = random.pick(this.clients);
    const jobTitle = random.pick(['Buyer', 'Owner', null]);
    const email = random.pick(EMAILS);
    const flags = { registered: random.below(2) === 0, checkedIn: random.below(2) === 0 };
    const [operation, send] = random.pick<[string, () => PromiseLike<{ status: number }>]>([
      ['createLead', () => api.post('/leads', leadInput({ email, jobTitle }))],
      ['createLead', () => api.post('/leads', leadInput()).set('Prefer', 'tx=rollback')],
      ['patchLead', () => api.patch(`/leads/${lead}`, { jobTitle })],
      ['patchLead', () => api.patch(`/leads/${lead}`, { firstName: '' })],
      ['deleteLead', () => api.delete(`/leads/${lead}`)],
      ['upsertLeads', () => api.post('/leads/batch', { matchBy: 'email', leads: [leadInput({ email, jobTitle })] })],
      ['createEvent', () => api.post('/events', eventInput())],
      ['replaceEvent', () => api.put(`/events/${event}`, eventInput({ eventName: random.pick(['Expo', 'Fair']) }))],
      ['deleteEvent', () => api.delete(`/events/${event}`)],
      ['associateEventLeads', () => api.put(`/events/${event}/leads`, { eventLeads: [{ leadId: lead, ...flags }] })],
      ['dissociateEventLead', () => api.delete(`/events/${event}/leads/${lead}`)],
      ['createIndustryEvent', () => api.post('/industryEvents', industryEventInput())],
      [
        'updateIndustryEvent',
        () => api.put(`/industryEvents/${industryEvent}`, { venueCity: random.pick(['Kobe', 'Cork']) }),
      ],
      ['bookmarkIndustryEvent', () => api.post(`/industryEvents/${industryEvent}/bookmark`)],
      ['removeIndustryEventBookmark', () => api.delete(`/industryEvents/${industryEvent}/bookmark`)],
    ]);
    await send();
    return { operation, keyId };
  }

  private async command(records: Records): Promise<Step> {
    const { random, installation, tenant } = this;
    const { operator, database } = installation;
    const of = ['--organization', String(tenant.organizationId)];
    const byCommand = (operation: string): Step => ({ operation, keyId: null });
    switch (random.below(5)) {
      case 0:
        await operator.json(['import', '-', ...of], JSON.stringify(createExhibitor().dataset));
        return byCommand('import');
      case 1: {
        // All of it again, with other names of tags, activations and people.
        const dataset = await operator.json<Record<string, { name?: string; jobTitle?: string }[]>>(['export', ...of]);
        for (const activation of dataset.activations ?? []) activation.name = random.pick(['Booth 12', 'Booth 13']);
        for (const lead of dataset.leads ?? []) lead.jobTitle = random.pick(['Buyer', lead.jobTitle ?? 'Owner']);
        await operator.json(['import', '-', ...of], JSON.stringify(dataset));
        return byCommand('import');
      }
      case 2: {
        const rows = `firstName,lastName,company.name,email\nCleo,Marsh,Flint,${random.pick(EMAILS)}\n`;
        await operator.run(['import', '-', ...of, '--csv', 'leads', '--match', 'email', '--json'], rows);
        return byCommand('import');
      }
      case 3:
        await operator.run([
          'persons',
          'erase',
          ...of,
          '--lead',
          random.pick(this.idsOf(records, 'leads')),
          '--yes',
          '1',
        ]);
        return byCommand('persons erase');
      default: {
        const [id] = this.idsOf(records, 'leads');
        await query(database.url, `update leads set address = address || '.' where id = '${id}'`);
        return byCommand('sql');
      }
    }
  }
}

describe('the audit log of random requests, imports, commands and SQL', () => {
  let installation: Installation;
  beforeAll(async () => void (installation = await install()));

  it.each([1, 2])(
    'explains each difference between an old copy and the lists, and has nothing else (seed %i)',
    async (seed) => {
      const tenant = await installation.server.tenant();
      await tenant.import(createExhibitor().dataset);
      const limits = { maxTokens: 1_000_000, refillRate: 1_000_000 };
      const issue = async (scope: 'all' | 'capture') => ({ ...(await tenant.issueKey({ ...limits, scope })), scope });
      const keys = [{ ...tenant, id: tenant.keyId, scope: 'all' as const }, await issue('all'), await issue('capture')];
      const walk = new Walk(new Random(seed), installation, tenant, keys);
      const read = async (): Promise<Entry[]> => {
        const args = ['audit', '--organization', String(tenant.organizationId)];
        const entries = await installation.operator.json<Entry[]>(args);
        return entries.filter(({ resource }) => !ADMINISTRATION.includes(resource));
      };
      let before = await listAll(tenant.api);
      let known = (await read()).length;
      const wrong: unknown[] = [];
      for (let n = 0; n < STEPS; n++) {
        const step = await walk.step(before);
        const [after, all] = [await listAll(tenant.api), await read()];
        const entries = all.slice(known);
        known = all.length;
        const names = [...new Set([...before.keys(), ...after.keys()])];
        const changed = names.filter((name) => !isDeepStrictEqual(before.get(name), after.get(name)));
        for (const name of changed) {
          if (!entries.some((entry) => explains(entry, name, before.get(name), after.get(name))))
            wrong.push({ n, step, unexplained: name, entries });
        }
        for (const entry of entries) {
          const { operation, keyId } = entry;
          if (!changed.includes(nameOf(entry))) wrong.push({ n, step, nothingChanged: entry });
          if (!isDeepStrictEqual({ operation, keyId }, step)) wrong.push({ n, step, wrongActor: entry });
        }
        before = after;
      }
      expect(wrong).toEqual([]);
    },
    120_000,
  );
});
