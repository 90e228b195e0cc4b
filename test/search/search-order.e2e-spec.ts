import { randomUUID } from 'node:crypto';
import { Random } from '../prove/support/random';
import { TEST_MARK, unique } from '../support/builders';
import { startLanyard, Tenant, withTenant } from '../support/lanyard';

/** A word without vowels, which no stemmer changes and no other suite has. */
const word = (): string => `z${unique().replace(/./g, (digit) => 'bcdfghjklmnpqrtv'[parseInt(digit, 16)] ?? 'z')}`;

interface Doc {
  id: string;
  createdAt: string;
  name: string[];
  /** of the city and the keywords, in this order */
  rest: string[];
  description: string[];
}

/** Alternatives (`or`) of terms, all of which must hold; a term of several words is a phrase. */
type Query = { words: string[]; not: boolean }[][];

const asText = (query: Query): string =>
  query
    .map((terms) =>
      terms
        .map(({ words, not }) => (not ? '-' : '') + (words.length > 1 ? `"${words.join(' ')}"` : words[0]))
        .join(' '),
    )
    .join(' or ');

const matches = (text: string[], query: Query): boolean =>
  query.some((terms) =>
    terms.every(({ words, not }) => ` ${text.join(' ')} `.includes(` ${words.join(' ')} `) !== not),
  );

/** The city and each keyword are values of their own, and no phrase goes on from one value to the next. */
const inTwoTiers = ({ name, rest }: Doc): string[] => [...name, ...rest.flatMap((value) => ['|', value])];

/** What the search promises to find, in order of arrival. */
const expected = (docs: Doc[], query: Query): string[] =>
  docs.filter((doc) => matches([...inTwoTiers(doc), '|', ...doc.description], query)).map(({ id }) => id);

/** For one word: 1 for a record that has it in its name, 2 in venue or keywords, 3 in its description. */
const tierOf = (doc: Doc, query: Query): number =>
  matches(doc.name, query) ? 1 : matches(inTwoTiers(doc), query) ? 2 : 3;

const record = ({ id, createdAt, name, rest, description }: Doc) => ({
  id,
  createdAt,
  sourceType: TEST_MARK,
  name: name.join(' '),
  description: description.join(' '),
  venueCity: rest[0] ?? null,
  keywords: rest.slice(1),
});

const moment = (n: number): string => new Date(Date.UTC(2020, 0, 1) + n * 1000).toISOString();

describe('the order of a search', () => {
  let tenant: Tenant;
  beforeAll(async () => void ([, tenant] = await withTenant(startLanyard())));

  const page = async (q: string, query: { limit?: number; offset?: number } = {}) => {
    const { body } = await tenant.api.get('/industryEvents', { q, ...query }).expect(200);
    return { total: body.results.total, ids: body.results.industryEvents.map(({ id }: { id: string }) => id) };
  };
  const all = async (q: string, limit = 50): Promise<string[]> =>
    (await tenant.api.all<{ id: string }>('/industryEvents', 'industryEvents', { q, limit })).map(({ id }) => id);

  /** A record never stands before one of a better tier. */
  const expectTiers = (ids: string[], docs: Doc[], query: Query): void => {
    const tiers = new Map(docs.map((doc) => [doc.id, tierOf(doc, query)]));
    const found = ids.map((id) => tiers.get(id));
    expect(found).toEqual([...found].sort());
  };

  it('finds what a plain evaluation of random queries over random records does, the name first', async () => {
    const random = new Random(7);
    const words = Array.from({ length: 6 }, word);
    const some = (count: number): string[] => Array.from({ length: count }, () => random.pick(words));
    const docs: Doc[] = Array.from({ length: 60 }, () => ({
      id: randomUUID(),
      createdAt: moment(random.below(20)),
      name: some(random.between(1, 3)),
      rest: some(random.below(3)),
      description: some(random.below(4)),
    }));
    await tenant.import({ industryEvents: docs.map(record) });
    for (let i = 0; i < 120; i++) {
      const query: Query = Array.from({ length: random.chance(0.2) ? 2 : 1 }, () => [
        // Without a word that must occur, the records of other suites would match.
        { words: some(1), not: false },
        ...Array.from({ length: random.below(3) }, () => ({
          words: some(random.chance(0.25) ? 2 : 1),
          not: random.chance(0.25),
        })),
      ]);
      const [q, ids] = [asText(query), expected(docs, query)];
      const found = await all(q, 13);
      expect({ q, ids: [...found].sort() }).toEqual({ q, ids: [...ids].sort() });
      expect((await page(q)).total).toBe(ids.length);
      if (query.length === 1 && query[0]?.length === 1) expectTiers(found, docs, query);
    }
  });

  it('is the same when thousands match, and so is the total of every page', async () => {
    const random = new Random(8);
    // The same in every run, and no other suite's: nobody can take them out of a deployment's catalogue again.
    const [everywhere, frequent, late, rare] = ['zqxeverywhere', 'zqxfrequent', 'zqxlate', 'zqxrare'] as const;
    const docs: Doc[] = Array.from({ length: 2600 }, (_, n) => {
      const id = `5ea7c400-0000-4000-8000-${String(n).padStart(12, '0')}`;
      const texts = { name: ['zqxname'], rest: ['zqxrest'], description: ['zqxdescription'] };
      const doc: Doc = { id, createdAt: moment(n - (n % 3)), ...texts };
      const anywhere = (): string[] => random.pick([doc.name, doc.rest, doc.description]);
      anywhere().push(everywhere);
      if (random.chance(0.5)) anywhere().push(frequent);
      if (n > 1500) anywhere().push(late);
      if (n % 700 === 5) anywhere().push(rare);
      return doc;
    });
    for (let n = 0; n < docs.length; n += 500) {
      await tenant.import({ industryEvents: docs.slice(n, n + 500).map(record) });
    }
    const term = (word: string, not = false) => ({ words: [word], not });
    const queries: Query[] = [
      [[term(everywhere)]],
      [[term(everywhere), term(frequent)]],
      [[term(everywhere), term(rare, true)]],
      [[term(everywhere), term(frequent, true)]],
      [[term(late)], [term(everywhere)]],
      [[term(late), term(everywhere)]],
      [[term(rare)]],
    ];
    for (const query of queries) {
      const q = asText(query);
      const ids = await all(q);
      expect([...ids].sort()).toEqual(expected(docs, query).sort());
      if (query.length === 1 && query[0]?.length === 1) expectTiers(ids, docs, query);
      for (const [limit, offset] of [
        [20, 0],
        [1, 0],
        [7, 30],
        [20, 60],
        [50, 2_147_483_647],
      ] as const) {
        const slice = ids.slice(limit * offset, limit * (offset + 1));
        expect(await page(q, { limit, offset })).toEqual({ total: ids.length, ids: slice });
      }
    }
  }, 120_000);

  it('is the order of arrival where the rank is equal', async () => {
    const name = [word()];
    const [late, early] = [2, 1].map((n) => ({
      id: randomUUID(),
      createdAt: moment(n),
      name,
      rest: [],
      description: [],
    })) as Doc[] as [Doc, Doc];
    await tenant.import({ industryEvents: [late, early].map(record) });
    expect(await all(name.join())).toEqual([late.id, early.id]);
    await tenant.import({ industryEvents: [record({ ...late, createdAt: moment(3) })] });
    expect(await all(name.join())).toEqual([late.id, early.id]);
  });
});
