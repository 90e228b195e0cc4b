import { randomUUID } from 'node:crypto';
import type { DataSource } from 'typeorm';
import { Random } from '../prove/support/random';
import { leadInput } from '../support/builders';
import { asOperator } from '../support/database';
import { type InProcess, startInProcess } from '../support/lanyard';
import { Deletions, Pager } from '../support/servers/pager';
import { waitUntil } from '../support/wait';

// A short run of the pages in `npm run prove faults -- --only import`: it must find what is made wrong on purpose.

/** More records than an import writes under the locks of their lists. */
const COUNT = 1001;
const OLD_LEADS = 60;

let lanyard: InProcess;
let db: DataSource;
beforeAll(async () => {
  lanyard = await startInProcess();
  db = await asOperator(lanyard.config.databaseUrl as string);
});

/** Imports leads while others are created and deleted, and read page by page. @returns what is wrong with the pages */
async function importBesidePager(): Promise<string[]> {
  const { api, key, organizationId, ...tenant } = await lanyard.tenant();
  // The positions before these are free, for an import that writes in front of them.
  await db.query(`select list_take($1, 'leads', 100000)`, [organizationId]);
  const old = await db.query<{ id: string }[]>(
    `insert into leads (organization_id, first_name) select $1, 'Old' from generate_series(1, $2) returning id`,
    [organizationId, OLD_LEADS],
  );
  const deletions = new Deletions();
  const port = Number(new URL(lanyard.baseUrl).port);
  const list = { port, key, path: '/leads', ids: `select id from leads where organization_id = ${organizationId}` };
  const pager = new Pager(list, deletions, new Random(1), 1);
  pager.start();
  let isImported = false;
  const others = async (): Promise<void> => {
    while (!isImported) {
      const pages = pager.walks.flat().length;
      await waitUntil(() => pager.walks.flat().length > pages);
      await api.post('/leads', leadInput()).expect(200);
      const deleted = deletions.ids.size < OLD_LEADS / 2 ? old.pop() : undefined;
      if (!deleted) continue;
      deletions.ids.add(deleted.id);
      await api.delete(`/leads/${deleted.id}`).expect(200);
      deletions.answered++;
    }
  };
  const writing = others();
  const wholeWalk = async (): Promise<void> => {
    const begun = pager.walks.length;
    await waitUntil(() => pager.walks.length > begun + 1);
  };
  await wholeWalk();
  await tenant.import({
    leads: Array.from({ length: COUNT }, () => ({ id: randomUUID(), email: 'file@example.com' })),
  });
  // What was imported is read, too, before others come after it.
  await wholeWalk();
  await api.post('/leads', leadInput()).expect(200);
  isImported = true;
  await writing;
  await pager.stop();
  return pager.complaints((sql) => db.query(sql));
}

const ARGUMENTS = 'org integer, name text, start bigint, reserved bigint, written bigint';
const TOTAL_ONLY = `create or replace function list_advance(${ARGUMENTS}) returns void language sql as $$
  update list_counts c set rows = rows + written where (organization_id, list, shift, bucket) = (org, name, 40, 0) $$`;
const END_ONLY = `create or replace function list_advance(${ARGUMENTS}) returns void language sql as $$
  update lists l set next_position = start + reserved where (organization_id, list) = (org, name) $$`;
const IN_FRONT = `create or replace function list_reserve(org integer, name text, margin bigint) returns bigint
  language sql stable as 'select 16384::bigint'`;

/** Functions of an import of which a part is missing, and what pages show then. */
const MUTANTS = [
  {
    name: 'the list does not go on behind the imported leads',
    functions: [TOTAL_ONLY],
    finds: /was at \d+, and is at/,
  },
  { name: 'leads are imported in front of others', functions: [TOTAL_ONLY, IN_FRONT], finds: /was at \d+, and is at/ },
  { name: 'imported leads are not in the total', functions: [END_ONLY], finds: /records, \d+ in all/ },
];

describe('a client that reads page by page while others import, create and delete', () => {
  it('sees each lead once, in pages that agree with the total', async () => {
    expect(await importBesidePager()).toEqual([]);
  });

  it.each(MUTANTS)('complains when $name', async ({ functions, finds }) => {
    const originals = await db.query<{ text: string }[]>(
      `select pg_get_functiondef(oid) as text from pg_proc where proname in ('list_reserve', 'list_advance')`,
    );
    for (const text of functions) await db.query(text);
    try {
      expect(await importBesidePager()).toContainEqual(expect.stringMatching(finds));
    } finally {
      for (const { text } of originals) await db.query(text);
    }
  });
});
