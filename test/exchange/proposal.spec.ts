import { appendFileSync, existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Mapping, parseMapping } from '../../src/exchange/csv/mapping';
import { exactMapping, type Proposal, proposeMapping } from '../../src/exchange/csv/propose';
import { displayWidth } from '../../src/operator/terminal/columns';
import { proposalText } from '../../src/operator/proposal-report';
import { DATASETS } from '../support/contexts';
import { CSV, fileOf } from '../support/csv-files';
import type { Tenant } from '../support/lanyard';
import { install, type Installation, type Outcome } from '../support/operator';

interface Shown {
  mappingFile: string;
  mapping: Mapping;
  columns: object[];
  records: Record<string, unknown>[];
  outcomes: object;
  changes: object;
  warnings: string[];
  errors: object[];
  more: number;
}

const propose = (content: string | Buffer): Promise<Proposal> => proposeMapping(CSV.section('leads'), fileOf(content));
/** The field, and its format, of each column. */
const fieldsOf = async (content: string | Buffer): Promise<Record<string, unknown>> => {
  const { mapping } = await propose(content);
  return Object.fromEntries(
    mapping.columns.map(({ column, field, format }) => [column, format ? [field, format] : field]),
  );
};

describe('a proposal', () => {
  it('finds the header by the names of columns, and its delimiter', async () => {
    const content = 'Scans of 4 May\n\nName;E-Mail;Ort\nAda Rowe;a@b.co;Essen\n';
    expect(await propose(content)).toMatchObject({
      mapping: { delimiter: ';', headerLine: 3 },
      linesBefore: ['Scans of 4 May'],
    });
    expect((await propose('a,b\n1,2\n')).mapping).toMatchObject({ headerLine: undefined, delimiter: undefined });
  });

  it('takes no row of values for the header', async () => {
    const content = 'Email,What describes you best,Seen on\na@b.co,Company,LinkedIn\nc@b.co,Email,Phone\n';
    expect(await fieldsOf(content)).toEqual({ Email: 'email', 'What describes you best': null, 'Seen on': null });
  });

  it('says the encoding that the bytes have', async () => {
    const names = 'Vorname,Straße\nZoë,Weg 1\n';
    expect((await propose(Buffer.from(names, 'latin1'))).mapping).toMatchObject({
      encoding: 'windows-1252',
      columns: [{ field: 'firstName' }, { column: 'Straße', field: 'company.streetAddress' }],
    });
    expect((await propose(Buffer.from(`\ufeff${names}`, 'utf16le'))).mapping.encoding).toBeUndefined();
  });

  it('leaves out what is about somebody else, and knows words before a name', async () => {
    const names = ['Order Email', 'Buyer Name', 'Guest Phone', 'Assistant Phone', 'Invitee First Name', 'Ticket Email'];
    expect(Object.values(await fieldsOf(`${names.join(',')}\n`))).toEqual([
      null,
      null,
      null,
      null,
      'firstName',
      'email',
    ]);
  });

  it('reads days and months as the values prove, or else as DMY with a warning', async () => {
    expect(await fieldsOf('Email,Date\na@b.co,4/5/2026\na@b.co,12/31/26\n')).toMatchObject({
      Date: ['createdAt', 'MDY'],
    });
    expect(await fieldsOf('Email,Date\na@b.co,2026-05-04 09:12\n')).toMatchObject({ Date: 'createdAt' });
    const { mapping, warnings } = await propose('Email,Date\na@b.co,4/5/26\n');
    expect(mapping.columns[1]).toMatchObject({ format: 'DMY' });
    expect(warnings).toEqual([expect.stringContaining('"Date" do not tell days from months.')]);
    expect((await propose('Email,Date\na@b.co,4 May 2026\n')).warnings).toEqual([]);
  });

  it.each([
    ['"Rowe, Ada"\n"Ito, Ben"\n', ['name', 'last, first']],
    ['Ada Rowe\nRobert King Jr.\nAda 🦊\n', 'name'],
  ])('reads the names %j as %j', async (rows, expected) => {
    expect(await fieldsOf(`Name\n${rows}`)).toEqual({ Name: expected });
  });

  it.each([
    ['Nachname,Vorname,Name\nRowe,Ada,x\n', { Nachname: 'lastName', Vorname: 'firstName', Name: null }],
    [
      'name,first_name,last_name,ticket_name\nAda Rowe,Ada,Rowe,Day\nBen Ito,,,Day\n',
      { name: 'name', first_name: null, last_name: null, ticket_name: null },
    ],
    ['Vorname,Name\nAda,Rowe\n', { Vorname: 'firstName', Name: 'lastName' }],
    ['Work Email,Personal Email\na@b.co,c@b.co\n', { 'Work Email': 'email', 'Personal Email': 'personalEmails' }],
    ['Title,Job Title\nMs.,Head\n', { Title: null, 'Job Title': 'jobTitle' }],
    ['City,Town\n,Leeds\n', { City: null, Town: 'company.city' }],
    ['Record ID,City\n1,Leeds\n', { 'Record ID': 'ref', City: 'company.city' }],
    ['#,Email\n1,a@b.co\n', { '#': null, Email: 'email' }],
    ['Lead Source,Email\nWeb,a@b.co\n', { 'Lead Source': null, Email: 'email' }],
    [
      'Street address line 1 - Home,City - Home,Email\n1 Dock St,Leeds,a@b.co\n',
      { 'Street address line 1 - Home': null, 'City - Home': null, Email: 'email' },
    ],
  ])('of %j is %j', async (content, fields) => {
    expect(await fieldsOf(content)).toEqual(fields);
  });

  it.each([
    [
      'E-Mail,Ihre E-Mail-Adresse\nanonymous,a@b.co\nanonymous,b@b.co\n',
      ['"E-Mail" holds no address in any row; "Ihre E-Mail-Adresse" does.', expect.stringContaining('has no field')],
    ],
    ['Email,SMS\na@b.co,+447700900123\n', ['"SMS" has no field, but its values are numbers to call.']],
    ['Email,Site\na@b.co,https://b.co\n', ['"Site" has no field, but its values are links.']],
  ])('of %j warns', async (content, warnings) => {
    expect((await propose(content)).warnings).toEqual(warnings);
  });

  it('names the columns that are empty, and those without a name', async () => {
    const { mapping } = await propose('Email,,Email\na@b.co,x,\n');
    expect(mapping.columns).toMatchObject([{ field: 'email' }, { column: '', field: null }, { field: null }]);
  });

  it.each([80, 200])('fits a terminal of %d columns, whatever the file has', async (width) => {
    const names = Array.from(
      { length: 60 },
      (_, index) => `Question ${index}: what would you like to see at our booth?`,
    );
    const cells = names.map((_, index) => (index === 3 ? '"An answer\nof two lines"' : `عادة ${index} 東京`));
    const proposal = await propose(`Email,اسم,${names.join(',')}\na@b.co,ליאת,${cells.join(',')}\n`);
    const shown = { datasets: DATASETS, proposal, mappingFile: 'f.mapping.json', command: 'lanyard import f' };
    const text = proposalText(shown, width);
    expect(text.split('\n').filter((line) => displayWidth(line) > width)).toEqual([]);
    expect(text.match(/Question \d+/g)).toHaveLength(60);
    expect(text).toContain('An answer ↵ of two');
  });

  it('shows values that do not fit beside their column on lines of their own, all of them', async () => {
    const values = ['Pumps and valves', 'Seals and gaskets', 'Pipes and fittings', 'Motors and drives'];
    const proposal = await propose(
      `Email,What would you like to see?\n${values.map((value) => `a@b.co,${value}\n`).join('')}`,
    );
    const text = proposalText({ datasets: DATASETS, proposal, mappingFile: 'f.mapping.json', command: 'x' }, 80);
    expect(text).toContain(
      [
        'What would you like…  -      4       4',
        '    "Pumps and valves" 1, "Seals and gaskets" 1, "Pipes and fittings" 1',
        '    "Motors and drives" 1',
      ].join('\n'),
    );
  });

  it('keeps the order of what stands after a text that runs from right to left', async () => {
    const proposal = await propose('Email,First name\na@b.co,ליאת\n');
    const text = proposalText({ datasets: DATASETS, proposal, mappingFile: 'f.mapping.json', command: 'x' }, 80);
    expect(text).toContain('"ליאת"\u200e 1');
  });

  it('shows the lines before the header without their delimiters', async () => {
    const content = 'Scans;;;\nStand;4.1;;\n;;;\nName;E-Mail;Ort;Firma\nAda Rowe;a@b.co;Essen;\n';
    expect(await propose(content)).toMatchObject({ linesBefore: ['Scans', 'Stand  4.1'] });
  });
});

