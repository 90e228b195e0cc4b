import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Tenant } from '../support/lanyard';
import { install, type Installation, type Outcome } from '../support/operator';

type Lead = Record<string, unknown> & { company: Record<string, unknown> | null };

const ID = '7c9e6679-7425-40de-944b-e07fc1f90ae7';

describe('a file that is imported', () => {
  const folder = mkdtempSync(join(tmpdir(), 'lanyard-unstorable-'));
  const file = join(folder, 'file');
  let installation: Installation;
  let tenant: Tenant;
  beforeAll(async () => void (installation = await install()));
  afterAll(() => rmSync(folder, { recursive: true }));
  beforeEach(async () => {
    tenant = await installation.server.tenant();
    for (const end of ['errors', 'skipped']) rmSync(`${file}.${end}.csv`, { force: true });
  });

  const run = (content: string | Buffer, ...options: string[]): Promise<Outcome> => {
    writeFileSync(file, content);
    return installation.operator.run(['import', file, '--organization', String(tenant.organizationId), ...options]);
  };
  const csv = (content: string | Buffer, ...options: string[]) => run(content, '--csv', 'leads', ...options);
  const leads = (): Promise<Lead[]> => tenant.api.all<Lead>('/leads', 'leads');

  describe.each([
    ['NUL', '\0', '\\u0000'],
    ['half of a surrogate pair', '\ud83d', '\\ud83d'],
  ])('with %s', (_, character, shown) => {
    const why = `"A${shown}a" contains NUL or half of a character (an unpaired surrogate). Use text without it.`;
    const bytesOf = (text: string): Buffer => Buffer.from(`\ufeff${text}`, 'utf16le');

    it.each([
      ['a text', 'firstName', '"A'],
      ['a list of phone numbers', 'phone', '"A'],
      ['tags that would be created', 'tags', '"A'],
      ['a ref', 'ref', '"A'],
      ['a remote ID', 'remoteIds.HUB_SPOT', '"A'],
      ['an address', 'email', '"A'],
      ['a date', 'createdAt', '"A'],
    ])('in a cell of CSV, %s, is an error of its cell', async (_name, column) => {
      const content = bytesOf(`${column},lastName\nA${character}a,Rowe\n`);
      const { status, stderr } = await csv(content, '--create-tags', 'Interest');
      expect({ status, first: stderr.split('\n')[0] }).toEqual({
        status: 1,
        first: `line 2, column "${column}": ${why}`,
      });
    });

    it('in a cell of CSV is left out with --lenient, and so is it in a skipped row', async () => {
      const content = bytesOf(`firstName,lastName\nA${character}a,Rowe\nA${character}a,\n`);
      const { status, stdout, stderr } = await csv(content, '--lenient');
      expect({ status, stderr, first: stdout.split('\n')[0] }).toEqual({
        stderr: '',
        status: 3,
        first: `Imported 1 lead: 1 created, 0 updated, 0 unchanged. Skipped 1 row and 2 values: see ${file}.errors.csv and ${file}.skipped.csv.`,
      });
      expect(readFileSync(`${file}.errors.csv`, 'utf8').split('\n')).toHaveLength(5);
      expect(await leads()).toMatchObject([{ firstName: null, lastName: 'Rowe' }]);
    });

    it('in a row that a check takes out with --lenient does not end the import', async () => {
      const content = bytesOf(`email,lastName\nada@example.com,\nada@example.com,A${character}a\n`);
      const { status, stderr } = await csv(content, '--lenient', '--match', 'email');
      expect({ status, stderr }).toEqual({ status: 3, stderr: '' });
      expect(await leads()).toHaveLength(1);
    });

    it.each([
      ['a field', { firstName: `A${character}a` }, 'firstName'],
      ['an entry', { remoteIds: [{ id: `A${character}a`, integrationType: 'ZOHO' }] }, 'remoteIds[0].id'],
    ])('in %s of JSON and NDJSON is an error of its path', async (_name, fields, path) => {
      const record = { id: ID, ...fields };
      const object = await run(JSON.stringify({ leads: [record] }));
      expect(object).toEqual({ status: 1, stdout: '', stderr: `leads[0].${path}: ${why}\n` });
      const lines = await run(`${JSON.stringify({ section: 'leads', record })}\n`);
      expect(lines).toEqual({ status: 1, stdout: '', stderr: `line 1: leads[0].${path}: ${why}\n` });
    });
  });

  it('in a read-only field is an error of the field', async () => {
    const { status, stderr } = await run(JSON.stringify({ leads: [{ id: ID, leadActivityEvents: [{ id: 'A\0a' }] }] }));
    expect({ status, stderr }).toEqual({
      status: 1,
      stderr: expect.stringMatching(/^leads\[0\]\.leadActivityEvents: \[\{"id":"A\\u0000a"\}\] contains NUL/) as string,
    });
  });

  it('in UTF-16 and ends within a character has an error of its last cell', async () => {
    const bytes = Buffer.concat([Buffer.from('\ufefffirstName,lastName\nAda,Rowe', 'utf16le'), Buffer.from('x')]);
    const { status, stderr } = await csv(bytes);
    expect(status).toBe(1);
    expect(stderr.split('\n')[0]).toMatch(/^line 2, column "lastName": "Rowe.*" has bytes that are not text/);
  });

  it('has cells that a spreadsheet keeps as text by a formula, and is read without it in every column', async () => {
    const content = 'firstName,company.zip,ref,email\n"=""Ada""",="04524",="r-1","=""ada@example.com"""\n';
    const { stderr } = await csv(content);
    expect(stderr).toBe('');
    expect(await leads()).toMatchObject([{ firstName: 'Ada', email: 'ada@example.com', company: { zip: '04524' } }]);
    await csv('firstName,lastName\n\'="Bo","=""a"" & ""b"""\n');
    expect((await leads())[1]).toMatchObject({ firstName: '="Bo"', lastName: '="a" & "b"' });
  });

  it.each([
    ['vCard', 'BEGIN:VCARD\nVERSION:3.0\nN:Rowe;Ada;;;\nFN:Ada Rowe\nEND:VCARD\n'],
    ['MECARD', 'MECARD:N:Rowe,Ada;EMAIL:ada@example.com;;\nMECARD:N:Ito,Ben;;\n'],
  ])('is a %s, and is refused in one sentence', async (_kind, content) => {
    const message = 'This is a vCard or MECARD, which cannot be imported. Save the contacts as CSV.';
    for (const encoding of ['utf8', 'utf16le'] as const) {
      for (const options of [[], ['--csv', 'leads'], ['--csv', 'leads', '--lenient']]) {
        const { status, stdout, stderr } = await run(Buffer.from(`\ufeff\n${content}`, encoding), ...options);
        expect({ status, stdout, first: stderr.split('\n')[0] }).toEqual({ status: 1, stdout: '', first: message });
      }
    }
    expect(await leads()).toEqual([]);
  });
});
