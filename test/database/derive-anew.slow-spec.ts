import type { DataSource } from 'typeorm';
import { CheckService } from '../../src/data/schema/check.service';
import type { TestDatabase } from '../../src/testing/test-database';
import { asOperator, createTestDatabase } from '../support/database';
import { SCHEMA, migrate } from '../support/contexts';

/** More than two batches. */
const LEADS = 2500;

describe('derived columns whose functions have changed', () => {
  let database: TestDatabase;
  let db: DataSource;
  beforeAll(async () => {
    database = await createTestDatabase();
    db = await asOperator(database.url);
    await db.query(`
      insert into organizations (name) values ('Harbour Expo');
      insert into leads (organization_id, first_name) select o.id, n from organizations o, generate_series(1, ${LEADS}) n;
      insert into industry_events (name) values ('Pump World')`);
  });
  /** As if an older version had derived them. */
  beforeEach(() =>
    db.query(`
      begin;
      alter table leads disable trigger t20_render;
      alter table industry_events disable trigger t05_search;
      update leads set document = '{}';
      update industry_events set search = '';
      delete from lead_words;
      alter table leads enable trigger t20_render;
      alter table industry_events enable trigger t05_search;
      update derived_columns set version = 'of an older one', last_id = null;
      commit`),
  );

  const states = () =>
    db.query<{ name: string; last_id: string | null }[]>('select *, xmin from derived_columns order by 1');
  const wrong = async (): Promise<Record<string, number>> => {
    const result = await new CheckService(db, SCHEMA).check(false);
    const { documents, leadWords, words } = result;
    return { documents: documents?.wrong ?? NaN, leadWords: leadWords?.wrong ?? NaN, words: words?.wrong ?? NaN };
  };

  it('are derived anew by a start, and not by the next one', async () => {
    expect(await wrong()).toEqual({ documents: LEADS, leadWords: LEADS, words: 1 });
    await migrate(database.url);
    expect(await wrong()).toEqual({ documents: 0, leadWords: 0, words: 0 });
    const done = await states();
    expect(done).toMatchObject([
      { name: 'documents', last_id: null },
      { name: 'leadWords', last_id: null },
      { name: 'words', last_id: null },
    ]);
    await migrate(database.url);
    expect(await states()).toEqual(done);
  });

  it('are derived by one of two processes that start together', async () => {
    await Promise.all([migrate(database.url), migrate(database.url)]);
    expect(await wrong()).toEqual({ documents: 0, leadWords: 0, words: 0 });
  });

  it('are gone on with where a start was interrupted', async () => {
    await db.query(`update industry_events set name = name`);
    await migrate(database.url);
    const [{ version }] = await db.query<[{ version: string }]>(
      "select version from derived_columns where name = 'documents'",
    );
    const [{ id }] = await db.query<[{ id: string }]>('select id from leads order by id offset 999 limit 1');
    await db.query(`alter table leads disable trigger t20_render; update leads set document = '{}';
      alter table leads enable trigger t20_render`);
    await db.query(`update derived_columns set version = $1, last_id = $2 where name = 'documents'`, [version, id]);
    await migrate(database.url);
    expect((await wrong()).documents).toBe(1000);
  });

  it('wait for nobody who stops them', async () => {
    const stop = AbortSignal.abort(new Error('interrupted'));
    await expect(migrate(database.url, { signal: stop })).rejects.toThrow('interrupted');
    expect((await wrong()).documents).toBe(LEADS);
  });
});
