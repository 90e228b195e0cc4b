import { install, Installation } from '../support/operator';

interface Dataset {
  users: { email: string }[];
  tagGroups: { tagOptions: object[] }[];
  events: { ref: string; startDate: string }[];
  activations: object[];
  leads: Lead[];
  leadActivityEvents: { id: string; createdAt: string; associatedLead: string }[];
}

interface Lead {
  id: string;
  createdAt: string;
  email: string | null;
  phoneNumbers: { leadProvided: { number: string }[] };
  tags: object[];
  events: { checkedIn: boolean }[];
}

describe('operator seed', () => {
  let installation: Installation;
  beforeAll(async () => void (installation = await install()));

  const organization = async (): Promise<string> => String((await installation.server.tenant()).organizationId);
  const seed = (id: string, ...options: string[]): Promise<object> =>
    installation.operator.json(['seed', '--organization', id, ...options]);
  const exported = async (id: string): Promise<Dataset> => {
    const { industryEvents: _, ...own } = await installation.operator.json<Dataset & { industryEvents: object[] }>([
      'export',
      '--organization',
      id,
    ]);
    return own;
  };
  /** What was invented, without the ids that make two organizations two, and order what has the same moment. */
  const nameless = (data: Dataset): string[] =>
    Object.values(data)
      .flat()
      .map((record) => JSON.stringify(record).replace(/[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/g, 'uuid'))
      .sort();

  it('creates records in proportion, with people who cannot be reached', async () => {
    const id = await organization();
    const counts = { users: 3, tagGroups: 2, events: 6, activations: 6, leads: 1050, leadActivityEvents: 840 };
    expect(await seed(id, '--leads', '1050')).toMatchObject({ imported: { ...counts, industryEvents: 0 } });

    const { leads, leadActivityEvents, events, users } = await exported(id);
    const addresses = [...leads, ...users].flatMap(({ email }) => email ?? []);
    expect(addresses.filter((address) => !/\.example(\.com)?$/.test(address))).toEqual([]);
    const numbers = leads.flatMap(({ phoneNumbers }) => phoneNumbers.leadProvided).map(({ number }) => number);
    expect(numbers.filter((number) => !/^\+44 20 7946 0\d{3}$/.test(number))).toEqual([]);
    expect(leads.filter(({ email }) => email !== null).length / leads.length).toBeCloseTo(0.9);
    expect(leads.every(({ tags }) => tags.length > 0)).toBe(true);
    expect(leads.every((lead) => lead.events.some(({ checkedIn }) => checkedIn))).toBe(true);
    const created = new Map(leads.map((lead) => [lead.id, lead.createdAt]));
    const [first = '', last = ''] = [...created.values()].sort().filter((_, at) => at === 0 || at === leads.length - 1);
    expect(first > '2023-06-30' && last < '2026-07-01').toBe(true);
    expect(events.some(({ startDate }) => startDate > '2026-06-30')).toBe(true);
    const early = leadActivityEvents.filter((done) => done.createdAt < (created.get(done.associatedLead) ?? ''));
    expect(early).toEqual([]);
    expect(await installation.operator.run(['check'])).toMatchObject({ status: 0 });
  });

  const seeded = async (): Promise<Dataset> => {
    const id = await organization();
    await seed(id, '--leads', '60');
    return exported(id);
  };

  it('creates the same data for the same options', async () => {
    const [one, same] = [await seeded(), await seeded()].map(nameless);
    expect(same).toEqual(one);
  }, 60_000);

  it('can create no leads at all, and reports what it created', async () => {
    const args = ['seed', '--organization', await organization(), '--leads', '0'];
    const stdout = /^importId +[\da-f-]{36}\nimported +users 3, tagGroups 2, events 3, activations 3, leads 0, .*\n$/;
    const done = { status: 0, stdout: expect.stringMatching(stdout) as string, stderr: '' };
    expect(await installation.operator.run(args)).toEqual(done);
    const missing = await installation.operator.run(['seed', '--organization', '999999']);
    expect(missing).toEqual({
      status: 1,
      stdout: '',
      stderr: 'Organization 999999 does not exist. Run "organizations list" for the IDs.\n',
    });
  });
});
