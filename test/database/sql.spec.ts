import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Client } from 'pg';
import { asOperator, createTestDatabase } from '../support/database';
import { type InProcess, startInProcess } from '../support/lanyard';
import { formatSql } from '../support/listings/sql-layout';
import { isComposed, shapeOf, sqlListing } from '../support/listings/sql-listing';

const LISTING = join(__dirname, '../../docs/sql');

/** A lead with a tag, and the group of tags that it is of. */
const EXAMPLE = {
  tagGroups: [
    {
      id: 'f61c900a-31a6-545c-a067-c8bc2c052ee2',
      name: 'Interest',
      tagOptions: [{ id: '21954c56-16c6-5cbc-bb39-283a0096aeaf', displayOrder: 0, value: 'Pumps' }],
    },
  ],
  leads: [
    {
      id: '448e55d6-0a6e-5e30-81d1-19527287a0c9',
      firstName: 'Ada',
      email: 'ada@example.com',
      tags: [{ tagOptionId: '21954c56-16c6-5cbc-bb39-283a0096aeaf' }],
    },
  ],
};

/** The text of what a call of `Client.query` sends. */
const textOf = ([query]: unknown[]): string =>
  typeof query === 'string' ? query : ((query as { text?: string }).text ?? '');

/** The statements that are composed, each once, of the sections that the example has: others are staged, too, but have no rows. */
function composedStatements(texts: string[]): string[] {
  const copied = new Set(texts.flatMap((text) => /^copy (staged_\w+)/.exec(text)?.[1] ?? []));
  const byShape = new Map(texts.filter(isComposed).map((text) => [shapeOf(text), text]));
  return [...byShape.values()]
    .filter((text) => {
      const staged = text.match(/staged_\w+/g);
      return !staged || staged.some((table) => copied.has(table));
    })
    .map((text) => formatSql(`${text.trimEnd()};`));
}

/** What the importer sends for the example, on the connection that has the tables in which it stages records. */
async function importStatements(lanyard: InProcess): Promise<string[]> {
  const tenant = await lanyard.tenant();
  const query = jest.spyOn(Client.prototype, 'query');
  try {
    await tenant.import(EXAMPLE);
    const calls = query.mock.calls.map((call, index) => ({ text: textOf(call), client: query.mock.contexts[index] }));
    const begin = calls.findIndex(({ text }) => text.includes('staged_'));
    const sent = calls.slice(begin).filter(({ client }) => client === calls[begin]?.client);
    const end = sent.findLastIndex(({ text }) => text === 'COMMIT');
    return composedStatements(sent.slice(0, end + 1).map(({ text }) => text));
  } finally {
    query.mockRestore();
  }
}

describe('the listing of SQL', () => {
  it('is checked in, in a file for each context, and PostgreSQL accepts it (npm run sql writes it)', async () => {
    const db = await asOperator((await createTestDatabase()).url, 1);
    const lanyard = await startInProcess();
    const listing = await sqlListing(db, lanyard.app);
    const title =
      '-- What an import of a lead with a tag composes, in the order in which it is sent. npm run sql writes this file.';
    listing.set('import-example.sql', `${[title, ...(await importStatements(lanyard))].join('\n\n')}\n`);
    if (process.env.SQL_WRITE) {
      rmSync(LISTING, { recursive: true, force: true });
      mkdirSync(LISTING);
      for (const [file, text] of listing) writeFileSync(join(LISTING, file), text);
    }
    expect(readdirSync(LISTING).sort()).toEqual([...listing.keys()].sort());
    for (const [file, text] of listing) expect(readFileSync(join(LISTING, file), 'utf8')).toBe(text);
  });
});
