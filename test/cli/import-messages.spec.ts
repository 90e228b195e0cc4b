import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Tenant } from '../support/lanyard';
import { install, type Installation, type Outcome } from '../support/operator';

interface Result {
  errors?: { line: number | null }[];
  more?: number;
  notes?: string[];
  columns?: object[];
  format?: object;
}

describe('the import of a file', () => {
  const folder = mkdtempSync(join(tmpdir(), 'lanyard-messages-'));
  const file = join(folder, 'file');
  let installation: Installation;
  let tenant: Tenant;
  beforeAll(async () => void (installation = await install()));
  afterAll(() => rmSync(folder, { recursive: true }));
  beforeEach(async () => void (tenant = await installation.server.tenant()));

  const importing = (content: string, ...options: string[]): Promise<Outcome> => {
    writeFileSync(file, content);
    return installation.operator.run(['import', file, '--organization', String(tenant.organizationId), ...options]);
  };
  const run = (content: string, ...options: string[]): Promise<Outcome> =>
    importing(content, '--csv', 'leads', ...options);
  const json = async (content: string, ...options: string[]): Promise<Result> =>
    JSON.parse((await run(content, '--json', ...options)).stdout) as Result;
  const errorLines = async (content: string, ...options: string[]): Promise<string[]> => {
    const { stderr } = await run(content, ...options);
    return stderr.split('\n').filter((line) => line.startsWith('line '));
  };

  it('whose dry run says how it is read: what separates cells, who says so, and what each column fills', async () => {
    const content = 'sep=;\nemail;Create Date;Due;Status\na@example.com;25/4/2026;5/4/2026;Paid\n';
    const { stdout } = await run(content, '--dry-run', '--map', 'Due=createdAt', '--map', 'Create Date=');
    expect(stdout).toBe('');
    const all = await run(content, '--dry-run', '--map', 'Due=');
    expect(all.stdout).toContain(
      'Cells are separated by semicolons, as sep= says. The header is on line 2.\nDates in column "Create Date" are read as DMY, as its values prove.\n',
    );
    expect(all.stdout).toMatch(/^Create Date +createdAt\nDue +\(skipped\)\nStatus +\(counted\)$/m);
    const { format, columns, notes } = await json(content, '--dry-run', '--map', 'Due=');
    expect(format).toEqual({
      delimiter: ';',
      delimiterSource: 'sep=',
      headerLine: 2,
      dateFormats: { 'Create Date': 'DMY' },
    });
    expect(columns).toContainEqual({ column: 'Create Date', field: 'createdAt' });
    expect(notes).toEqual(['Column "Status": "Paid" 1.']);
    const given = await run(content.slice(6), '--dry-run', '--map', 'Due=', '--delimiter', ';', '--date-format', 'DMY');
    expect(given.stdout).toContain('Cells are separated by semicolons, as --delimiter says. The header is on line 1.');
    expect(given.stdout).toContain('Dates in column "Create Date" are read as DMY, as --date-format says.');
    const plain = await json('email,firstName\na@example.com,Ada\n', '--dry-run');
    expect(plain.format).toEqual({ delimiter: ',', delimiterSource: 'header', headerLine: 1, dateFormats: {} });
  });

  it('whose rejected command, with what was told, is the one to try next', async () => {
    const content = 'email,Shoe,Status\na@example.com,1,Paid\nTotal: 1\n';
    const [first] = (await run(content, '--only', 'Status=Paid', '--dry-run')).stderr.split('\n').slice(-3);
    expect(first).toMatch(/ --csv leads --only Status=Paid --dry-run --ignore-unknown$/);
    const more = `${content}Printed today\n`;
    const { stderr } = await run(more, '--ignore-unknown', '--skip-rows', '3');
    expect(stderr).toMatch(/^Try: .* --ignore-unknown --skip-rows 3 --skip-rows 4$/m);
    expect((await run(more, '--map', 'Shoe=', '--skip-rows', '3', '--skip-rows', '4')).stdout).toMatch(
      /^Imported 1 lead/,
    );
  });

  it('whose errors --all reports each with its own line, in JSON, too', async () => {
    const content = `email,numberOfScans,Shoe\n${'nobody,many,1\n'.repeat(15)}`;
    const lines = await errorLines(content, '--all');
    expect(lines).toHaveLength(31);
    expect(lines.slice(0, 3)).toEqual([
      'line 1, column "Shoe": Unknown column.',
      'line 2, column "email": "nobody" is not a valid e-mail address. Use an address such as name@example.com.',
      'line 2, column "numberOfScans": "many" is not a valid numberOfScans. Use a whole number from 0 to 2147483647.',
    ]);
    const { errors, more } = await json(content, '--all');
    expect([errors?.length, errors?.at(-1)?.line, more]).toEqual([31, 16, 0]);
    const twice = `id,email\n${`7c9e0000-0000-4000-8000-0000000000aa,a@example.com\n`.repeat(30)}`;
    expect((await json(twice, '--all')).errors).toHaveLength(29);
    expect((await json(twice)).errors).toHaveLength(20);
    const records = { leads: Array.from({ length: 30 }, () => ({ email: 'nobody' })) };
    const { stderr } = await importing(JSON.stringify(records), '--all');
    expect(stderr.trimEnd().split('\n')).toHaveLength(60);
  });
});
