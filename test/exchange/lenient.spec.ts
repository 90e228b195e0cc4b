import { existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Mapping } from '../../src/exchange/csv/mapping';
import { mappingOf } from '../support/csv-files';
import type { Tenant } from '../support/lanyard';
import { install, type Installation, type Outcome } from '../support/operator';

type Lead = Record<string, unknown>;

const LINES = [
  'Scans of the day',
  'First;Mail;Date;Tags',
  'Ada;ada@example.com;2026-05-04;',
  'Zo\xeb;nobody;yesterday;Nope',
  ';;;',
  '-;;tomorrow;',
  'Eve;"eve@example.com" x;;',
  'Kim;kim@example.com;;',
  '',
];
const FILE = Buffer.from(LINES.join('\r\n'), 'latin1');
const MAPPING = mappingOf(
  { First: 'firstName', Mail: 'email', Date: 'createdAt', Tags: 'tags' },
  { encoding: 'windows-1252', delimiter: ';', headerLine: 2 },
);

const ONE_LEAD = /^Imported 1 lead: 1 created, 0 updated, 0 unchanged\.\nImport ID: [\da-f-]{36}\n$/;

describe('import --lenient', () => {
  const folder = mkdtempSync(join(tmpdir(), 'lanyard-lenient-'));
  const file = join(folder, 'leads.csv');
  const [errors, skipped, mappingFile] = [`${file}.errors.csv`, `${file}.skipped.csv`, join(folder, 'mapping.json')];
  let installation: Installation;
  let tenant: Tenant;
  beforeAll(async () => void (installation = await install()));
  afterAll(() => rmSync(folder, { recursive: true }));
  beforeEach(async () => {
    tenant = await installation.server.tenant();
    for (const name of [errors, skipped]) rmSync(name, { force: true });
  });

  const run = (content: string | Buffer, mapping?: Mapping, ...options: string[]): Promise<Outcome> => {
    writeFileSync(file, content);
    if (mapping) writeFileSync(mappingFile, JSON.stringify(mapping));
    const format = mapping ? ['--mapping', mappingFile] : ['--csv', 'leads'];
    const args = ['import', file, '--organization', String(tenant.organizationId), ...format];
    return installation.operator.run([...args, ...options]);
  };
  const leads = (): Promise<Lead[]> => tenant.api.all<Lead>('/leads', 'leads');

  it('imports what can be read, and lists the rest for its owner only', async () => {
    const { status, stdout, stderr } = await run(FILE, MAPPING, '--lenient');
    expect({ status, stderr }).toEqual({ status: 3, stderr: '' });
    expect(stdout.split('\n')[0]).toBe(
      `Imported 3 leads: 3 created, 0 updated, 0 unchanged. Skipped 2 rows and 4 values: see ${errors} and ${skipped}.`,
    );
    expect(await leads()).toMatchObject([
      { firstName: 'Ada', createdAt: '2026-05-04T00:00:00.000Z' },
      { firstName: 'Zoë', email: null },
      { firstName: 'Kim' },
    ]);
    const lines = readFileSync(errors, 'utf8').split('\n');
    expect(lines[0]).toBe('line,column,value,reason');
    expect(lines).toContainEqual(expect.stringMatching(/^4,Mail,nobody,"""nobody"" is not a valid email\./));
    expect(lines).toContainEqual(expect.stringMatching(/^6,,,"?Nothing tells who this is\./));
    expect(lines).toContainEqual(expect.stringMatching(/^7,,,Stray quotation mark\./));
    expect([errors, skipped].map((name) => statSync(name).mode & 0o777)).toEqual([0o600, 0o600]);
  });

  it('skips a row with an invalid cell if empty cells empty fields, so that no stored value is lost', async () => {
    const [id, other] = ['7c9e0000-0000-4000-8000-000000000001', '7c9e0000-0000-4000-8000-000000000002'];
    await tenant.import({
      leads: [id, other].map((each) => ({ id: each, firstName: 'Ada', email: 'ada@example.com' })),
    });
    const mapping = mappingOf({ id: 'id', firstName: 'firstName', email: 'email' }, { emptyCells: 'clear' });
    const { status } = await run(`id,firstName,email\n${id},Eve,nobody\n${other},,\n`, mapping, '--lenient');
    expect(status).toBe(3);
    expect(await leads()).toMatchObject([
      { firstName: 'Ada', email: 'ada@example.com' },
      { firstName: null, email: null },
    ]);
    expect(readFileSync(errors, 'utf8')).toMatch(/^2,,.*nobody.* is not a valid email/m);
    expect(readFileSync(skipped, 'utf8')).toContain(`${id},Eve,nobody`);
  });

  it('has the skipped rows on their lines, to be corrected there and imported with the same mapping', async () => {
    await run(FILE, MAPPING, '--lenient');
    const text = readFileSync(skipped, 'latin1');
    expect(text.split(/\r?\n/)).toEqual([...LINES.slice(0, 2), '', '', '', LINES[5], LINES[6], '']);
    const corrected = text.replace('-;;tomorrow;', 'Bo\xe9;;;').replace('" x;;', '";;');
    const { status, stdout } = await run(Buffer.from(corrected, 'latin1'), MAPPING);
    expect({ status, stdout }).toMatchObject({
      status: 0,
      stdout: expect.stringMatching(/^Imported 2 leads: 2/) as string,
    });
    expect((await leads()).map(({ firstName }) => firstName)).toEqual(['Ada', 'Zoë', 'Kim', 'Boé', 'Eve']);
  });

  it('has bytes that are not text as they were', async () => {
    const content = Buffer.from('First;Mail;Date;Tags\n-;;\xe4;\xfc\nAda;;;\n', 'latin1');
    const { encoding: _, headerLine: __, ...mapping } = MAPPING;
    await run(content, mapping, '--lenient');
    expect(readFileSync(skipped, 'latin1')).toBe('First;Mail;Date;Tags\n-;;\xe4;\xfc\n');
  });

  it('overwrites no file, and imports nothing then', async () => {
    writeFileSync(skipped, 'mine');
    const { status, stderr } = await run(FILE, MAPPING, '--lenient');
    expect({ status, stderr }).toEqual({
      status: 1,
      stderr: `Cannot write ${skipped}: the file exists already. Nothing was imported.\n`,
    });
    expect(await leads()).toEqual([]);
  });

  it('says the same with --json, and writes the list where --errors says', async () => {
    const list = join(folder, 'rest.csv');
    const { status, stdout } = await run(FILE, MAPPING, '--lenient', '--json', '--errors', list);
    expect(status).toBe(3);
    expect(JSON.parse(stdout)).toMatchObject({
      imported: { leads: 3 },
      outcomes: { leads: { created: 3, updated: 0, unchanged: 0 } },
      skipped: { rows: 2, values: 4 },
      errorsFile: list,
      skippedFile: skipped,
    });
  });

  it('has status 0 and no list where nothing is left out', async () => {
    const { status, stdout } = await run('email\nada@example.com\n', undefined, '--lenient');
    expect({ status, stdout }).toEqual({ status: 0, stdout: expect.stringMatching(ONE_LEAD) as string });
    expect([errors, skipped].some(existsSync)).toBe(false);
  });

  it('writes no list in a dry run, which says the same', async () => {
    const { status, stdout } = await run(FILE, MAPPING, '--lenient', '--dry-run');
    expect(status).toBe(3);
    expect(stdout).toMatch(/^Would import 3 leads: .* Skipped 2 rows and 4 values\.\n/);
    expect([errors, skipped].some(existsSync)).toBe(false);
    expect(await leads()).toEqual([]);
  });

  it('skips rows whose key is missing or doubled, and those that would change a person', async () => {
    const content = 'email,firstName\na@example.com,Ada\n,Ben\nA@example.com,Eve\n';
    const { status, stdout } = await run(content, undefined, '--lenient', '--match', 'email');
    expect(status).toBe(3);
    expect(stdout).toContain(' Skipped 2 rows: see ');
    expect(readFileSync(errors, 'utf8')).toMatch(
      /^3,,,"?Empty, but --match email needs.*\n4,,,"?Duplicate of line 2\./m,
    );
    expect(readFileSync(skipped, 'utf8')).toBe('email,firstName\n\n,Ben\nA@example.com,Eve\n');
    for (const name of [errors, skipped]) rmSync(name);
    await run('ref,firstName,lastName\n1,Ada,Rowe\n');
    const again = 'ref,firstName,lastName\n1,Ben,Ito\n2,Eve,Ito\n';
    expect((await run(again, undefined, '--lenient')).stdout).toMatch(
      /^Imported 1 lead: 1 created.* Skipped 1 row: see /,
    );
    expect(readFileSync(errors, 'utf8')).toMatch(/^2,,,"""1"" is Ada Rowe in Lanyard, but Ben Ito in this file\./m);
  });

  it('never excuses a column', async () => {
    const { status, stderr } = await run('First;Mail;Date;Other\n', { ...MAPPING, headerLine: 1 }, '--lenient');
    expect(status).toBe(1);
    expect(stderr).toContain('line 1, column "Other": The mapping does not name this column.');
  });
});
