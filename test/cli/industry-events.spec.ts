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
        'a bookmark by an eventUrl that is given up after it',
        [
          { id: A, name: 'Expo', eventUrl: U },
          { name: 'Fair', eventUrl: U, isBookmarked: true },
          { id: A, name: 'Expo', isBookmarked: false },
        ],
      ],
      [
        'a bookmark by an eventUrl that was given up before it',
        [
          { id: A, name: 'Expo', eventUrl: U },
          { id: A, name: 'Expo' },
          { name: 'Fair', eventUrl: U, isBookmarked: true },
        ],
      ],
      [
        'a bookmark by all that one says before it says something else',
        [
          { id: A, name: 'Expo' },
          { name: 'Expo', isBookmarked: true },
          { id: A, name: 'Fair' },
        ],
      ],
      [
        'an eventUrl that is given up and taken',
        [
          { id: A, name: 'Expo', eventUrl: U },
          { id: A, name: 'Expo', eventUrl: V },
          { id: B, name: 'Fair', eventUrl: U },
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

    it('who waits for one has it before those that come after', async () => {
      const change = [{ id: A, name: 'Expo', eventUrl: V }, ...OTHERS, { id: B, name: 'Fair' }, ...OTHERS];
      await importing(...change, { name: 'New', eventUrl: V, isBookmarked: true });
      expect(await urls()).toEqual({ [A]: V, [B]: null });
      expect(await stored()).toMatchObject([{ id: A, bookmarked: true }, { id: B }]);
    });

    it('who waited does so no more when a later record says otherwise', async () => {
      await importing({ id: A, name: 'Expo', eventUrl: V }, ...OTHERS, { id: A, name: 'Expo', eventUrl: W });
      expect(await urls()).toEqual({ [A]: W, [B]: V });
    });

    it('the first one that waits to the end for what another one has is named, and nothing was changed', async () => {
      const change = [{ id: B, name: 'Fair', eventUrl: U }, ...OTHERS, { id: A, name: 'Expo', eventUrl: W }, ...OTHERS];
      const clashing = [
        { id: A, name: 'Expo', eventUrl: U },
        { id: idOf(3), name: 'New', eventUrl: U },
      ];
      await expect(importing(...change, ...clashing)).rejects.toThrow(
        new ImportFault('industryEvents[2002].eventUrl: another record has it'),
      );
      expect(await urls()).toEqual({ [A]: U, [B]: V });
    });

    it('a new one, for which the one that has its eventUrl was taken, is named when that one gives it up', async () => {
      const fresh = { id: idOf(3), name: 'New', eventUrl: U };
      const change = { id: A, name: 'Expo', eventUrl: W };
      await expect(importing(fresh, ...OTHERS, change)).rejects.toThrow(
        new ImportFault('industryEvents[0].eventUrl: another record has it, and gives it up only later'),
      );
      await importing(fresh, change);
      expect(await urls()).toEqual({ [A]: W, [B]: V, [fresh.id]: U });
    });

    it('a new one has that of one that stands soon behind it, whoever else says the same as that one', async () => {
      const same = [A, B].map((id) => ({ id, name: 'Same' }));
      await importing({ id: idOf(3), name: 'New', eventUrl: V }, ...same);
      expect(await urls()).toEqual({ [A]: null, [B]: null, [idOf(3)]: V });
    });

    it('a new one whose later record has another eventUrl is stored with that', async () => {
      const fresh = { id: idOf(3), name: 'New', eventUrl: U };
      const later = { ...fresh, eventUrl: 'https://expo.example/x' };
      await importing(fresh, ...OTHERS, later, { id: A, name: 'Expo', eventUrl: W });
      expect(await urls()).toEqual({ [A]: W, [B]: V, [fresh.id]: later.eventUrl });
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

    it('one that waits, and whose eventUrl a client takes in the last moment, is named', async () => {
      const client = new Client(installation.database.url);
      await client.connect();
      await importing({ id: idOf(3), name: 'Third' });
      const records = [{ id: A, name: 'Expo', eventUrl: V }, ...OTHERS];
      async function* thenClients(written: () => Promise<unknown>) {
        for (const record of records) yield { section: 'industryEvents' as const, record };
        await written();
        await client.query(`update industry_events set event_url = null where id = '${B}'`);
        await client.query(`begin; update industry_events set event_url = '${V}' where id = '${idOf(3)}'`);
      }
      const refused = expect(imports.importRecords(organizationId, thenClients)).rejects.toThrow(
        new ImportFault('industryEvents[0].eventUrl: another record has it'),
      );
      await until(async () => (await lockWaits(installation.database.url)) === 1);
      await client.query('commit');
      await client.end();
      await refused;
    });
  });
});
