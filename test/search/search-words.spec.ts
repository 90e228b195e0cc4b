import type { DataSource } from 'typeorm';
import { searchQuery } from '../../src/contexts/industry-events/search-query';
import { asOperator, createTestDatabase } from '../support/database';

describe('what a q asks for', () => {
  it.each([
    ['expo', '"expo"'],
    ['solar  expo', '"solar" "expo"'],
    ['"solar expo"', '"solar expo"'],
    ['"solar expo', '"solar expo"'],
    ['“solar expo”', '"solar expo"'],
    ['"“Solar” expo"', '"Solar expo"'],
    ['node.js', '"node js"'],
    ['trade-show', '"trade show"'],
    ['AT&T', '"AT T"'],
    ['<b>', '"b"'],
    ['«word» ～wort～', '"word" "wort"'],
    ['solar -wind', '"solar" -"wind"'],
    ['solar -"wind park"', '"solar" -"wind park"'],
    ['solar (-wind)', '"solar" -"wind"'],
    ['solar --wind', '"solar" "wind"'],
    ['solar - wind', '"solar" "wind"'],
    ['solar or wind', '"solar" or "wind"'],
    ['solar OR wind park', '"solar" or "wind" "park"'],
    ['or solar or or wind or', '"solar" or "wind"'],
    ['solar "or" wind', '"solar" "or" "wind"'],
    ['solar or, wind', '"solar" "or" "wind"'],
    ['expo Expo EXPO', '"EXPO"'],
    ['expo or expo', '"expo"'],
    ['Café cafe\u0301', '"cafe\u0301"'],
    // what only excludes finds nothing
    ['-wind', ''],
    ['solar or -wind', '"solar"'],
    ['solar -or wind', '"solar" -"or" "wind"'],
    ['-wind -solar or expo', '"expo"'],
    // and so do signs
    ['', ''],
    ['- & "" ()', ''],
    ['🙂', ''],
  ])('%s', (q, text) => expect(searchQuery(q)).toMatchObject({ text, isTooLong: false }));
});

describe('the rank of what a q finds', () => {
  it.each([
    ['solar "trade show" -wind', '"solar" or "trade" or "show"'],
    ['solar or wind solar', '"solar" or "wind"'],
    ['-wind', ''],
  ])('of %s is by any of its words', (q, words) => expect(searchQuery(q).words).toBe(words));

  it('is not asked of more than 512 characters, which are not read at all', () => {
    expect(searchQuery(`${'x '.repeat(256)}y`)).toEqual({ text: '', words: '', isTooLong: true });
    expect(searchQuery(`${'🙂 '.repeat(255)}y`)).toEqual({ text: '"y"', words: '"y"', isTooLong: false });
  });
});

describe('the words of stored records', () => {
  let db: DataSource;
  beforeAll(async () => void (db = await asOperator((await createTestDatabase()).url)));

  // A run of combining marks whose order normalize() has to mend takes it a time that grows with the square of its length.
  const MARKS = `a${'\u0301\u0323'.repeat(32_000)}`;
  it.each(['a', '1a', 'é', 'が', 'a_', '1.', 'a@b.c_', 'http://a_', '<', MARKS, `${MARKS.slice(0, 99)} `])(
    'are made in time of 65,535 characters of %j',
    async (unit) => {
      const value = unit.repeat(65_535 / unit.length);
      await db.query(`set statement_timeout = 1500; select search_vector('n', '{}', '${value}')`);
    },
  );

  it('are one spelling, also in a run of more letters than normalize() is given at once', async () => {
    const [row] = await db.query<{ spelled: string }[]>('select search_spelling($1) as spelled', [
      'e\u0301'.repeat(99),
    ]);
    expect(row?.spelled).toBe('é'.repeat(99));
    const long = 'か\u3099'.repeat(500); // in pieces of a hundred, which is even
    expect(await db.query('select search_spelling($1) as spelled', [long])).toEqual([{ spelled: 'が'.repeat(500) }]);
  });

  /** Blocks of which functions/search.sql lists the signs: Latin to Arabic, Thai, symbols, CJK punctuation, forms. */
  const BLOCKS = [
    [0x20, 0x97f],
    [0xe00, 0xe7f],
    [0x2000, 0x33ff],
    [0xfb00, 0xffef],
    [0x1f300, 0x1f5ff],
  ] as const;

  it('are letters, marks and digits, and no signs', async () => {
    const wrong: string[] = [];
    for (const [first, last] of BLOCKS) {
      const characters = Array.from({ length: last - first + 1 }, (_, n) => String.fromCodePoint(first + n)).filter(
        (character) => !/\p{Cn}|\p{Co}/u.test(character) && character.normalize() === character,
      );
      const rows = await db.query<{ character: string; found: string }[]>(
        `select c as character, search_text(search_spelling('x' || c || 'x')) as found from unnest($1::text[]) c`,
        [characters],
      );
      for (const { character, found } of rows) {
        if (/[\p{L}\p{M}\p{Nd}]/u.test(character) === found.includes(' ')) wrong.push(character);
      }
    }
    expect(wrong).toEqual([]);
  });

  it('are one phrase within a value, and none across two', async () => {
    const [row] = await db.query<Record<string, boolean>[]>(`
      select v @@ phraseto_tsquery('search', 'solar panels') as within, v @@ phraseto_tsquery('search', 'panels wind') as across,
        v @@ phraseto_tsquery('search', 'expo solar') as name_and_first, v @@ phraseto_tsquery('search', 'wind turbines') as last
      from search_vector('Expo', array['solar panels', null, 'wind'], 'Turbines') v`);
    expect(row).toEqual({ within: true, across: false, name_and_first: false, last: false });
  });
});
