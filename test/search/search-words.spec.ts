import { DataSource } from 'typeorm';
import { operatorDataSourceOptions } from '../../src/database/data-source';
import { testDatabase, TestDatabase } from '../support/database';

describe('the words of stored records', () => {
  let database: TestDatabase;
  let db: DataSource;
  beforeAll(async () => {
    database = await testDatabase();
    db = await new DataSource(operatorDataSourceOptions(database.url)).initialize();
  });
  afterAll(async () => {
    await db.destroy();
    await database.drop();
  });

  it.each([
    ...[
      'a',
      '1',
      'a1',
      '1a',
      '1e',
      'é',
      'é1',
      'я',
      'が',
      '_',
      'a_',
      '1_',
      'a-',
      'a.',
      '1.',
      'a@b.c_',
      'http://a_',
      'a&',
      '<a>',
      '<',
    ],
  ])('are made in time of 65,535 characters of %j', async (unit) => {
    const value = unit.repeat(65_535 / unit.length);
    await db.query(`set statement_timeout = 1500; select search_vector('n', '{}', '${value}')`);
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
