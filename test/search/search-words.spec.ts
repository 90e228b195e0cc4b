import type { DataSource } from 'typeorm';
import { searchQuery } from '../../src/industry-events/search-query';
import { asOperator, testDatabase } from '../support/database';

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
  ])('%s', (q, text) => expect(searchQuery(q)).toEqual({ text, isTooLong: false }));
});

describe('the words of stored records', () => {
  let db: DataSource;
  beforeAll(async () => void (db = await asOperator((await testDatabase()).url)));

  it.each(['a', '1a', 'é', 'が', 'a_', '1.', 'a@b.c_', 'http://a_', '<'])(
    'are made in time of 65,535 characters of %j',
    async (unit) => {
      const value = unit.repeat(65_535 / unit.length);
      await db.query(`set statement_timeout = 1500; select search_vector('n', '{}', '${value}')`);
    },
  );

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
