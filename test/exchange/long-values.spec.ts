import { rmSync } from 'node:fs';
import { install, type Installation } from '../support/operator';

/**
 * What is long in a file must not hold the process: quadratic time for these files is minutes, and more than a test has.
 * test/nightly/long-values.spec.ts has those that take long even so.
 */
describe('an import of a file with', () => {
  let installation: Installation;
  let organizationId: number;

  beforeAll(async () => {
    installation = await install();
    organizationId = (await installation.server.tenant()).organizationId;
  });

  const importing = (input: string, ...options: string[]) =>
    installation.operator.run(['import', '-', '--organization', String(organizationId), ...options], input);
  afterEach(() => rmSync('import.mapping.json', { force: true }));

  it.each([
    ['a cell of 400,000 blanks', `firstName,email\nAda,${' '.repeat(400_000)}x`, 'is not a valid email'],
    [
      '400,000 blanks before a quote',
      `firstName,email\nAda,${' '.repeat(400_000)}"ada@example.com" x`,
      'Stray quotation mark',
    ],
    [
      'a column name of 100,000 combining marks',
      `firstName,e${'\u0301'.repeat(100_000)}\nAda,x`,
      'Would import 1 lead',
    ],
  ])(
    '%s',
    async (_, input, fault) => {
      const { status, stdout, stderr } = await importing(input, '--csv', 'leads');
      expect(stdout + stderr).toContain(fault);
      expect(status).toBe(1);
    },
    90_000,
  );

  it('the name of a field of 100,000 combining marks', async () => {
    const name = 'e\u0301'.repeat(50_000) + '\u0301\u0323'.repeat(100_000);
    const { status, stderr } = await importing(JSON.stringify({ leads: [{ [name]: 'x' }] }));
    expect({ status, isNamed: stderr.includes('not a field') }).toEqual({ status: 1, isNamed: true });
  }, 90_000);
});
