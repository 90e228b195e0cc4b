import { randomUUID } from 'node:crypto';
import type { Mapping } from '../../src/exchange/csv/mapping';
import type { CsvImport } from '../../src/exchange/csv/plan';
import { createExhibitor } from '../support/builders';
import { type Columns, type CsvOutcome, importCsvFile, mappingOf, mappingOfHeader } from '../support/csv-files';
import { type InProcess, startInProcess, type Tenant } from '../support/lanyard';

interface Lead extends Record<string, unknown> {
  id: string;
  phoneNumbers: { leadProvided: { number: string; type: string }[] };
  company: Record<string, string | null>;
  tags: { value: string }[];
}

describe('a row of CSV', () => {
  let lanyard: InProcess;
  let tenant: Tenant;
  beforeAll(async () => void (lanyard = await startInProcess()));
  beforeEach(async () => void (tenant = await lanyard.tenant()));

  const importing = (content: string | Buffer, mapping?: Mapping, wanted?: Partial<CsvImport>): Promise<CsvOutcome> =>
    importCsvFile(lanyard, tenant.organizationId, content, mapping, wanted);
  const leads = (): Promise<Lead[]> => tenant.api.all<Lead>('/leads', 'leads');
  /** The leads of a file that has no errors. */
  const leadsOf = async (content: string | Buffer, columns: Columns, more?: Partial<Mapping>): Promise<Lead[]> => {
    expect((await importing(content, mappingOf(columns, more))).errors).toEqual([]);
    return leads();
  };
  const errorsOf = async (
    content: string | Buffer,
    columns: Columns,
    more?: Partial<Mapping>,
    wanted?: Partial<CsvImport>,
  ): Promise<string[]> => {
    const { errors } = await importing(content, mappingOf(columns, more), wanted);
    expect(await leads()).toEqual([]);
    return errors;
  };
  const EMAIL = { Mail: 'email' };

  describe('without anybody in it', () => {
    it('is none if it has no text, however many cells or invisible characters it has', async () => {
      const found = await leadsOf('Mail,Nr\na@b.co,1\n,\n\u200b,\u00a0\n', { Mail: 'email', Nr: null });
      expect(found).toHaveLength(1);
    });

    it.each([
      ['a number that is left out', 'Mail,Name,Company,ID,Nr\n,,,,7\n'],
      ['a name without a letter', 'Mail,Name,Company,ID,Nr\n,-,,,\n'],
    ])('is an error if it has only %s', async (_, content) => {
      const columns = { Mail: 'email', Name: 'name', Company: 'company.name', ID: 'ref', Nr: null };
      expect(await errorsOf(content, columns)).toEqual([expect.stringMatching(/^line 2: Nothing tells who this is\./)]);
    });

    it.each(['a@b.co,,,,', ',Ada,,,', ',,Cobalt,,', ',,,7,', ',,,,+44 20 7946 0123'])('is one with %s', async (row) => {
      const columns = { Mail: 'email', Name: 'name', Company: 'company.name', ID: 'ref', Phone: 'phone' };
      expect(await leadsOf(`Mail,Name,Company,ID,Phone\n${row}\n`, columns)).toHaveLength(1);
    });
  });

  it('with fewer cells has the others empty, and with more it is an error unless they are empty', async () => {
    const columns = { Mail: 'email', First: 'firstName' };
    expect(await errorsOf('Mail,First\na@b.co\nb@b.co,Ben,,x\n', columns)).toEqual([
      'line 3: This row has 4 cells, but the header has 2 columns. Quote cells that contain the delimiter.',
    ]);
    expect(await leadsOf('Mail,First\na@b.co\nb@b.co,Ben,,\n', columns)).toHaveLength(2);
  });

  it('has blanks ignored around addresses, IDs, numbers and flags, and other texts as they are', async () => {
    const [lead] = await leadsOf('Mail,First,Nr,Scans\n  a@b.co\u00a0, Ada ,  "C-1" , 3 \n', {
      Mail: 'email',
      First: 'firstName',
      Nr: 'remoteIds.ZOHO',
      Scans: 'numberOfScans',
    });
    expect(lead).toMatchObject({ email: 'a@b.co', firstName: ' Ada ', numberOfScans: 3, remoteIds: [{ id: 'C-1' }] });
  });

  it('has an error for an invisible character within an address, and none for those around it', async () => {
    expect(await errorsOf('Mail\na\u200bb@b.co\n', EMAIL)).toEqual([
      'line 2, column "Mail": "a\\u200bb@b.co" contains an invisible character. Remove it.',
    ]);
    expect(await leadsOf('Mail\n\u200ba@b.co\u200b\n', EMAIL)).toMatchObject([{ email: 'a@b.co' }]);
  });

  it('has the text of a formula and of an apostrophe, which stays before a letter and with `raw`', async () => {
    const columns = { Mail: 'email', Last: 'lastName', Phone: 'phone' };
    const content = `Mail,Last,Phone\na@b.co,'t Hart,"=""0441 12345"""\nb@b.co,'=Sum,'0441 54321\n`;
    const shown = ({ lastName, phoneNumbers }: Lead) => [lastName, phoneNumbers.leadProvided[0]?.number];
    expect((await leadsOf(content, columns)).map(shown)).toEqual([
      [`'t Hart`, '0441 12345'],
      ['=Sum', '0441 54321'],
    ]);
    const raw = await leadsOf(`Mail,Last\nc@b.co,'=Sum\n`, { Mail: 'email', Last: 'lastName' }, { raw: true });
    expect(raw.at(-1)).toMatchObject({ lastName: `'=Sum` });
  });

  it.each(['phone', 'ref', 'remoteIds.ZOHO'])(
    'has an error in %s where a spreadsheet has lost digits',
    async (field) => {
      expect(await errorsOf('Mail,X\na@b.co,4.41E+11\n', { Mail: 'email', X: field })).toEqual([
        expect.stringMatching(/^line 2, column "X": "4.41E\+11" has lost its digits in a spreadsheet\./),
      ]);
    },
  );

  it.each([
    ['+44 20 7946 0123; +44 7700 900123', ['+44 20 7946 0123', '+44 7700 900123']],
    ['020 12345, 020 54321', ['020 12345', '020 54321']],
    ['"12345\n54321"', ['12345', '54321']],
    ['555-1234; ext 7', ['555-1234; ext 7']],
    ['(01) 555 0100, ext. 7', ['(01) 555 0100, ext. 7']],
  ])('has the phone numbers of %j', async (cell, numbers) => {
    const quoted = cell.startsWith('"') ? cell : `"${cell}"`;
    const [lead] = await leadsOf(`Mail,Phone\na@b.co,${quoted}\n`, { Mail: 'email', Phone: 'phone' });
    expect(lead?.phoneNumbers.leadProvided.map(({ number }) => number)).toEqual(numbers);
  });

  it('has an error for a phone number without a digit', async () => {
    expect(await errorsOf('Mail,Phone\na@b.co,n/a\n', { Mail: 'email', Phone: 'phone' })).toEqual([
      'line 2, column "Phone": "n/a" is not a phone number. Use one with digits, or leave the cell empty.',
    ]);
  });

  it('has several columns of lists and notes, and of another field one value', async () => {
    const columns = { Mail: 'email', Note: 'description', Remark: 'description', Tel: 'phone', Mobile: 'phone' };
    const [lead] = await leadsOf('Mail,Note,Remark,Tel,Mobile\na@b.co,Demo,Quote,020 12345,020 54321\n', columns);
    expect(lead).toMatchObject({ description: 'Demo\nQuote' });
    expect(lead?.phoneNumbers.leadProvided).toHaveLength(2);
    const cities = { Mail: 'email', City: 'company.city', Town: 'company.city' };
    const found = await leadsOf('Mail,City,Town\nb@b.co,,Leeds\nc@b.co,Leeds,Leeds\n', cities);
    expect(found.slice(1).map(({ company }) => company.city)).toEqual(['Leeds', 'Leeds']);
    const { errors } = await importing('Mail,City,Town\nd@b.co,Leeds,York\n', mappingOf(cities));
    expect(errors).toEqual([
      'line 2, column "Town": "City" and "Town" fill one field and disagree: "Leeds" and "York".',
    ]);
  });

  describe('with a date', () => {
    const dateOf = async (cell: string, format?: string, timeZone?: string): Promise<unknown> => {
      const to: Columns[string] = format ? ['createdAt', format] : 'createdAt';
      const [lead] = await leadsOf(`Mail,Date\na@b.co,"${cell}"\n`, { Mail: 'email', Date: to }, { timeZone });
      return lead?.createdAt;
    };

    it.each([
      ['2026-05-04', undefined, undefined, '2026-05-04T00:00:00.000Z'],
      ['2026-05-04T09:12:00+02:00', undefined, 'Europe/Berlin', '2026-05-04T07:12:00.000Z'],
      ['2026-05-04 09:12', undefined, 'Europe/Berlin', '2026-05-04T07:12:00.000Z'],
      ['2026-05-04', undefined, 'Europe/Berlin', '2026-05-03T22:00:00.000Z'],
      ['4.5.26', 'DMY', undefined, '2026-05-04T00:00:00.000Z'],
      ['5/4/2026 9:12 PM', 'MDY', undefined, '2026-05-04T21:12:00.000Z'],
      ['26/05/04', 'YMD', undefined, '2026-05-04T00:00:00.000Z'],
      ['4 May 2026', 'MDY', undefined, '2026-05-04T00:00:00.000Z'],
      ['May 4, 2026 at 9:12 a.m.', 'DMY', undefined, '2026-05-04T09:12:00.000Z'],
      ['2026-10-25 02:30', undefined, 'Europe/Berlin', '2026-10-25T00:30:00.000Z'],
    ])('%s as %s in %s is %s', async (cell, format, timeZone, expected) => {
      expect(await dateOf(cell, format, timeZone)).toBe(expected);
    });

    it.each([
      ['5/4/2026', undefined, 'Cannot read "5/4/2026" as a date and time.'],
      ['May 4, 2026', undefined, 'Cannot read "May 4, 2026" as a date and time.'],
      ['13/13/2026', 'DMY', 'Cannot read "13/13/2026" as a date and time.'],
      ['2026-03-29 02:30', 'DMY', 'the clocks of Europe/Berlin skip this hour'],
    ])('%s as %s is an error', async (cell, format, reason) => {
      const to: Columns[string] = format ? ['createdAt', format] : 'createdAt';
      const columns = { Mail: 'email', Date: to };
      const [error] = await errorsOf(`Mail,Date\na@b.co,"${cell}"\n`, columns, { timeZone: 'Europe/Berlin' });
      expect(error).toContain(reason);
    });

    it('that the clocks show twice is the first, and the result says so', async () => {
      const mapping = mappingOf({ Mail: 'email', Date: 'createdAt' }, { timeZone: 'Europe/Berlin' });
      const { notes } = await importing('Mail,Date\na@b.co,2026-10-25 02:30\nb@b.co,2026-10-25 02:45\n', mapping);
      expect(notes).toEqual([
        '2 times in an hour that occurs twice in Europe/Berlin, such as "2026-10-25 02:30": the first one was taken, UTC+02:00. Add the offset to a time that is the second one.',
      ]);
    });

    it('of an industry event is midnight UTC, whatever the zone', async () => {
      const mapping = {
        section: 'industryEvents',
        timeZone: 'Pacific/Tongatapu',
        columns: [
          { column: 'Name', field: 'name' },
          { column: 'Start', field: 'startDate', format: 'DMY' },
          { column: 'End', field: 'endDate' },
        ],
      };
      const { errors } = await importing('Name,Start,End\nPump World,4.5.2026,2026-05-06\n', mapping);
      expect(errors).toEqual([]);
      const events = await tenant.api.all<Record<string, unknown>>('/industryEvents', 'industryEvents');
      expect(events.find(({ name }) => name === 'Pump World')).toMatchObject({
        startDate: '2026-05-04T00:00:00.000Z',
        endDate: '2026-05-06T00:00:00.000Z',
      });
    });
  });

  describe('with a whole name', () => {
    it.each([
      ['first last', 'Ada Rowe', 'Ada', 'Rowe'],
      ['first last', 'Robert King Jr.', 'Robert', 'King Jr.'],
      ['first last', 'Ada Rowe 🦊', 'Ada', 'Rowe 🦊'],
      ['first last', 'Dr. Ada Rowe PhD', 'Dr. Ada', 'Rowe PhD'],
      ['first last', 'Kim', null, 'Kim'],
      ['last first', 'Rowe Ada Lou', 'Ada Lou', 'Rowe'],
      ['last first', 'King Jr. Robert', 'Robert', 'King Jr.'],
      ['last, first', 'Rowe, Ada', 'Ada', 'Rowe'],
      ['last, first', 'Van der Berg, Ada Lou', 'Ada Lou', 'Van der Berg'],
      ['last, first', 'Kim', null, 'Kim'],
    ])('as %s, %s is split', async (format, name, firstName, lastName) => {
      const [lead] = await leadsOf(`Mail,Name\na@b.co,"${name}"\n`, { Mail: 'email', Name: ['name', format] });
      expect(lead).toMatchObject({ firstName, lastName });
    });

    it.each([
      ['first last', 'Rowe, Ada'],
      ['last first', 'Rowe, Ada'],
      ['first last', 'Dr. Ada Rowe, PhD'],
      ['last, first', 'Ada Rowe'],
    ])('as %s, %s is an error', async (format, name) => {
      expect(await errorsOf(`Mail,Name\na@b.co,"${name}"\n`, { Mail: 'email', Name: ['name', format] })).toEqual([
        expect.stringMatching(new RegExp(`^line 2, column "Name": "${name}" is not a name as ${format}\\.`)),
      ]);
    });

    it('and its parts beside it has to agree', async () => {
      const columns = { Mail: 'email', First: 'firstName', Name: 'name' };
      expect(await leadsOf('Mail,First,Name\na@b.co,Ada,Ada Rowe\n', columns)).toMatchObject([{ lastName: 'Rowe' }]);
      const { errors } = await importing('Mail,First,Name\nb@b.co,Ben,Ada Rowe\n', mappingOf(columns));
      expect(errors).toEqual(['line 2, column "Name": "Ada Rowe" is another name than that of the other columns.']);
    });
  });

  it('has tags by value or ID, and new ones only for rows that are stored', async () => {
    const columns = { Mail: 'email', Tags: 'tags' };
    const content = 'Mail,Tags\na@b.co,Hot; Cold\nnobody,Lost\n,Gone\n';
    const wanted = { lenient: true, createTags: 'Interest' };
    const { result } = await importing(content, mappingOf({ ...columns, Mail: 'email' }), wanted);
    expect(result?.outcomes).toEqual({ leads: { created: 1, updated: 0, unchanged: 0 } });
    const [group] = await tenant.api.all<{ tagOptions: { value: string }[] }>('/tagGroups', 'tagGroups');
    expect(group?.tagOptions.map(({ value }) => value)).toEqual(['Hot', 'Cold']);
    expect(await leadsOf('Mail,Tags\nb@b.co,hot\n', columns)).toHaveLength(2);
    const { errors } = await importing('Mail,Tags\nc@b.co,Nope\n', mappingOf(columns));
    expect(errors).toEqual([expect.stringMatching(/^line 2, column "Tags": No tag option is called "Nope"\./)]);
  });

  it('has attendance as a flag or a date, and an error for it without an event', async () => {
    const { users, event, tagGroup } = createExhibitor();
    await tenant.import({ users, tagGroups: [tagGroup], events: [event] });
    const columns = { Mail: 'email', In: 'checkedIn' };
    expect(await errorsOf('Mail,In\na@b.co,yes\n', columns)).toEqual([
      expect.stringMatching(/^line 2, column "In": "yes" needs an event, and this row names none\./),
    ]);
    const content = `Mail,In,Event\na@b.co,2026-05-04 09:12,${event.name}\nb@b.co,no,${event.ref}\n`;
    await leadsOf(content, { ...columns, Event: 'events' });
    const [{ id } = { id: 0 }] = await tenant.api.all<{ id: number }>('/events', 'events');
    const { eventLeads } = (await tenant.api.get(`/events/${id}/leads`).expect(200)).body.results;
    expect((eventLeads as { checkedIn: boolean }[]).map(({ checkedIn }) => checkedIn)).toEqual([true, false]);
  });

  it.each([
    ['NUL', 'Ada\0', 'contains NUL or half of a character'],
    [
      'a byte that is not UTF-8',
      Buffer.from('Zo\xeb', 'latin1'),
      'has bytes that are not text in the encoding of the file',
    ],
  ])('has %s as an error of its cell', async (_, cell, reason) => {
    const content = Buffer.concat([Buffer.from('Mail,First\na@b.co,'), Buffer.from(cell as Buffer), Buffer.from('\n')]);
    const errors = await errorsOf(content, { Mail: 'email', First: 'firstName' });
    expect(errors).toEqual([expect.stringContaining('line 2, column "First": ')]);
    expect(errors[0]).toContain(reason);
  });

  it('with a broken quote is an error of its first line, after which the reading goes on', async () => {
    expect(await errorsOf('Mail\n"a@b.co" x\n"b@b.co\nnobody\n', EMAIL)).toEqual([
      'line 2: Stray quotation mark. Quote the whole cell and double the marks inside it.',
      expect.stringMatching(/^line 3: Unclosed quotation mark/),
      expect.stringMatching(/^line 4, column "Mail": "nobody" is not a valid email\./),
    ]);
  });

  describe('is read as its mapping says:', () => {
    const columns = { Mail: 'email', First: 'firstName' };

    it('encoding, delimiter, header, footer and lines between', async () => {
      const lines = ['Report', '"Unclosed', 'Mail;First', 'a@b.co;Zo\xeb', '"skipped', 'b@b.co;Ben', 'Total;2', '"x'];
      const found = await leadsOf(Buffer.from(lines.join('\r\n'), 'latin1'), columns, {
        encoding: 'windows-1252',
        delimiter: ';',
        headerLine: 3,
        skipLines: [5],
        lastLine: 6,
      });
      expect(found.map(({ firstName }) => firstName)).toEqual(['Zoë', 'Ben']);
    });

    it('what `sep=` says, without anything in the mapping', async () => {
      expect(await leadsOf('sep=;\nMail;First\na@b.co;Ada\n', columns)).toMatchObject([{ firstName: 'Ada' }]);
    });

    it('UTF-16 with a byte order mark', async () => {
      const content = Buffer.from('\uFEFFMail,First\na@b.co,Zoë\n', 'utf16le');
      expect(await leadsOf(content, columns)).toMatchObject([{ firstName: 'Zoë' }]);
    });

    it('rows of some values, of which the others are counted', async () => {
      const mapping = mappingOf(columns);
      mapping.columns.push({ column: 'Status', field: null, only: ['Paid', 'Free'] });
      const content = 'Mail,First,Status\na@b.co,Ada, Paid\nb@b.co,Ben,paid\nc@b.co,Eve,Void\nd@b.co,Kim,Free\n';
      const { errors, notes } = await importing(content, mapping);
      expect({ errors, notes }).toEqual({
        errors: [],
        notes: ['2 rows not imported, as the mapping has only other values.'],
      });
      expect((await leads()).map(({ firstName }) => firstName)).toEqual(['Ada', 'Kim']);
    });

    it('two columns of one name by their order', async () => {
      const mapping = mappingOf(columns);
      mapping.columns = [
        { column: 'Tel', field: 'phone' },
        { column: 'Mail', field: 'email' },
        { column: 'Tel', field: 'phone.mobile' },
      ];
      await importing('Tel,Mail,Tel\n020 12345,a@b.co,020 54321\n', mapping);
      const [lead] = await leads();
      expect(lead?.phoneNumbers.leadProvided.map(({ type }) => type)).toEqual(['UNKNOWN', 'MOBILE']);
    });

    it('columns that only the file or only the mapping has are errors before any row is read', async () => {
      const content = 'Mail,Shoe size\nnobody,38\n';
      expect(await errorsOf(content, { ...columns, Anrede: null })).toEqual([
        expect.stringMatching(/^line 1, column "Shoe size": The mapping does not name this column\./),
        'line 1, column "First": The file does not have this column of the mapping.',
      ]);
      expect(await errorsOf('mail\na@b.co\n', EMAIL)).toHaveLength(2);
    });

    it('other columns may be left out, and the result names them', async () => {
      const mapping = mappingOf(EMAIL, { otherColumns: 'ignore' });
      const { notes } = await importing('Mail,Shoe size\na@b.co,38\n', mapping);
      expect(notes).toEqual(['Columns that the mapping does not name: "Shoe size".']);
    });

    it('text in a column without a name is an error unless the mapping names it', async () => {
      const content = 'Mail,\na@b.co,x\n';
      const [error] = await errorsOf(content, EMAIL);
      expect(error).toMatch(/^line 2, column "": "x" stands in column 2, which has no name\./);
      expect(await leadsOf(content, { ...EMAIL, '': null })).toHaveLength(1);
    });
  });

  describe('with empty cells', () => {
    let id: string;
    const stored = { firstName: 'Ada', numberOfScans: 3, isEnriched: true, company: { name: 'Cobalt', city: 'Leeds' } };
    const contentOf = (): string =>
      `id,firstName,numberOfScans,company.name,company.city,phone,remoteIds.ZOHO,tags\n${id},,,,York,,,\n`;
    let before: Lead;
    beforeEach(async () => {
      id = randomUUID();
      const { users, tagGroup } = createExhibitor();
      await tenant.import({
        users,
        tagGroups: [tagGroup],
        leads: [
          {
            id,
            ...stored,
            phoneNumbers: {
              leadProvided: [{ number: '020 12345', type: 'MOBILE', preferred: true }],
              serviceProvided: [],
            },
            remoteIds: [{ id: 'z-1', integrationType: 'ZOHO' }],
            tags: [{ tagOptionId: tagGroup.tagOptions[0]?.id }],
          },
        ],
      });
      before = (await leads())[0]!;
    });

    it('changes nothing there', async () => {
      const { errors, result } = await importing(contentOf());
      expect(errors).toEqual([]);
      expect(result?.outcomes.leads).toEqual({ created: 0, updated: 1, unchanged: 0 });
      const company = { ...before.company, city: 'York' };
      expect(await leads()).toEqual([{ ...before, company }]);
    });

    it('empties the fields if the mapping says so', async () => {
      const content = contentOf();
      await importing(content, { ...(await mappingOfHeader(content)), emptyCells: 'clear' });
      expect(await leads()).toMatchObject([
        {
          firstName: null,
          numberOfScans: 0,
          company: { name: null, city: 'York' },
          phoneNumbers: { leadProvided: [] },
          remoteIds: [],
          tags: [],
        },
      ]);
    });

    it('gives a new lead what every new one has', async () => {
      await importing('firstName,numberOfScans,isEnriched,phone,tags\nEve,,,,\n');
      expect((await leads()).at(-1)).toMatchObject({ firstName: 'Eve', numberOfScans: 0, isEnriched: false, tags: [] });
    });
  });

  it('that --update-only does not find is counted, and creates nobody', async () => {
    await importing('ref,firstName\n1,Ada\n');
    const { result, notes } = await importing('ref,jobTitle\n1,Head\n2,Buyer\n', undefined, { updateOnly: true });
    expect(result?.outcomes.leads).toEqual({ created: 0, updated: 1, unchanged: 0 });
    expect(notes).toEqual(['1 row not imported, as no stored record matches.']);
    const { leftOut } = await importing('ref,jobTitle\n2,Buyer\n', undefined, { updateOnly: true, lenient: true });
    expect(leftOut).toMatchObject([{ line: 2, column: null, rowText: '2,Buyer\n' }]);
  });

  it('in a file with a header alone is no error', async () => {
    const { errors, result } = await importing('email\n');
    expect({ errors, imported: result?.imported.leads }).toEqual({ errors: [], imported: 0 });
  });

  it('of an empty file is an error', async () => {
    expect((await importing('', mappingOf(EMAIL))).errors).toEqual(['line 1: The file is empty.']);
  });
});
