import { Client } from 'pg';
import { DataSource } from 'typeorm';
import { ImportFault } from '../../src/cli/import/import-fault';
import { ImportService } from '../../src/cli/import/import.service';
import { lockWaits, query, until } from '../support/embedded-fixtures';
import { install, Installation, remove } from '../support/operator';

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
    imports = new ImportService(installation.server.app.get(DataSource).manager);
    organizationId = (await installation.server.tenant()).organizationId;
  });
  afterAll(() => remove(installation));
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

  it('of one eventUrl are the first of them, and the last bookmark counts', async () => {
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

  it('are refused where an id stands in the file twice', async () => {
    await expect(importing({ id: A, name: 'Expo' }, { id: A, name: 'Fair' })).rejects.toThrow(
      new ImportFault('industryEvents[1].id: is in the file twice'),
    );
  });

  it('keep the moments and bookmarks that a record leaves out, and their updatedAt where nothing differs', async () => {
    await importing({ id: A, name: 'Expo', createdAt: FIRST, updatedAt: FIRST, isBookmarked: true });
    const before = await stored();
    await importing({ id: A, name: 'Expo' });
    expect(await stored()).toEqual(before);
    await importing({ id: A, name: 'Fair' });
    expect(await stored()).toMatchObject([
      { id: A, name: 'Fair', created: '2020-01-01', updated: null, bookmarked: true },
    ]);
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
      new ImportFault(`industryEvents[${index}].eventUrl: another record has it`),
    );
    expect(await stored()).toEqual(before);
  });

  it('that say what several stored ones say are the first of them that came', async () => {
    const alike = [
      { id: idOf(4), name: 'Expo', createdAt: SECOND },
      { id: idOf(6), name: 'Expo', createdAt: FIRST },
      { id: idOf(5), name: 'Expo', createdAt: FIRST },
      { id: idOf(3), name: 'Expo', createdAt: SECOND, keywords: ['pumps'] },
    ];
    await importing(...alike);
    await importing({ name: 'Expo', isBookmarked: true }, { name: 'Expo' });
    const all = await stored();
    expect(all).toHaveLength(alike.length);
    expect(all.flatMap(({ id, bookmarked }) => (bookmarked ? [id] : []))).toEqual([idOf(4)]);
  });

  describe('pass their eventUrls on, however far apart they stand:', () => {
    const urls = async (): Promise<Record<string, unknown>> =>
      Object.fromEntries((await stored()).map(({ id, url }) => [String(id), url]));

    beforeEach(() => importing({ id: A, name: 'Expo', eventUrl: U }, { id: B, name: 'Fair', eventUrl: V }));

    it('two exchange theirs', async () => {
      await importing({ id: A, name: 'Expo', eventUrl: V }, ...OTHERS, { id: B, name: 'Fair', eventUrl: U });
      expect(await urls()).toEqual({ [A]: V, [B]: U });
    });

    it('a new one has that of one that gives it up, wherever it stands', async () => {
      const fresh = { id: idOf(3), name: 'New', eventUrl: U };
      await importing(fresh, ...OTHERS, { id: A, name: 'Expo', eventUrl: W });
      expect(await urls()).toEqual({ [A]: W, [B]: V, [fresh.id]: U });
    });

    it('one whose eventUrl a client takes in that moment is named', async () => {
      const client = new Client(installation.database.url);
      await client.connect();
      await client.query(`begin; update industry_events set event_url = '${W}' where id = '${B}'`);
      const refused = expect(importing({ id: A, name: 'Expo', eventUrl: W })).rejects.toThrow(
        new ImportFault('industryEvents[0].eventUrl: another record has it'),
      );
      await until(async () => (await lockWaits(installation.database.url)) === 1);
      await client.query('commit');
      await client.end();
      await refused;
    });
  });
});