describe('the mapping of a header with the names of fields', () => {
  const mappingOf = (content: string): Promise<Mapping | undefined> =>
    exactMapping(CSV.section('leads'), fileOf(content));

  it('is what the names say, and empty cells keep what is stored', async () => {
    expect(await mappingOf('email,phone.mobile\n')).toMatchObject({
      emptyCells: 'keep',
      columns: [
        { column: 'email', field: 'email' },
        { column: 'phone.mobile', field: 'phone.mobile' },
      ],
    });
  });

  it.each(['Email\n', 'email;phone\n', '\nemail\n', 'email,xyz\n', 'email,\n'])('is none for %j', async (content) => {
    expect(await mappingOf(content).catch(() => undefined)).toBeUndefined();
  });

  it('is none for bytes that are not UTF-8', async () => {
    const content = Buffer.from('email,lastName\na@b.co,Zo\xeb\n', 'latin1');
    expect(await exactMapping(CSV.section('leads'), fileOf(content))).toBeUndefined();
  });
});

describe('a mapping', () => {
  it.each<[object | string, string]>([
    ['{', 'This is not JSON: '],
    [[], 'A mapping must be a JSON object.'],
    [{ columns: [] }, 'section is missing.'],
    [{ section: 'events', columns: [] }, 'section must be one of: leads, industryEvents.'],
    [{ section: 'leads', columns: [], colums: [] }, '"colums" is not a key of a mapping.'],
    [{ section: 'leads', columns: [], encoding: 'utf-9' }, 'encoding must be the name of an encoding'],
    [{ section: 'leads', columns: [], delimiter: ';;' }, 'delimiter must be one character.'],
    [{ section: 'leads', columns: [], headerLine: 0 }, 'headerLine must be the number of a line'],
    [{ section: 'leads', columns: [], skipLines: 7 }, 'skipLines must be a list of numbers of lines.'],
    [{ section: 'leads', columns: [], timeZone: 'Mars' }, 'timeZone must be the name of a time zone'],
    [{ section: 'leads', columns: [], emptyCells: 'x' }, 'emptyCells must be "keep" or "clear".'],
    [{ section: 'leads', columns: [{ column: 'A' }] }, 'columns[0].field is missing.'],
    [
      { section: 'leads', columns: [{ column: 'A', field: 'emial' }] },
      'columns[0].field: leads have no field "emial". Did you mean email?',
    ],
    [
      { section: 'leads', columns: [{ column: 'A', field: 'createdAt', format: 'YDM' }] },
      'columns[0].format must be one of: DMY, MDY, YMD.',
    ],
    [
      { section: 'leads', columns: [{ column: 'A', field: 'email', format: 'DMY' }] },
      'columns[0].format must be left out, because the field has no formats.',
    ],
    [
      { section: 'leads', columns: [{ column: 'A', field: null, only: 'x' }] },
      'columns[0].only must be a list of texts.',
    ],
  ])('%j has an error with its place', (mapping, message) => {
    const text = typeof mapping === 'string' ? mapping : JSON.stringify(mapping);
    expect(() => parseMapping(text, CSV)).toThrow(message);
  });
});

