import fc from 'fast-check';
import type { DataSource } from 'typeorm';
import { asOperator, createTestDatabase } from '../support/database';

type Lead = Record<'firstName' | 'lastName' | 'companyName' | 'email', string | null>;

/** The rule in plain words: no case, no accents, one apostrophe. */
const spelled = (value: string): string =>
  value
    .normalize('NFD')
    .replace(/[\u0300-\u036f]/g, '')
    .toLowerCase()
    .normalize('NFC')
    .replaceAll('ß', 'ss')
    .replaceAll('ø', 'o')
    .replaceAll('ł', 'l')
    .replaceAll('ς', 'σ')
    .replaceAll('’', "'");

/** A word begins a text, follows a blank, or begins with a letter or digit that none stands before. */
const wordsOf = (lead: Lead): string[] =>
  [lead.firstName, lead.lastName, lead.companyName, lead.email].flatMap((value) => {
    const text = spelled(value ?? '');
    const starts = text.matchAll(/(?<![^ ])[^ ]|(?<![\p{L}\p{M}\p{Nd}])[\p{L}\p{M}\p{Nd}]/gu);
    return [...starts].map(({ index }) => text.slice(index).split(' ', 1)[0] ?? '');
  });

const isFound = (lead: Lead, words: string[]): boolean =>
  words.every((word) => wordsOf(lead).some((other) => other.startsWith(spelled(word))));

describe('the words by which leads are found', () => {
  let db: DataSource;
  beforeAll(async () => void (db = await asOperator((await createTestDatabase()).url)));

  const matches = async (lead: Lead, words: string[], organizations = [1, 1]): Promise<boolean> => {
    const [row] = await db.query<[{ found: boolean }]>(
      `select words_of_lead($1, $2, $3, $4, $5) @@ lead_word_query($6, $7)
        and lead_spelling(concat_ws(' ', $2, $3, $4, $5)) ~ all(lead_text_patterns($7)) as found`,
      [organizations[0], lead.firstName, lead.lastName, lead.companyName, lead.email, organizations[1], words],
    );
    return row.found;
  };

  const unit = fc.constantFrom(
    ...'aAeéÉoOøßnñcçlŁσςжЖ山田한グ12'.split(''),
    'e\u0301',
    "'",
    '’',
    '-',
    '.',
    ' ',
    '&',
    '\\',
    ':',
    '*',
    '"',
  );
  const value = fc.oneof(fc.constant(null), fc.string({ unit, maxLength: 12 }));
  const address = fc.oneof(
    fc.constant(null),
    fc.string({ unit: fc.constantFrom(...'aoné1.@-+_'.split(''), "'"), maxLength: 14 }),
  );
  const lead = fc.record({ firstName: value, lastName: value, companyName: value, email: address });

  it('are those of a plain model', async () => {
    const isWord = (word: string): boolean => /[\p{L}\p{Nd}]/u.test(word);
    const prefixOf = (some: Lead): fc.Arbitrary<string> => {
      const words = wordsOf(some).filter(isWord);
      if (words.length === 0) return fc.constant('ada');
      return fc
        .tuple(fc.constantFrom(...words), fc.integer({ min: 1, max: 9 }))
        .map(([word, length]) => [...word].slice(0, length).join(''))
        .filter(isWord);
    };
    const searched = lead.chain((some) => {
      const word = fc.oneof(prefixOf(some), fc.string({ unit, minLength: 1, maxLength: 4 }));
      return fc.tuple(
        fc.constant(some),
        fc.array(
          word.filter((text) => isWord(text) && !text.includes(' ')),
          { minLength: 1, maxLength: 3 },
        ),
      );
    });
    await fc.assert(
      fc.asyncProperty(searched, async ([some, words]) => {
        expect(await matches(some, words)).toBe(isFound(some, words));
      }),
      { numRuns: 1000 },
    );
  });

  it('belong to their organization', async () => {
    const ada = { firstName: 'Ada', lastName: null, companyName: null, email: null };
    expect(await matches(ada, ['ada'], [1, 1])).toBe(true);
    expect(await matches(ada, ['ada'], [1, 12])).toBe(false);
    expect(await matches(ada, ['ada'], [12, 1])).toBe(false);
    expect(await matches({ ...ada, firstName: '2 Ada' }, ['ada'], [1, 12])).toBe(false);
  });

  it.each(['a', 'é', 'が', 'a_', 'a@b.c_', `a${'\u0301\u0323'.repeat(32_000)}`, '\u0301', '\ufdfa'])(
    'are made in time of long texts: %#',
    async (repeated) => {
      const long = repeated.repeat(65_535 / repeated.length);
      await db.query(
        `set statement_timeout = 100; select words_of_lead(1, '${long}', '${long}', '${long}', '${long}')`,
      );
    },
  );
});
