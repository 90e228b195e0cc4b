import { randomUUID } from 'node:crypto';
import { counted, type Listing } from '../../src/database/listings';
import { type Statement, Statements } from '../../src/database/statements';
import { type Writer, Writes } from '../../src/database/writes';
import { InProcess, startInProcess, type Tenant } from '../support/lanyard';

describe('a gathered write', () => {
  let lanyard: InProcess;
  let writes: Writes;
  let tenant: Tenant;
  let writer: Writer;
  beforeAll(async () => {
    lanyard = await startInProcess();
    writes = lanyard.app.get(Writes);
    tenant = await lanyard.tenant();
    writer = { organizationId: tenant.organizationId, keyId: '' };
  });
  afterAll(() => lanyard.stop());

  /** The outcomes of writes that wait for the first one, and so are done together. */
  const gathered = (statement: Statement, ...inputs: object[]) =>
    Promise.all(
      [{}, ...inputs].map((input) =>
        writes.gathered(writer, statement, input).catch((error: unknown) => (error as Error).message),
      ),
    );

  it('gives no input the row of another, when its statement leaves one out', async () => {
    const statement = {
      name: 'gathered.some',
      text: `select n::text from jsonb_to_recordset($2) as g (n integer) where $1::integer > 0 and n is distinct from 2`,
    };
    const refused = "'gathered.some' gives 2 rows for 3 inputs";
    expect((await gathered(statement, { n: 1 }, { n: 2 }, { n: 3 })).slice(1)).toEqual([refused, refused, refused]);
  });

  it('fails alone when PostgreSQL refuses its row', async () => {
    const statement = {
      name: 'gathered.parents',
      text: `insert into tag_options (organization_id, id, tag_group_id, display_order, value)
        select $1, gen_random_uuid(), id, 0, n from jsonb_to_recordset($2) as g (n text, id uuid)
        where id is not null returning value`,
    };
    const group = { id: randomUUID(), name: 'Interests', tagOptions: [] };
    await tenant.import({ tagGroups: [group] });
    const [, ...outcomes] = await gathered(
      statement,
      { n: 'a', id: group.id },
      { n: 'b', id: randomUUID() },
      { n: 'c', id: group.id },
    );
    expect(outcomes).toEqual(['a', expect.stringContaining('violates foreign key'), 'c']);
  });

  it('is of its own statement', async () => {
    const statement = (value: string): Statement => ({
      name: 'gathered.mine',
      text: `select '${value}'::text from jsonb_array_elements($2) where $1::integer > 0`,
    });
    expect(await gathered(statement('a'))).toEqual(['a']);
    expect(await gathered(statement('b'))).toEqual(["Two statements are called 'gathered.mine'"]);
  });
});

describe('a statement that has the name of another', () => {
  let lanyard: InProcess;
  let statements: Statements;
  beforeAll(async () => {
    lanyard = await startInProcess();
    statements = lanyard.app.get(Statements);
  });
  afterAll(() => lanyard.stop());

  it('is refused on every connection', async () => {
    const owner = { organizationId: 1 };
    const mine = (value: string): Statement => ({
      name: 'mine',
      text: `select '${value}'::text where $1::integer = 1`,
    });
    expect(await statements.one(owner, mine('a'), [])).toBe('a');
    await expect(statements.one(owner, mine('b'), [])).rejects.toThrow("Two statements are called 'mine'");
    expect(await statements.one(owner, mine('a'), [])).toBe('a');
  });

  it('is refused as a list, too, and does not show the other one', async () => {
    const listing = (value: string): Listing =>
      counted({
        name: 'mine.list',
        render: `select '${value}' as value from page`,
        rows: 'select where $1::integer = 1',
        total: 'select 1',
      });
    const [one, other] = [listing('a'), listing('b')];
    const page = (list: Listing) => statements.page({ organizationId: 1 }, list, [], { limit: 2, offset: 0 });
    expect((await page(one)).items).toEqual(['{"value":"a"}']);
    await expect(page(other)).rejects.toThrow("Two statements are called 'mine.list:2:first'");
    expect((await page(one)).items).toEqual(['{"value":"a"}']);
  });
});
