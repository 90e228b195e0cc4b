import { CountedListing, Statements } from '../src/database/statements';
import { InProcess, startInProcess } from './support/lanyard';

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
    const text = (value: string): string => `select '${value}'::text where $1::integer = 1`;
    expect(await statements.one(owner, 'mine', text('a'), [])).toBe('a');
    await expect(statements.one(owner, 'mine', text('b'), [])).rejects.toThrow("Two statements are called 'mine'");
    expect(await statements.one(owner, 'mine', text('a'), [])).toBe('a');
  });

  it('is refused as a list, too, and does not show the other one', async () => {
    const listing = (value: string): CountedListing => ({
      name: 'mine.list',
      render: `select '${value}' as value from page`,
      rows: 'select where $1::integer = 1',
      total: 'select 1',
    });
    const [one, other] = [listing('a'), listing('b')];
    const page = (list: CountedListing) => statements.page({ organizationId: 1 }, list, [], { limit: 2, offset: 0 });
    expect((await page(one)).items).toEqual(['{"value":"a"}']);
    await expect(page(other)).rejects.toThrow("Two statements are called 'mine.list:2:first'");
    expect((await page(one)).items).toEqual(['{"value":"a"}']);
  });
});
