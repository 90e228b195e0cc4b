import { DataSource } from 'typeorm';
import { ImportFault } from '../src/operator/import-fault';
import { ImportService } from '../src/operator/import.service';
import { query } from './support/embedded-fixtures';
import { install, Installation, remove } from './support/operator';

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
const [U, V] = ['u', 'v'].map((path) => `https://expo.example/${path}`) as [string, string];
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

  describe('that are one and the same are stored as if they had been imported one after the other:', () => {
    it.each<[string, Given[]]>([
      [
        'moments that a later one leaves out',
        [
          { id: A, name: 'Expo', createdAt: FIRST, updatedAt: FIRST },
          { id: A, name: 'Expo' },
        ],
      ],
      [
        'a change after a moment',
        [
          { id: A, name: 'Expo', createdAt: FIRST, updatedAt: FIRST },
          { id: A, name: 'Fair' },
        ],
      ],
      [
        'later moments',
        [
          { id: A, name: 'Expo', createdAt: FIRST },
          { id: A, name: 'Expo', createdAt: SECOND, updatedAt: SECOND },
        ],
      ],
      [
        'moments of one eventUrl',
        [
          { name: 'Expo', eventUrl: U, createdAt: FIRST },
          { name: 'Fair', eventUrl: U, createdAt: SECOND },
        ],
      ],
      [
        'moments of all that they say',
        [
          { name: 'Expo', createdAt: FIRST },
          { name: 'Expo', createdAt: SECOND, updatedAt: SECOND },
        ],
      ],
      ['a moment that only the second has', [{ name: 'Expo' }, { name: 'Expo', createdAt: SECOND }]],
      [
        'an id that only the second has',
        [
          { name: 'Expo', createdAt: FIRST },
          { id: A, name: 'Expo', createdAt: SECOND },
        ],
      ],
      [
        'an id that only the first has',
        [
          { id: A, name: 'Expo' },
          { name: 'Expo', isBookmarked: true },
        ],
      ],
      [
        'a bookmark that a later one leaves out',
        [
          { id: A, name: 'Expo', isBookmarked: true },
          { id: A, name: 'Fair' },
        ],
      ],
      [
        'a bookmark of one eventUrl',
        [
          { name: 'Expo', eventUrl: U, isBookmarked: true },
          { name: 'Fair', eventUrl: U },
        ],
      ],
      [
        'a bookmark taken away by id',
        [
          { name: 'Expo', isBookmarked: true },
          { id: A, name: 'Fair', isBookmarked: true },
          { id: A, name: 'Fair', isBookmarked: false },
        ],
      ],
      [
        'a bookmark added by eventUrl',
        [
          { id: A, name: 'Expo', eventUrl: U, isBookmarked: false },
          { name: 'Expo', eventUrl: U, isBookmarked: true },
        ],
      ],
      [
        'a bookmark taken away by eventUrl',
        [
          { id: A, name: 'Expo', eventUrl: U, isBookmarked: true },
          { name: 'Expo', eventUrl: U, isBookmarked: false },
        ],
      ],
      [
        'a bookmark added at last',
        [
          { name: 'Expo', eventUrl: U, isBookmarked: false },
          { id: A, name: 'Expo', eventUrl: U, isBookmarked: true },
        ],
      ],
      [
        'a bookmark of all that they say',
        [
          { name: 'Expo', isBookmarked: false },
          { name: 'Expo', isBookmarked: true },
        ],
      ],
      [
        'a bookmark taken away of all that they say',
        [
          { name: 'Expo', isBookmarked: true },
          { name: 'Expo', isBookmarked: false },
        ],
      ],
      [
        'an eventUrl that is given to and fro',
        [
          { id: A, name: 'Expo', eventUrl: U },
          { id: A, name: 'Expo' },
          { id: B, name: 'Fair', eventUrl: U },
          { id: B, name: 'Fair', eventUrl: V },
          { id: A, name: 'Expo', eventUrl: U },
        ],
      ],
    ])('%s', async (_, records) => {
      for (const record of records) await importing(record);
      const oneByOne = await stored();
      for (const parted of [records, records.flatMap((record) => [record, ...OTHERS])]) {
        await query(installation.database.url, 'delete from industry_events');
        await importing(...parted);
        expect(await stored()).toEqual(oneByOne);
        await importing(...parted);
        expect(await query(installation.database.url, 'select from industry_event_bookmarks')).toHaveLength(
          oneByOne.filter(({ bookmarked }) => bookmarked).length,
        );
      }
    });
  });

  it.each<[string, number, Given[]]>([
    [
      'brings what a later one has',
      0,
      [
        { id: A, name: 'Expo', eventUrl: V },
        { id: B, name: 'Fair', eventUrl: V },
      ],
    ],
    [
      'comes after two new ones that are one',
      3,
      [
        { id: idOf(3), name: 'New', eventUrl: 'https://expo.example/new' },
        { id: idOf(4), name: 'New again', eventUrl: 'https://expo.example/new' },
        { id: A, name: 'Expo', eventUrl: 'https://expo.example/twice' },
        { id: B, name: 'Fair', eventUrl: 'https://expo.example/twice' },
      ],
    ],
    [
      'brings what a new one before it has',
      1,
      [
        { name: 'New', eventUrl: 'https://expo.example/new' },
        { id: A, name: 'Expo', eventUrl: 'https://expo.example/new' },
      ],
    ],
  ])('name the one whose eventUrl another one has where it %s', async (_, index, records) => {
    await importing({ id: A, name: 'Expo', eventUrl: U }, { id: B, name: 'Fair', eventUrl: V });
    await expect(importing(...records)).rejects.toThrow(
      new ImportFault(`industryEvents[${index}].eventUrl: another record has it`),
    );
  });
});
