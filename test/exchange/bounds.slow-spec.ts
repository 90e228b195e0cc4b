import { randomUUID } from 'node:crypto';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { surveyRows } from '../../src/exchange/csv/survey';
import { WHOLE_RECORDS } from '../../src/exchange/datasets/import-plan';
import { Stage } from '../../src/exchange/datasets/stage';
import type { Tenant } from '../support/lanyard';
import { install, type Installation, type Outcome } from '../support/operator';

const nested = (depth: number): string => `${'{"a":'.repeat(depth)}1${'}'.repeat(depth)}`;
const keys = (count: number): string => `{${Array.from({ length: count }, (_, n) => `"key${n}":1`).join(',')}}`;
const line = (record: string): string => `{"section":"leads","record":${record}}\n`;
const FIRST_LINE = line(`{"id":"${randomUUID()}"}`);

describe('a file has bounds, whatever its rows are like', () => {
  let installation: Installation;
  let tenant: Tenant;
  beforeAll(async () => {
    installation = await install();
    tenant = await installation.server.tenant();
  });

  const run = (content: string, ...options: string[]): Promise<Outcome> =>
    installation.operator.run(['import', '-', '--organization', String(tenant.organizationId), ...options], content);

  it.each([
    ['nested 8,000 levels deep', nested(8000), 'is nested too deeply. Use at most 100 levels.'],
    ['nested 101 levels deep', nested(101), 'is nested too deeply. Use at most 100 levels.'],
    ['with 120,000 unknown keys', keys(120_000), 'has too many keys. Use at most 10,000 keys.'],
  ])('a record %s is an error that names its line', async (_, record, message) => {
    const expected = `line 2: leads[1]: This record ${message}\n`;
    expect(await run(FIRST_LINE + line(record))).toEqual({ status: 1, stdout: '', stderr: expected });
    const { stdout } = await run(FIRST_LINE + line(record), '--json');
    const place = { line: 2, column: null, path: 'leads[1]', value: null };
    expect(JSON.parse(stdout)).toMatchObject({ errors: [place], more: 0 });
    const object = await run(`{"leads":[${record}]}`);
    expect(object).toEqual({ status: 1, stdout: '', stderr: `leads[0]: This record ${message}\n` });
  });

  it.each([
    ['100 levels', nested(100), 'leads[1].a: not a field'],
    ['10,000 keys', keys(10_000), 'leads[1].key0: not a field'],
  ])('a record of %s is checked like any other', async (_, record, message) => {
    const { status, stderr } = await run(FIRST_LINE + line(record));
    expect({ status, message: stderr.includes(message) }).toEqual({ status: 1, message: true });
  });

  it('a section that is nested deeply is an unknown one', async () => {
    const { status, stdout } = await run(`{"section":${nested(8000)}}\n{}\n`, '--json');
    expect({ status, result: JSON.parse(stdout) as unknown }).toMatchObject({
      status: 1,
      result: { errors: [{ line: 1, value: null }, { line: 2 }] },
    });
  });

  it.each([
    ['short', 'x', 1000],
    ['long', 'x'.repeat(600_000), 7],
  ])('%s records are sent to PostgreSQL before they are too many', (_, value, expected) => {
    const none = undefined as never;
    const stage = new Stage(none, none, [], { ...WHOLE_RECORDS, isLenient: true });
    const issue = { line: 1, column: 'Title', path: null, value, expected: '', message: 'too long' };
    let count = 1;
    while (!stage.enqueue({ issues: [issue] })) count++;
    expect(count).toBe(expected);
  });

  it('a proposal keeps the values that it counts, and not the rows around them', async () => {
    setFlagsFromString('--expose-gc');
    const collectGarbage = runInNewContext('gc') as () => void;
    const used = (): number => {
      collectGarbage();
      return process.memoryUsage().heapUsed;
    };
    const MIB = 1 << 20;
    async function* rows() {
      for (let line = 1; line <= 100; line++) {
        const row = Buffer.from(`ada.rowe.${line}@example.com,${'x'.repeat(MIB)}`).toString();
        yield await Promise.resolve([{ line, nextLine: line + 1, cells: [row.slice(0, row.indexOf(','))] }]);
      }
    }
    const before = used();
    const columns = await surveyRows(['E-mail'], [undefined], rows());
    expect((used() - before) / MIB).toBeLessThan(20);
    expect(columns).toMatchObject([{ filled: 100, different: 100 }]);
  });
});
