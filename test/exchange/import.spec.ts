import { randomUUID } from 'node:crypto';
import { DataSource } from 'typeorm';
import { wholeRecords } from '../../src/exchange/datasets/read-json';
import { ImportService } from '../../src/exchange/datasets/import.service';
import { query } from '../../src/testing/test-database';
import { asOperator } from '../support/database';
import { install, Installation } from '../support/operator';
import { DATASETS } from '../support/contexts';

const tagOption = (value: string, displayOrder: number) => ({ id: randomUUID(), displayOrder, value });

/** An import writes a batch of a thousand records while it reads the next one. */
describe('an import of several batches', () => {
  let installation: Installation;
  let organizationId: number;
  const group = { id: randomUUID(), name: 'Interest', tagOptions: ['a', 'b', 'c'].map(tagOption) };
  const [one = '', two = ''] = group.tagOptions.map(({ id }) => id);

  beforeAll(async () => void (installation = await install()));
  beforeEach(async () => {
    await query(installation.database.url, 'delete from industry_events; delete from leads; delete from tag_groups');
    organizationId = (await installation.server.tenant()).organizationId;
  });

  const line = (section: string, record: object): string => `${JSON.stringify({ section, record })}\n`;
  const leadLine = (lead: object): string => line('leads', lead);
  const importing = (input: string) =>
    installation.operator.run(['import', '-', '--organization', String(organizationId), '--json'], input);
  const stored = (): Promise<Record<string, unknown>[]> =>
    query(
      installation.database.url,
      `select id, first_name as "firstName", xmin::text as version, array(select tag_option_id from lead_tags t
        where t.lead_id = leads.id order by position)::text[] as tags from leads order by created_at, id`,
    );

  it('reports an error in any batch by its line, and stores nothing', async () => {
    const leads = manyLeads(1500, [one]);
    leads[10] = { ...leads[10], tags: [{ tagOptionId: randomUUID() }] } as (typeof leads)[number];
    const { status, stderr } = await importing(line('tagGroups', group) + leads.map(leadLine).join(''));
    expect({ status, stderr }).toEqual({
      status: 1,
      stderr: expect.stringContaining('line 12: leads[10].tags[0].tagOptionId: ') as string,
    });
    expect(await stored()).toEqual([]);
  });

  it('reports errors of one kind in one field in one line, with its first place', async () => {
    const leads = ['x', 'y', 'z'].map((email) => ({ id: randomUUID(), email }));
    const expected = '"x" is not a valid email. Use an address such as name@example.com.\n';
    expect((await importing(leads.map(leadLine).join(''))).stderr).toBe(
      `line 1 and 2 more: leads[0].email: ${expected}`,
    );
    expect((await importing(JSON.stringify({ leads }))).stderr).toBe(`leads[0].email and 2 more: ${expected}`);
  });

  it('rejects a duplicate record or entry, with its position', async () => {
    const user = line('users', { email: 'ada@lead.example' });
    const lead = { id: randomUUID() };
    const tags = [one, one].map((tagOptionId) => ({ tagOptionId }));
    for (const [input, fault] of [
      [user + user, 'line 2: users[1].email: Duplicate of line 1.'],
      [
        manyLeads(1500, [])
          .concat(lead as never, lead as never)
          .map(leadLine)
          .join(''),
        'line 1502: leads[1501].id: ',
      ],
      [
        line('tagGroups', group) + leadLine({ ...lead, tags }),
        `line 2: leads[0].tags[1].tagOptionId: "${one}" is in the list twice.`,
      ],
    ] as const) {
      expect(await importing(input)).toMatchObject({ status: 1, stderr: expect.stringContaining(fault) as string });
    }
  });

  it('changes only what differs where new and stored records are mixed', async () => {
    const leads = manyLeads(1200, [one, two]);
    const old = leads.filter((_, index) => index % 2 === 0);
    await importing(line('tagGroups', group) + old.map(leadLine).join(''));
    const before = new Map((await stored()).map((lead) => [lead.id, lead]));
    const changed = { ...leads[0], firstName: 'Changed', tags: [] };
    expect(await importing([changed, ...leads.slice(1)].map(leadLine).join(''))).toMatchObject({ status: 0 });
    const after = await stored();
    expect(after).toHaveLength(1200);
    expect(after[0]).toMatchObject({ firstName: 'Changed', tags: [] });
    for (const lead of after.filter(({ id }) => before.has(id) && id !== changed.id)) {
      expect(lead).toEqual(before.get(lead.id));
    }
  });

  it('of catalog records does not deadlock with one of another organization in another order', async () => {
    const [first, second] = Array.from({ length: 2 }, (_, batch) =>
      Array.from({ length: 1000 }, (_, n) => ({ name: `Expo ${n}`, eventUrl: `https://expo.example/${batch}/${n}` })),
    ) as [object[], object[]];
    const operator = await asOperator(installation.database.url);
    const service = new ImportService(operator, DATASETS);
    function* records(batches: object[][]) {
      for (const record of batches.flat()) yield { section: 'industryEvents' as const, record };
    }
    const catalog = (batches: object[][]) => wholeRecords(DATASETS, () => records(batches));
    const other = (await installation.server.tenant()).organizationId;
    await Promise.all([
      service.importRecords(organizationId, catalog([first, second])),
      service.importRecords(other, catalog([second, first])),
    ]);
    const [row] = await query(installation.database.url, 'select count(*)::integer from industry_events');
    expect(row?.count).toBe(2000);
  });

  it('has the same result twice at the same time as one after the other', async () => {
    const input = line('tagGroups', group) + manyLeads(1500, [one]).map(leadLine).join('');
    const args = ['import', '-', '--organization', String(organizationId)];
    const { operator } = installation;
    const outcomes = await Promise.all([operator.spawn(args, input), operator.spawn(args, input)]);
    expect(outcomes.map(({ status, stderr }) => ({ status, stderr }))).toEqual([
      { status: 0, stderr: '' },
      { status: 0, stderr: '' },
    ]);
    expect(await stored()).toHaveLength(1500);
  });

  describe('that the database rejects', () => {
    const RULES = `
      alter table leads add constraint leads_title_check check (job_title <> 'Intern');
      create function only_one_ada() returns trigger language plpgsql as $$ begin
        if new.first_name = 'Ada' then raise exception 'There is only one Ada' using errcode = 'check_violation'; end if;
        return new;
      end $$;
      create trigger u_only_one_ada before insert on leads for each row execute function only_one_ada();`;
    const NO_RULES = 'drop function only_one_ada cascade; alter table leads drop constraint leads_title_check';
    beforeAll(() => query(installation.database.url, RULES));
    afterAll(() => query(installation.database.url, NO_RULES));

    it.each([
      [
        { jobTitle: 'Intern' },
        'line 1: leads[0].jobTitle: The constraint leads_title_check rejects "Intern".',
        {
          line: 1,
          path: 'leads[0].jobTitle',
          value: 'Intern',
          expected: 'a record that the constraint leads_title_check accepts',
        },
      ],
      [
        { firstName: 'Ada' },
        'Database error: There is only one Ada',
        { expected: 'Database error: There is only one Ada' },
      ],
    ])('is an error in its JSON, too: %j', async (lead, message, issue) => {
      const { status, stdout, stderr } = await importing(leadLine({ id: randomUUID(), ...lead }));
      expect({ status, stderr }).toEqual({ status: 1, stderr: `${message}\n` });
      const error = { line: null, column: null, path: null, value: null, ...issue };
      expect(JSON.parse(stdout)).toEqual({ errors: [error], more: 0 });

      const csv = `${Object.keys(lead)[0]},email\n${Object.values(lead)[0]},rowe@example.com\n`;
      const args = ['import', '-', '--organization', String(organizationId), '--csv', 'leads', '--json'];
      const ofCsv = await installation.operator.run(args, csv);
      expect({ ...ofCsv, stdout: JSON.parse(ofCsv.stdout) as unknown }).toEqual({
        status: 1,
        stdout: {
          errors: ['path' in issue ? { ...error, line: 2, column: 'jobTitle', path: 'jobTitle' } : error],
          more: 0,
        },
        stderr: expect.stringContaining(message.replace(/^.*: (?=The constraint)/, '')) as string,
      });
    });
  });
});