describe('the first import of an unknown file', () => {
  const folder = mkdtempSync(join(tmpdir(), 'lanyard-proposal-'));
  const file = join(folder, 'scan.csv');
  const mappingFile = `${file}.mapping.json`;
  const FILE = 'First name,E-mail,Company\nAda,ada@example.com,Cobalt\nBen,ben@example.com,\nKim,kim@example.com,Sum\n';
  let installation: Installation;
  let tenant: Tenant;
  beforeAll(async () => void (installation = await install()));
  afterAll(() => rmSync(folder, { recursive: true }));
  beforeEach(async () => {
    tenant = await installation.server.tenant();
    rmSync(mappingFile, { force: true });
  });

  const run = (content: string, ...options: string[]): Promise<Outcome> => {
    writeFileSync(file, content);
    return installation.operator.run(['import', file, '--organization', String(tenant.organizationId), ...options]);
  };
  const json = async (content: string, ...options: string[]): Promise<Shown> => {
    const { status, stdout } = await run(content, '--csv', 'leads', '--json', ...options);
    expect(status).toBe(1);
    return JSON.parse(stdout) as Shown;
  };
  const leads = () => tenant.api.all<Record<string, unknown>>('/leads', 'leads');

  it('stores nothing, shows what would be, and writes the mapping for its owner only', async () => {
    const { status, stdout } = await run(FILE, '--csv', 'leads');
    expect(status).toBe(1);
    expect(stdout).toContain('The names of the columns are in line 1, cells are separated by commas');
    expect(stdout).toMatch(/^First name +firstName +3 +3 +"Ada" 1, "Ben" 1, "Kim" 1$/m);
    expect(stdout).toMatch(/^Record 1:\n {2}firstName: Ada$/m);
    expect(stdout).toMatch(/^Last record:\n {2}firstName: Kim$/m);
    expect(stdout).toContain('Would import 3 leads: 3 created, 0 updated, 0 unchanged.');
    expect(stdout).toContain('The rows have no ID, so the next import of this file would create all of them again.');
    expect(stdout.trimEnd()).toMatch(new RegExp(`--mapping ${mappingFile}$`));
    expect(statSync(mappingFile).mode & 0o777).toBe(0o600);
    expect(await leads()).toEqual([]);

    const again = await run(FILE, '--csv', 'leads');
    expect(again).toEqual({
      status: 1,
      stdout: '',
      stderr: `${mappingFile} exists already. Import with --mapping ${mappingFile}, or delete it for a new proposal.\n`,
    });
    expect(await run(FILE, '--mapping', mappingFile)).toMatchObject({ status: 0, stderr: '' });
    expect(await leads()).toHaveLength(3);
    const { status: other, stderr } = await run(FILE, '--mapping', mappingFile, '--csv', 'industryEvents');
    expect({ other, stderr }).toEqual({
      other: 2,
      stderr: expect.stringContaining('differs from the section') as string,
    });
  });

  it('says the same as JSON, with what would change', async () => {
    await tenant.import({
      leads: [
        { id: '7c9e0000-0000-4000-8000-000000000001', firstName: 'Eve', jobTitle: 'Head', email: 'ada@example.com' },
      ],
    });
    const shown = await json(FILE, '--match', 'email', '--dry-run');
    expect(shown).toMatchObject({
      mappingFile,
      mapping: { section: 'leads', columns: [{ column: 'First name', field: 'firstName' }, {}, {}] },
      columns: [
        { column: 'First name', field: 'firstName', filled: 3, different: 3 },
        { column: 'E-mail', field: 'email', filled: 3, different: 3 },
        {
          column: 'Company',
          field: 'company.name',
          filled: 2,
          different: 2,
          values: [{ value: 'Cobalt', count: 1 }, {}],
        },
      ],
      outcomes: { leads: { created: 2, updated: 1, unchanged: 0 } },
      changes: { firstName: { changed: 1, emptied: 0 } },
      warnings: [],
      errors: [],
      more: 0,
    });
    expect(shown.records.map(({ firstName }) => firstName)).toEqual(['Ada', 'Ben', 'Kim']);
    expect(JSON.parse(readFileSync(mappingFile, 'utf8'))).toEqual(shown.mapping);
    expect((await leads()).map(({ firstName }) => firstName)).toEqual(['Eve']);
  });

  it('names all errors, and what would be left without them', async () => {
    const shown = await json('First name,E-mail\nAda,nobody\nTotal 3,\n-,\n');
    expect(shown.errors).toMatchObject([
      { line: 2, column: 'E-mail', value: 'nobody' },
      { line: 4, column: null },
    ]);
    expect(shown.outcomes).toEqual({ leads: { created: 2, updated: 0, unchanged: 0 } });
  });

  it('shows a footer, and companies that are none', async () => {
    const content = 'Name,Email,Company\nAda Rowe,ada@example.com,-\n,,n/a\n,,-\nTotal,3003,,\n';
    const shown = await json(content);
    expect(shown.columns).toContainEqual(
      expect.objectContaining({
        column: 'Company',
        values: [
          { value: '-', count: 2 },
          { value: 'n/a', count: 1 },
        ],
      }),
    );
    expect(shown.errors).toMatchObject([
      { line: 4, column: null },
      { line: 5, column: 'Email', value: '3003' },
    ]);
    expect(shown.records.map(({ lastName }) => lastName)).toEqual(['Rowe', null, 'Total']);
  });

  it('asks at a terminal, and imports what is confirmed', async () => {
    writeFileSync(file, FILE);
    const args = ['import', file, '--organization', String(tenant.organizationId), '--csv', 'leads'];
    const refused = await installation.operator.runAtTerminal(args, 80, () => 'n');
    expect(refused).toMatchObject({
      status: 1,
      stderr: expect.stringContaining('Import it like this? [y/N]') as string,
    });
    expect(await leads()).toEqual([]);
    rmSync(mappingFile);
    const { status, stdout } = await installation.operator.runAtTerminal(args, 80, () => 'y');
    expect(status).toBe(0);
    expect(stdout).toMatch(/^Imported 3 leads: 3 created/m);
    expect(stdout.split('\n').filter((line) => line.length > 80 && !line.includes(file))).toEqual([]);
    expect(await leads()).toHaveLength(3);
  });

  it('refuses a file that has changed while it asked', async () => {
    writeFileSync(file, FILE);
    const args = ['import', file, '--organization', String(tenant.organizationId), '--csv', 'leads'];
    const { status, stderr } = await installation.operator.runAtTerminal(args, 80, () => {
      appendFileSync(file, 'Eve,eve@example.com,\n');
      return 'y';
    });
    expect({ status, stderr }).toEqual({
      status: 1,
      stderr: expect.stringContaining(`${file} has changed meanwhile. Nothing was imported.`) as string,
    });
    expect(await leads()).toEqual([]);
  });

  it('warns of rows without anybody, of the same person twice, and counts many values', async () => {
    const rows = Array.from({ length: 1001 }, (_, index) => `${index},Leeds\n`).join('');
    const shown = await json(`Record ID,City\n${rows}`);
    expect(shown.columns).toMatchObject([{ filled: 1001, different: null, values: [{}, {}, {}] }, { different: 1 }]);
    expect(shown.warnings).toEqual(['1,001 of 1,001 rows without a name or an address.']);
    rmSync(mappingFile);
    const twice = await json('Full name,Mail\nAda Rowe,a@b.co\nA. Rowe,A@b.co\n');
    expect(twice.warnings[0]).toMatch(/^1 row with the address of an earlier row would become/);
  });

  it('of a header alone is proposed, and imported as nothing', async () => {
    expect((await json('First name,E-mail\n')).outcomes).toEqual({ leads: { created: 0, updated: 0, unchanged: 0 } });
    const { status, stdout } = await run('First name,E-mail\n', '--mapping', mappingFile);
    expect({ status, stdout }).toMatchObject({
      status: 0,
      stdout: expect.stringMatching(/^Imported 0 leads: /) as string,
    });
  });

  it.each([
    ['a file that is missing', [undefined, '--csv', 'leads']],
    ['a proposal', [FILE, '--csv', 'leads']],
    ['a mapping that exists', [FILE, '--csv', 'leads']],
    ['CSV without --csv', [FILE]],
  ])('escapes a file name that controls the terminal, for %s', async (_, [content, ...options]) => {
    const name = join(folder, 'a\x1b[31m.csv');
    rmSync(name, { force: true });
    if (content !== undefined) writeFileSync(name, content);
    const args = ['import', name, '--organization', String(tenant.organizationId), ...options] as string[];
    const { status, stdout, stderr } = await installation.operator.run(args);
    expect(status).not.toBe(0);
    expect(stdout + stderr).toContain('a\\u001b[31m.csv');
    expect(stdout + stderr).not.toContain('\x1b');
  });

  it('reads standard input, and writes import.mapping.json', async () => {
    rmSync('import.mapping.json', { force: true });
    const args = ['import', '-', '--organization', String(tenant.organizationId), '--csv', 'leads'];
    const { status, stdout } = await installation.operator.run(args, FILE);
    expect({ status, isWritten: existsSync('import.mapping.json') }).toEqual({ status: 1, isWritten: true });
    expect(stdout).toContain('--mapping import.mapping.json');
    rmSync('import.mapping.json');
    expect(await leads()).toEqual([]);
  });
});
