import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createExhibitor } from '../support/builders';
import type { Tenant } from '../support/lanyard';
import { install, type Installation, type Outcome } from '../support/operator';

interface Lead extends Record<string, unknown> {
  id: string;
  phoneNumbers: { leadProvided: { number: string }[] };
  tags: { tagOptionId: string; value: string }[];
}

/** Two lists that count 1, 2, 3: of a badge scanner, and of a registration desk. */
const SCANNER =
  'ref,firstName,lastName,email,description\n1,Ada,Rowe,ada@example.com,Demo\n2,Ben,Ito,ben@example.com,\n';
const DESK = 'ref,firstName,lastName,email\n1,Eve,Vale,eve@example.com\n2,Kim,Sum,kim@example.com\n';

describe('who is who in files of several programs', () => {
  const folder = mkdtempSync(join(tmpdir(), 'lanyard-identities-'));
  let installation: Installation;
  let tenant: Tenant;
  beforeAll(async () => void (installation = await install()));
  afterAll(() => rmSync(folder, { recursive: true }));
  beforeEach(async () => void (tenant = await installation.server.tenant()));

  const run = (content: string, ...options: string[]): Promise<Outcome> => {
    const file = join(folder, 'desk.csv');
    writeFileSync(file, content);
    const args = ['import', file, '--organization', String(tenant.organizationId), '--csv', 'leads'];
    return installation.operator.run([...args, ...options]);
  };
  /** The counts of leads: created, updated, unchanged. */
  const counts = async (content: string, ...options: string[]): Promise<number[]> => {
    const { stdout, stderr } = await run(content, ...options);
    expect(stderr).toBe('');
    return [...(stdout.split('\n')[0] ?? '').matchAll(/(\d+) (?:created|updated|unchanged)/g)].map(([, count]) =>
      Number(count),
    );
  };
  const exported = async (): Promise<string> => {
    const args = ['export', '--organization', String(tenant.organizationId), '--csv', 'leads'];
    return (await installation.operator.run(args)).stdout;
  };
  const leads = (): Promise<Lead[]> => tenant.api.all<Lead>('/leads', 'leads');
  const names = async (): Promise<unknown[]> => (await leads()).map(({ firstName }) => firstName);

  it('does not turn one person into another, and names both', async () => {
    expect(await counts(SCANNER)).toEqual([2, 0, 0]);
    const { status, stderr } = await run(DESK);
    expect(status).toBe(1);
    expect(stderr.split('\n')[0]).toBe(
      'line 2 and 1 more, column "ref": "1" is Ada Rowe in Lanyard, but Eve Vale in this file. Add --source NAME if the IDs are those of another program or list, which creates new leads, or --overwrite if this is the same person, which changes the leads.',
    );
    expect(await names()).toEqual(['Ada', 'Ben']);
  });

  it('keeps two sources apart, and finds their people again', async () => {
    await counts(SCANNER);
    expect(await counts(DESK, '--source', 'desk')).toEqual([2, 0, 0]);
    expect(await counts(DESK, '--source', 'desk')).toEqual([0, 0, 2]);
    expect(await counts(SCANNER)).toEqual([0, 0, 2]);
    expect(await names()).toEqual(['Ada', 'Ben', 'Eve', 'Kim']);
    const byColumn = 'ref,source,firstName\n1,desk,Eve\n1,,Ada\n';
    expect(await counts(byColumn)).toEqual([0, 0, 2]);
  });

  it('changes the person with --overwrite, and where an address is shared', async () => {
    await counts(SCANNER);
    expect(await counts('ref,firstName,lastName,email\n1,Ada,Vale,ada@example.com\n')).toEqual([0, 1, 0]);
    expect(await counts(DESK, '--overwrite')).toEqual([0, 2, 0]);
    expect(await names()).toEqual(['Eve', 'Kim']);
  });

  it('exports what leads were imported by, and reads it back', async () => {
    await counts(SCANNER);
    await counts(DESK, '--source', 'desk');
    const csv = await exported();
    const [header = '', first = ''] = csv.split('\n');
    const cells = Object.fromEntries(header.split(',').map((name, index) => [name, first.split(',')[index]]));
    expect(cells).toMatchObject({ ref: '1', source: '' });
    expect(csv).toMatch(/,1,desk,|,desk,/);
    expect(await counts(csv)).toEqual([0, 0, 4]);
    expect(await exported()).toBe(csv);
  });

  it('keeps the ids of a CRM, and finds its people by them', async () => {
    const hubspot = (title: string) => `remoteIds.HUB_SPOT,firstName,lastName,jobTitle\n151,Ada,Rowe,${title}\n`;
    expect(await counts(hubspot('Buyer'), '--match', 'remoteId')).toEqual([1, 0, 0]);
    expect(await counts(hubspot('Head'), '--match', 'remoteId')).toEqual([0, 1, 0]);
    expect(await leads()).toMatchObject([
      { jobTitle: 'Head', remoteIds: [{ id: '151', integrationType: 'HUB_SPOT' }] },
    ]);
    await counts('ref,firstName,remoteIds.ZOHO,remoteIds.PARDOT\n7,Zoë,z-7,p-7\n');
    expect(await counts(await exported())).toEqual([0, 0, 2]);
    expect((await run('remoteIds.ZOHO,remoteIds.PARDOT\nz,p\n', '--match', 'remoteId')).stderr).toContain(
      '--match remoteId needs exactly one of these columns',
    );
    expect((await run('email\na@b.co\n', '--match', 'remoteId')).stderr).toContain('but the file has none.');
  });

  it('finds a person by either form of a Salesforce ID', async () => {
    const [short, long] = ['0035g00000AbCdE', '0035g00000AbCdEAAV'];
    const entry = (id: string) => ({
      firstName: 'Ada',
      lastName: 'Rowe',
      email: 'ada@example.com',
      companyName: 'Cobalt Systems',
      createdByEmail: 'nora@example.com',
      phoneNumbers: [],
      remoteId: { id, integrationType: 'SALES_FORCE' },
    });
    const batch = (...ids: string[]) =>
      tenant.api.post('/leads/batch').send({ matchBy: 'remoteId', leads: ids.map(entry) });
    await batch(long).expect(200);
    await batch(short, long).expect(400);
    const csv = (...ids: string[]) => `remoteIds.SALES_FORCE,firstName\n${ids.map((id) => `${id},Ada\n`).join('')}`;
    expect(await counts(csv(long), '--match', 'remoteId')).toEqual([0, 0, 1]);
    expect(await counts(csv(short), '--match', 'remoteId')).toEqual([0, 1, 0]);
    expect((await run(csv(short, long), '--match', 'remoteId')).stderr).toContain('Duplicate of line 2.');
    expect(await leads()).toMatchObject([{ remoteIds: [{ id: short, integrationType: 'SALES_FORCE' }] }]);
    for (const id of [short, long]) {
      const { body } = await tenant.api.get(`/leads?remoteId=${id}&integrationType=SALES_FORCE`).expect(200);
      expect((body as { results: { leads: object[] } }).results.leads).toHaveLength(1);
    }
    await batch('0035g00000abcde').expect(200);
    expect(await leads()).toHaveLength(2);
  });

  it('joins rows of one key: notes, phone numbers and scans', async () => {
    const content =
      'email,description,phone,tags\na@example.com,Demo,1,\nA@example.com,Quote,2,Hot\na@example.com,Demo,1,Cold;Hot\nb@example.com,,3,\n';
    const options = ['--match', 'email', '--repeated', 'merge', '--create-tags', 'Interest'];
    const { stdout } = await run(content, ...options);
    expect(stdout).toMatch(
      /^Imported 2 leads: 2 created, 0 updated, 0 unchanged\.\n2 rows: joined with the first row of the same key\.\nImport ID: /,
    );
    const [ada] = await leads();
    expect(ada).toMatchObject({ email: 'a@example.com', description: 'Demo\nQuote', numberOfScans: 3 });
    expect(ada?.phoneNumbers.leadProvided).toMatchObject([
      { number: '1', preferred: true },
      { number: '2', preferred: false },
    ]);
    expect(ada?.tags.map(({ value }) => value).sort()).toEqual(['Cold', 'Hot']);
    expect(await counts(content, ...options)).toEqual([0, 0, 2]);
    expect((await run(content, ...options.slice(0, 2), '--repeated', 'last')).stdout).toContain(
      '2 rows: not kept, as another row has the same key.',
    );
  });

  it('creates the tag options that are missing, once, in a group of the name', async () => {
    const content = 'email,tags\na@example.com,"Hot,Harbour"\nb@example.com,hot|Pumps\nc@example.com,"""A; B""; Hot"\n';
    const { stderr } = await run(content);
    expect(stderr).toMatch(/^line 2 and 2 more, column "tags": No tag option is called "Hot"\./);
    expect(stderr).toContain('--create-tags GROUP');
    expect(await counts(content, '--dry-run', '--create-tags', 'Interest')).toEqual([3, 0, 0]);
    expect(await counts(content, '--create-tags', 'Interest')).toEqual([3, 0, 0]);
    expect((await leads()).map(({ tags }) => tags.map(({ value }) => value).sort())).toEqual([
      ['Harbour', 'Hot'],
      ['Hot', 'Pumps'],
      ['A; B', 'Hot'],
    ]);
    expect(await counts(content, '--create-tags', 'Interest', '--match', 'email')).toEqual([0, 0, 3]);
    const groups = await tenant.api.all<{ name: string; tagOptions: object[] }>('/tagGroups', 'tagGroups');
    expect(groups.map(({ name, tagOptions }) => [name, tagOptions.length])).toEqual([['Interest', 4]]);
  });

  it('sets the flags of an event by columns and by options', async () => {
    const { users, event, tagGroup } = createExhibitor();
    await tenant.import({ users, tagGroups: [tagGroup], events: [event] });
    const [{ id } = { id: 0 }] = await tenant.api.all<{ id: number }>('/events', 'events');
    const flags = async () => {
      const { eventLeads } = (await tenant.api.get(`/events/${id}/leads`).expect(200)).body.results as {
        eventLeads: { registered: boolean; checkedIn: boolean }[];
      };
      return eventLeads.map(({ registered, checkedIn }) => [registered, checkedIn]);
    };
    const tickets = 'ref,email,registered,checkedIn\n1,a@example.com,yes,\n2,b@example.com,yes,yes\n';
    expect((await run(tickets)).stderr).toContain('"yes" needs an event, and this row names none.');
    await counts(tickets, '--event', event.ref);
    expect(await flags()).toEqual([
      [true, false],
      [true, true],
    ]);
    expect(await counts('ref,checkedIn\n1,2026-05-04 09:12\n', '--event', event.ref)).toEqual([0, 1, 0]);
    expect(await flags()).toEqual([
      [true, true],
      [true, true],
    ]);
    await counts('ref\n3\n', '--event', event.ref, '--registered', '--checked-in');
    expect((await flags()).at(-1)).toEqual([true, true]);
  });

  it('exports lists without JSON, and reads them back', async () => {
    const { users, event, tagGroup } = createExhibitor();
    const options = ['A; B', 'A, B', 'x|y', '"quoted"', '[1]', ' blank ', 'Plain'].map((value, displayOrder) => ({
      id: `7c9e0000-0000-4000-8000-00000000010${displayOrder}`,
      displayOrder,
      value,
    }));
    const numbers = ['1;2', '020 12345, 020 54321', "'5", '4E+11', '"6"', '[7]', '8'];
    const leadProvided = numbers.map((number, index) => ({ number, type: 'UNKNOWN', preferred: index === 0 }));
    await tenant.import({
      users,
      events: [{ ...event, name: 'Expo; Hall 1' }],
      tagGroups: [{ ...tagGroup, tagOptions: options }],
      leads: [
        {
          id: '7c9e0000-0000-4000-8000-0000000000aa',
          phoneNumbers: { leadProvided, serviceProvided: [] },
          tags: options.map(({ id: tagOptionId }) => ({ tagOptionId })),
          events: [{ event: event.ref }],
        },
      ],
    });
    const before = await leads();
    const csv = await exported();
    expect(csv).not.toMatch(/[[{]""/);
    expect(csv).not.toContain('Expo; Hall 1');
    expect(await counts(csv)).toEqual([0, 0, 1]);
    expect(await leads()).toEqual(before);
  });
});