const manyLeads = (count: number, tags: string[]) =>
  Array.from({ length: count }, (_, index) => ({
    id: randomUUID(),
    createdAt: new Date(Date.UTC(2026, 0, 1) + index * 1000).toISOString(),
    firstName: 'Ada',
    tags: tags.map((tagOptionId) => ({ tagOptionId })),
  }));

interface Given {
  id?: string;
  name: string;
  eventUrl?: string | null;
  keywords?: string[];
  createdAt?: string;
  updatedAt?: string;
  isBookmarked?: boolean;
}

const idOf = (n: number): string => `00000000-0000-4000-8000-${String(n).padStart(12, '0')}`;
const [A, B] = [1, 2].map(idOf) as [string, string];
const [U, V, W] = ['u', 'v', 'w'].map((path) => `https://expo.example/${path}`) as [string, string, string];
const [FIRST, SECOND] = ['2020-01-01T00:00:00.000Z', '2020-02-02T00:00:00.000Z'] as [string, string];

/** So many that what stands before them and what stands after are written apart. */
const OTHERS = Array.from({ length: 1000 }, (_, n): Given => ({ id: idOf(1000 + n), name: `Other ${n}` }));

describe('industry events of a dataset', () => {
  let installation: Installation;
  let organizationId: number;
  let imports: ImportService;

  beforeAll(async () => {
    installation = await install();
    imports = new ImportService(installation.server.app.get(DataSource), DATASETS);
    organizationId = (await installation.server.tenant()).organizationId;
  });
  beforeEach(() => query(installation.database.url, 'delete from industry_events'));

  const importing = (...industryEvents: Given[]) => imports.import(organizationId, { industryEvents });

  /** What is stored of those that are no OTHERS; moments of now, and ids that nobody gave, are null. */
  const stored = (): Promise<Record<string, unknown>[]> =>
    query(
      installation.database.url,
      `select e.id, name, event_url as url, created_at as created, updated_at as updated, b is not null as bookmarked
        from (
          select case when id::text like '00000000%' then id end as id, id as is, name, event_url,
            case when created_at < '2025-01-01' then created_at::date::text end as created_at,
            case when updated_at < '2025-01-01' then updated_at::date::text end as updated_at
          from industry_events where name not like 'Other %'
        ) e left join industry_event_bookmarks b on b.industry_event_id = e.is
        order by name, url, e.id, created`,
    );

  it('with the same eventUrl keep the first record and the last bookmark', async () => {
    const records = [
      { id: A, name: 'Expo', eventUrl: U, createdAt: FIRST, isBookmarked: false },
      { id: B, name: 'Fair', eventUrl: U },
      { name: 'Fair', eventUrl: U, createdAt: SECOND, isBookmarked: true },
    ];
    for (let times = 0; times < 2; times++) {
      await importing(...records);
      expect(await stored()).toMatchObject([{ id: A, name: 'Expo', url: U, created: '2020-01-01', bookmarked: true }]);
    }
    await importing({ name: 'Expo', eventUrl: U, isBookmarked: false });
    expect(await stored()).toMatchObject([{ id: A, bookmarked: false }]);
  });

  it('are rejected if an id occurs twice in the file', async () => {
    await expect(importing({ id: A, name: 'Expo' }, { id: A, name: 'Fair' })).rejects.toThrow(
      'industryEvents[1].id: Duplicate of industryEvents[0].',
    );
  });

  it.each<[string, number, Given[]]>([
    [
      'brings what one before it brings',
      1,
      [
        { id: A, name: 'Expo', eventUrl: W },
        { id: B, name: 'Fair', eventUrl: W },
      ],
    ],
    ['brings what another one keeps', 0, [{ id: A, name: 'Expo', eventUrl: V }]],
    [
      'brings what a new one before it brings',
      1,
      [
        { name: 'New', eventUrl: W },
        { id: A, name: 'Expo', eventUrl: W },
      ],
    ],
  ])('name the one whose eventUrl another one has where it %s', async (_, index, records) => {
    await importing({ id: A, name: 'Expo', eventUrl: U }, { id: B, name: 'Fair', eventUrl: V });
    const before = await stored();
    await expect(importing(...records)).rejects.toThrow(
      new RegExp(`^industryEvents\\[${index}\\].eventUrl: "[^"]*" is the eventUrl of another record\\.$`),
    );
    expect(await stored()).toEqual(before);
  });

  describe('can take over eventUrls of each other, however far apart they are:', () => {
    const urls = async (): Promise<Record<string, unknown>> =>
      Object.fromEntries((await stored()).map(({ id, url }) => [String(id), url]));

    beforeEach(() => importing({ id: A, name: 'Expo', eventUrl: U }, { id: B, name: 'Fair', eventUrl: V }));

    it('two records exchange theirs', async () => {
      await importing({ id: A, name: 'Expo', eventUrl: V }, ...OTHERS, { id: B, name: 'Fair', eventUrl: U });
      expect(await urls()).toEqual({ [A]: V, [B]: U });
    });

    it('a new record takes over that of a record that gives it up', async () => {
      const fresh = { id: idOf(3), name: 'New', eventUrl: U };
      await importing(fresh, ...OTHERS, { id: A, name: 'Expo', eventUrl: W });
      expect(await urls()).toEqual({ [A]: W, [B]: V, [fresh.id]: U });
    });
  });
});
