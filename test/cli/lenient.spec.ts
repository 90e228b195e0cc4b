import { existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Tenant } from '../support/lanyard';
import { install, type Installation, type Outcome } from '../support/operator';

type Lead = Record<string, unknown>;

const FILE = [
  'First name,Last name,Email,Create Date,Shoe size,Tags',
  'Ada,Rowe,ada@example.com,2026-05-04,38,',
  'Ben,Ito,nobody,yesterday,,Nope',
  ',,,tomorrow,44,',
  'First name,Last name,Email,Create Date,Shoe size,Tags',
  'Eve,"=Ito",eve@example.com,2026-05-05,,',
  'Total: 3',
  '',
].join('\n');

const ONE_LEAD = /^Imported 1 lead: 1 created, 0 updated, 0 unchanged\.\nImport ID: [\da-f-]{36}\n$/;

describe('import --lenient', () => {
  const folder = mkdtempSync(join(tmpdir(), 'lanyard-lenient-'));
  const file = join(folder, 'leads.csv');
  const list = `${file}.errors.csv`;
  let installation: Installation;
  let tenant: Tenant;
  beforeAll(async () => void (installation = await install()));
  afterAll(() => rmSync(folder, { recursive: true }));
  beforeEach(async () => {
    tenant = await installation.server.tenant();
    for (const name of [list, join(folder, 'leads.csv.errors-2.csv')]) rmSync(name, { force: true });
  });

  const run = (content: string | Buffer, ...options: string[]): Promise<Outcome> => {
    writeFileSync(file, content);
    const args = ['import', file, '--organization', String(tenant.organizationId), '--csv', 'leads'];
    return installation.operator.run([...args, ...options]);
  };
  const leads = (): Promise<Lead[]> => tenant.api.all<Lead>('/leads', 'leads');

  it('imports what can be read, and says what it has left out', async () => {
    const { status, stdout, stderr } = await run(FILE, '--lenient');
    expect({ status, stderr }).toEqual({ status: 3, stderr: '' });
    expect(stdout.split('\n')).toEqual([
      `Imported 3 leads: 3 created, 0 updated, 0 unchanged. Skipped 3 rows and 6 values: see ${list}.`,
      expect.stringMatching(/^column "Email": 1 value, such as "nobody"\. "nobody" is not a valid e-mail address/),
      expect.stringMatching(/^column "Create Date": 2 values, such as "yesterday"\. Cannot read "yesterday"/),
      'column "Shoe size": 2 values, such as "38". Unknown column.',
      expect.stringMatching(/^column "Tags": 1 value, such as "Nope"\. No tag option is called "Nope"/),
      expect.stringMatching(/^Import ID: /),
      '',
    ]);
    expect(await leads()).toMatchObject([
      { firstName: 'Ada', email: 'ada@example.com', createdAt: '2026-05-04T00:00:00.000Z' },
      { firstName: 'Ben', email: null },
      { firstName: 'Eve', lastName: '=Ito' },
    ]);
  });

  it('lists everything in a file for its owner only, which is not overwritten', async () => {
    await run(FILE, '--lenient');
    const lines = readFileSync(list, 'utf8').split('\n');
    expect(lines[0]).toBe('line,column,value,reason,First name,Last name,Email,Create Date,Shoe size,Tags');
    expect(lines).toContain('2,Shoe size,38,Unknown column.');
    expect(lines).toContainEqual(expect.stringMatching(/^4,,,Nothing is left by which somebody could be /));
    expect(lines).toContainEqual(expect.stringMatching(/^5,,,"The header is repeated here\./));
    expect(lines).toContainEqual(expect.stringMatching(/^7,,,"Only one cell.*",Total: 3$/));
    expect(statSync(list).mode & 0o777).toBe(0o600);
    const before = readFileSync(list, 'utf8');
    expect((await run(FILE, '--lenient')).stdout).toContain('see ' + join(folder, 'leads.csv.errors-2.csv'));
    expect(readFileSync(list, 'utf8')).toBe(before);
  });

  it('reads the corrected list, whose first four columns it knows', async () => {
    const content = 'First name,Email\nAda,ada@example.com,x\n"=Ben",nobody\n';
    await run(content, '--lenient');
    const corrected = readFileSync(list, 'utf8').replace(',ada@example.com,x', ',ada@example.com');
    const { status, stdout } = await run(corrected);
    expect({ status, stdout }).toEqual({
      status: 0,
      stdout: expect.stringMatching(ONE_LEAD) as string,
    });
    expect((await leads()).map(({ firstName }) => firstName)).toEqual(['=Ben', 'Ada']);
  });

  it('says the same with --json, and writes the list where --errors says', async () => {
    const errors = join(folder, 'rest.csv');
    const { status, stdout } = await run(FILE, '--lenient', '--json', '--errors', errors);
    expect(status).toBe(3);
    expect(JSON.parse(stdout)).toMatchObject({
      imported: { leads: 3 },
      outcomes: { leads: { created: 3, updated: 0, unchanged: 0 } },
      skipped: {
        rows: 3,
        values: 6,
        columns: expect.arrayContaining([
          { column: 'Shoe size', count: 2, example: '38', reason: 'Unknown column.' },
        ]) as object[],
      },
      errorsFile: errors,
    });
  });

  it('names an hour that occurs twice once, with the offset that is taken, and counts its times', async () => {
    const content = 'email,Create Date\nnobody,2026-10-25 02:30\nb@example.com,2026-10-25 02:45\n';
    const options = ['--lenient', '--dry-run', '--time-zone', 'Europe/Berlin'];
    expect((await run(content, ...options)).stdout).toContain(
      '2 times in an hour that occurs twice in Europe/Berlin, such as "2026-10-25 02:30": the first one was taken, UTC+02:00.',
    );
    const { stdout } = await run(content, ...options, '--json');
    expect((JSON.parse(stdout) as { repeatedHours: object }).repeatedHours).toEqual({
      count: 2,
      value: '2026-10-25 02:30',
      timeZone: 'Europe/Berlin',
      offset: '+02:00',
    });
  });

  it('has status 0 and no list where nothing is left out', async () => {
    const { status, stdout } = await run('email\nada@example.com\n', '--lenient');
    expect({ status, stdout }).toEqual({ status: 0, stdout: expect.stringMatching(ONE_LEAD) as string });
    expect(existsSync(list)).toBe(false);
  });

  it('writes no list in a dry run, which says the same', async () => {
    const { status, stdout } = await run(FILE, '--lenient', '--dry-run');
    expect(status).toBe(3);
    expect(stdout).toMatch(
      /^Would import 3 leads: 3 created, 0 updated, 0 unchanged\. Skipped 3 rows and 6 values\.\n/,
    );
    expect(existsSync(list)).toBe(false);
    expect(await leads()).toEqual([]);
  });

  it('skips rows whose key is missing or doubled, and those that would change a person', async () => {
    const content = 'email,firstName\na@example.com,Ada\n,Ben\nA@example.com,Eve\n';
    const { status, stdout } = await run(content, '--lenient', '--match', 'email');
    expect(status).toBe(3);
    expect(stdout).toContain(' Skipped 2 rows: see ');
    expect(readFileSync(list, 'utf8')).toMatch(/^3,,,"?Empty, but --match email needs.*\n4,,,"?Duplicate of line 2\./m);
    expect((await leads()).map(({ firstName }) => firstName)).toEqual(['Ada']);
    await run('ID,First name,Last name\n1,Ada,Rowe\n');
    expect((await run('ID,First name,Last name\n1,Ben,Ito\n2,Eve,Ito\n', '--lenient')).stdout).toMatch(
      /^Imported 1 lead: 1 created.* Skipped 1 row: see /,
    );
    expect(readFileSync(join(folder, 'leads.csv.errors-2.csv'), 'utf8')).toMatch(
      /^2,,,"""1"" is Ada Rowe in Lanyard, but Ben Ito in this file\..*,1,Ben,Ito\n$/m,
    );
  });

  it('reads bytes that are not UTF-8 as windows-1252, and says so', async () => {
    const { stdout } = await run(Buffer.from('First name,City\nZo\xeb,Leeds\n', 'latin1'), '--lenient');
    expect(stdout).toContain('Line 2 is not valid UTF-8: its bytes were read as windows-1252.');
    expect(await leads()).toMatchObject([{ firstName: 'Zoë' }]);
  });

  it('is named by the last line of every rejection, after the options that help', async () => {
    const { status, stderr } = await run(FILE.replace('nobody', '').replace('tomorrow', ''));
    expect(status).toBe(1);
    const lines = stderr.trimEnd().split('\n');
    expect(lines.at(-1)).toBe('To import what can be read, and have the rest listed in a file, add --lenient.');
    expect(lines.at(-2)).toBe(
      `Correct the file, and try: npm run --silent operator -- import ${file} --organization ${tenant.organizationId} --csv leads --ignore-unknown --create-tags "Tags" --skip-rows 4,5,7`,
    );
  });
});
