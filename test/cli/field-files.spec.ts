import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createExhibitor } from '../support/builders';
import type { Tenant } from '../support/lanyard';
import { install, type Installation, type Outcome } from '../support/operator';

type Lead = Record<string, unknown> & { id: string; phoneNumbers: { leadProvided: object[] }; remoteIds: object[] };
interface Result {
  imported: Record<string, number>;
  outcomes: Record<string, { created: number; updated: number; unchanged: number }>;
  events: Record<string, number | null>;
  dryRun?: boolean;
  columns?: object[];
  first?: Record<string, unknown>[];
  errors?: { line: number | null; column: string | null; path: string | null; value: unknown; expected: string }[];
  more?: number;
}

/** Files as people bring them. All people are invented. */
describe('a file from the field', () => {
  const folder = mkdtempSync(join(tmpdir(), 'lanyard-field-'));
  let installation: Installation;
  let tenant: Tenant;
  beforeAll(async () => void (installation = await install()));
  afterAll(() => rmSync(folder, { recursive: true }));
  beforeEach(async () => void (tenant = await installation.server.tenant()));

  const given = (content: string | Buffer, name = 'file'): string[] => {
    const file = join(folder, name);
    writeFileSync(file, content);
    return ['import', file, '--organization', String(tenant.organizationId)];
  };
  const run = (content: string | Buffer, ...options: string[]): Promise<Outcome> =>
    installation.operator.run([...given(content), '--csv', 'leads', ...options]);
  const json = async (content: string | Buffer, ...options: string[]): Promise<Result> => {
    const { stdout } = await installation.operator.run([...given(content), '--csv', 'leads', '--json', ...options]);
    return JSON.parse(stdout) as Result;
  };
  /** The counts of leads: created, updated, unchanged. */
  const counts = async (content: string | Buffer, ...options: string[]): Promise<number[]> => {
    const { stdout, stderr } = await run(content, ...options);
    expect(stderr).toBe('');
    return [...stdout.matchAll(/(\d+) (?:created|updated|unchanged)/g)].map(([, count]) => Number(count));
  };
  const refused = async (content: string | Buffer, ...options: string[]): Promise<string[]> => {
    const { status, stdout, stderr } = await run(content, ...options);
    expect({ status, stdout }).toEqual({ status: 1, stdout: '' });
    expect(await leads()).toEqual([]);
    const lines = stderr.trimEnd().split('\n');
    expect(lines.pop()).toBe('To import what can be read, and have the rest listed in a file, add --lenient.');
    return lines.filter(
      (line) => !/^(Try|Correct the file, and try|Or, if the \w+ comes first in its dates): /.test(line),
    );
  };
  const wrongUsage = async (...options: string[]): Promise<string> => {
    const { status, stderr } = await run('email\n', ...options);
    expect(status).toBe(2);
    return stderr;
  };
  const leads = (): Promise<Lead[]> => tenant.api.all<Lead>('/leads', 'leads');
  const phones = async (): Promise<object[]> => (await leads()).flatMap((lead) => lead.phoneNumbers.leadProvided);
  const values = async (field: string): Promise<unknown[]> => (await leads()).map((lead) => lead[field]);

  describe('has', () => {
    it.each<[string, string | Buffer, string[]]>([
      ['UTF-8 with a mark', '\ufefffirstName\nZoë “Z” €\n', []],
      ['UTF-16 in little endian', Buffer.from('\ufefffirstName\nZoë “Z” €\n', 'utf16le'), []],
      ['UTF-16 in big endian', Buffer.from('\ufefffirstName\nZoë “Z” €\n', 'utf16le').swap16(), []],
      ['windows-1252', Buffer.from('firstName\nZo\xeb \x93Z\x94 \x80\n', 'latin1'), ['--encoding', 'windows-1252']],
    ])('%s', async (_, content, options) => {
      expect(await counts(content, ...options)).toEqual([1, 0, 0]);
      expect(await values('firstName')).toEqual(['Zoë “Z” €']);
    });

    it('bytes that are not UTF-8, and is rejected with advice', async () => {
      const bytes = Buffer.from('firstName\nZo\xeb\n', 'latin1');
      expect(await refused(bytes)).toEqual([
        'Line 2 is not valid UTF-8. Name the encoding, for example --encoding windows-1252.',
      ]);
      const { errors, more } = await json(bytes);
      const nulls = { line: null, column: null, path: null, value: null };
      expect({ errors, more }).toEqual({ errors: [{ ...nulls, expected: expect.any(String) as string }], more: 0 });
      expect(await refused(Buffer.from('firstName\n\x81\n', 'latin1'), '--encoding', 'windows-1252')).toHaveLength(1);
      expect(await wrongUsage('--encoding', 'klingon')).toContain('--encoding must be');
    });

    it.each<[string, string, string[]]>([
      ['semicolons', 'firstName;description\nAda;a,b\n', []],
      ['tabs', 'firstName\tdescription\nAda\ta,b\n', []],
      ['commas, and others in quotes', '"firstName","x;y;z;",description\nAda,,"a,b"\n', ['--map', 'x;y;z;=']],
      [
        'a tie, which is commas',
        'firstName,"twitter;",description;x\nAda,,"a,b"\n',
        ['--map', 'description;x=description', '--map', 'twitter;='],
      ],
      ['a line that says it', 'sep=;\r\nfirstName;description\r\nAda;a,b\r\n', []],
      ['a quoted line that says it', '"sep=|"\nfirstName|description\nAda|a,b\n', []],
      ['a line that says another than the option', 'sep=;\nfirstName,description\nAda,"a,b"\n', ['--delimiter', ',']],
      ['lines before the names', 'sep=;\nLeads of today\n\nfirstName;description\nAda;a,b\n', ['--skip-lines', '2']],
      ['blanks before quotes', 'firstName, "description"\nAda, "a,b"\n', []],
    ])('%s', async (_, content, options) => {
      expect(await counts(content, ...options)).toEqual([1, 0, 0]);
      expect(await leads()).toMatchObject([{ firstName: 'Ada', description: 'a,b' }]);
    });

    it('lines that count as they stand in the file', async () => {
      const content = 'Report\n\nemail\nada@example.com\n\n"bad\nstill"\n';
      const [line] = await refused(content, '--skip-lines', '1');
      expect(line).toMatch(/^line 6, column "email": "bad\\nstill" contains an invisible character\. Remove it\.$/);
    });

    it('short rows, surplus empty cells, and rows without any text', async () => {
      const content = 'firstName,lastName,email\nAda,Rowe\n , ,\nBen,Ito,,,\n';
      expect(await counts(content)).toEqual([2, 0, 0]);
      expect(await values('lastName')).toEqual(['Rowe', 'Ito']);
    });

    it('cells without a column: all are reported, in the order of the file', async () => {
      const content = 'firstName,,email\nAda,,,more\nTotal: 1\nBen,text,\n"Eve,x,y@example.com"\n';
      expect(await refused(content)).toEqual([
        'line 1: Unknown column: "Column 2". Skip all unknown columns with --ignore-unknown, or assign a column to a field with --map.',
        'line 2: This row has 4 cells, but the header has 3 columns. Quote cells that contain the delimiter.',
        'line 3 and 1 more: Only one cell in a file of 3 columns. Skip or delete it if it is a footer; remove the quotation marks if they are around a whole row.',
      ]);
    });

    it('blanks that mean nothing but in texts, and addresses with invisible characters around them', async () => {
      const content =
        'firstName,email,numberOfScans,isEnriched,createdAt\n Ada , \u200bada@example.com\ufeff , 3 , Yes , 2026-05-04 \n';
      expect(await counts(content)).toEqual([1, 0, 0]);
      const [lead] = await leads();
      expect(lead).toMatchObject({ firstName: ' Ada ', email: 'ada@example.com', numberOfScans: 3, isEnriched: true });
      expect(lead?.createdAt).toBe('2026-05-04T00:00:00.000Z');
    });

    it('an address with an invisible character within, which is shown', async () => {
      expect(await refused('email\nada\u200b@example.com\n')).toEqual([
        'line 2, column "email": "ada\\u200b@example.com" contains an invisible character. Remove it.',
      ]);
    });
  });

  describe('names its columns', () => {
    it('as other programs do', async () => {
      const content =
        'Email Address,Mobile Phone,Phone Number,Account Name,Title,Mailing City,Created At,Full Name\n' +
        'ada@example.com,+44 1,+44 2,Cobalt Systems,Buyer,Leeds,2026-05-04 09:12,Ada Lou Rowe\n';
      expect(await counts(content)).toEqual([1, 0, 0]);
      expect(await leads()).toMatchObject([
        {
          email: 'ada@example.com',
          jobTitle: 'Buyer',
          createdAt: '2026-05-04T09:12:00.000Z',
          firstName: 'Ada Lou',
          lastName: 'Rowe',
          company: { name: 'Cobalt Systems', city: 'Leeds' },
        },
      ]);
    });

    it('as nobody does: all are reported first, and the rows are checked nevertheless', async () => {
      const lines = await refused('Emial,Shoe size,email\na@example.com,43,nobody\n');
      expect(lines[0]).toBe(
        'line 1: 2 unknown columns: "Emial" (did you mean email?), "Shoe size". Skip all unknown columns with --ignore-unknown, or assign a column to a field with --map.',
      );
      expect(lines[1]).toMatch(/^line 2, column "email": "nobody" is not a valid e-mail address\./);
      expect(lines).toHaveLength(2);
      expect(await counts('Shoe size,email\n43,a@example.com\n', '--ignore-unknown')).toEqual([1, 0, 0]);
    });

    it('twice: lists take both, others one of them or both alike', async () => {
      const content =
        'Phone,Phone,email,E-mail\n1,2,a@example.com,\n3,3,,b@example.com\n4,,c@example.com,c@example.com\n';
      expect(await counts(content)).toEqual([3, 0, 0]);
      expect((await phones()).map((phone) => (phone as { number: string }).number)).toEqual(['1', '2', '3', '4']);
      expect(await values('email')).toEqual(['a@example.com', 'b@example.com', 'c@example.com']);
    });

    it('twice, and --map names the second, or both but that', async () => {
      expect(
        await counts('Phone,Phone\n1,2\n', '--map', 'Phone=phone.mobile', '--map', 'Phone#2=phone.office'),
      ).toEqual([1, 0, 0]);
      expect(await phones()).toMatchObject([{ type: 'MOBILE' }, { type: 'OFFICE' }]);
    });

    it('twice, with two values', async () => {
      expect(await refused('City,Town\nLeeds,Porto\n')).toEqual([
        'line 2, column "Town": "City" and "Town" disagree: "Leeds" and "Porto". Keep the first with --map "Town=".',
      ]);
    });

    it.each([
      [
        'a whole name alone',
        'name\nRowe\nAda Lou Rowe\n',
        [
          [null, 'Rowe'],
          ['Ada Lou', 'Rowe'],
        ],
      ],
      [
        'both parts, and a whole name',
        'First name,Last name,name\nAda,,Eve Ito\n,,Eve Ito\n',
        [
          ['Ada', null],
          ['Eve', 'Ito'],
        ],
      ],
      [
        'a first name, and a whole one',
        'Vorname,Name\nAda,Rowe\nAda,Ada Rowe\n',
        [
          ['Ada', 'Rowe'],
          ['Ada', 'Rowe'],
        ],
      ],
      [
        'a last name, and a whole one',
        'Nombre,Apellidos\nAda,Rowe\nAda Rowe,Rowe\n',
        [
          ['Ada', 'Rowe'],
          ['Ada', 'Rowe'],
        ],
      ],
    ])('with %s', async (_, content, names) => {
      await counts(content);
      expect((await leads()).map(({ firstName, lastName }) => [firstName, lastName])).toEqual(names);
    });

    it('ID, with the ids of another program, of Lanyard, or of both', async () => {
      const foreign = 'ID,email\n4711,a@example.com\n';
      expect([await counts(foreign), await counts(foreign)]).toEqual([
        [1, 0, 0],
        [0, 0, 1],
      ]);
      const [lead] = await leads();
      expect(await counts(`ID,firstName\n${lead?.id},Ada\n`)).toEqual([0, 1, 0]);
      expect((await run(`ID,firstName\n${lead?.id},Ada\n4711,Eve\n`)).stderr).toMatch(
        /^line 3, column "ID": "4711" is not a Lanyard ID\. If the IDs come from another program, use --map "ID=ref"\./,
      );
    });
  });

  describe('has a value that is', () => {
    const created = async (cell: string, ...options: string[]): Promise<unknown> => {
      tenant = await installation.server.tenant();
      expect(await counts(`createdAt\n"${cell}"\n`, ...options)).toEqual([1, 0, 0]);
      return (await values('createdAt'))[0];
    };
    const berlin = ['--time-zone', 'Europe/Berlin'];

    it.each<[string, string, string[]]>([
      ['2026-05-04', '2026-05-04T00:00:00.000Z', []],
      ['2026-05-04 09:12', '2026-05-04T09:12:00.000Z', []],
      ['2026-05-04T09:12:33.123+0200', '2026-05-04T07:12:33.123Z', berlin],
      ['2026-05-04 09:12', '2026-05-04T07:12:00.000Z', berlin],
      ['2026-01-04', '2026-01-03T23:00:00.000Z', berlin],
      ['2026-10-25 02:30', '2026-10-25T00:30:00.000Z', berlin],
      ['2026-11-01', '2026-11-01T04:00:00.000Z', ['--time-zone', 'America/Havana']],
      ['5/4/2026 09:12', '2026-05-04T09:12:00.000Z', ['--date-format', 'MDY']],
      ['5.4.2026', '2026-04-05T00:00:00.000Z', ['--date-format', 'DMY']],
      ['2026-05-04 09:12 PM', '2026-05-04T21:12:00.000Z', []],
      ['Apr 10, 2026 06:22 PM', '2026-04-10T18:22:00.000Z', []],
      ['05 May 2026', '2026-05-05T00:00:00.000Z', []],
      ['Monday, May 4th 2026 at 12:05 a.m.', '2026-05-04T00:05:00.000Z', []],
      ['4-May-2026 9:12:33 UTC', '2026-05-04T09:12:33.000Z', berlin],
      ['25/4/2026', '2026-04-25T00:00:00.000Z', []],
      ['4-25-2026', '2026-04-25T00:00:00.000Z', []],
    ])('the moment %s', async (cell, moment, options) => {
      expect(await created(cell, ...options)).toBe(moment);
    });

    it.each<[string, string, string[]]>([
      ['5/4/2026', ': pass --date-format DMY if the day comes first, or --date-format MDY if the month does.', []],
      ['5/4/26', '. Use 2026-05-04T09:12:00Z.', ['--date-format', 'MDY']],
      ['2026-05-04 13:12 PM', '. Use 2026-05-04T09:12:00Z.', []],
      ['2026-02-30', '. Use 2026-05-04T09:12:00Z.', []],
      ['13/13/2026', '. Use 2026-05-04T09:12:00Z.', ['--date-format', 'DMY']],
      ['2026-03-29 02:30', ': the clocks of Europe/Berlin skip this hour. Use another hour, or one with', berlin],
    ])('not a date and time: %s', async (cell, reason, options) => {
      const [line] = await refused(`Create Date\n${cell}\n`, ...options);
      expect(line).toContain(
        `line 2, column "Create Date": Cannot read ${JSON.stringify(cell)} as a date and time${reason}`,
      );
    });

    it('a number of a telephone that a spreadsheet kept, or spoilt', async () => {
      const content = 'phone\n"=""0441 1"""\n="0441 2"\n\'0441 3\n';
      expect(await counts(content)).toEqual([3, 0, 0]);
      expect((await phones()).map((phone) => (phone as { number: string }).number)).toEqual([
        '0441 1',
        '0441 2',
        '0441 3',
      ]);
      for (const cell of ['4.41E+11', '"4,41E+11"']) {
        tenant = await installation.server.tenant();
        expect((await refused(`Tel\n${cell}\n`))[0]).toMatch(
          /^line 2, column "Tel": "4.41E\+11" has lost its digits in a spr|^line 2, column "Tel": "4,41E\+11" has lost/,
        );
      }
    });

    it('the name of a tag or an event', async () => {
      const { tagGroup, event, users } = createExhibitor();
      const [one, two] = tagGroup.tagOptions;
      const twice = {
        ...tagGroup,
        id: '7c9e0000-0000-4000-8000-0000000000aa',
        tagOptions: [1, 2].map((n) => ({
          id: `7c9e0000-0000-4000-8000-0000000000b${n}`,
          displayOrder: n,
          value: n === 1 ? 'Same' : 'SAME',
        })),
      };
      await tenant.import({ users, tagGroups: [tagGroup, twice], events: [event] });
      const [stored] = await tenant.api.all<{ id: number }>('/events', 'events');
      const id = stored?.id;
      expect(
        await counts(
          `tags,events\n${String(one?.value).toUpperCase()}; ${two?.id},${event.name}\n,${id}\n,${event.ref}\n`,
        ),
      ).toEqual([3, 0, 0]);
      const [lead] = await leads();
      expect(lead?.tags).toMatchObject([{ tagOptionId: one?.id }, { tagOptionId: two?.id }]);
      const { eventLeads } = (await tenant.api.get(`/events/${id}/leads`).expect(200)).body.results as {
        eventLeads: object[];
      };
      expect(eventLeads).toHaveLength(3);
      const { stderr } = await run('tags,events\nsame,x\n,Unheard Expo\n');
      expect(stderr).toMatch(
        /column "tags": Several tag options are called "same"\..*\nline 2 and 1 more, column "events": No event matches "x"\./,
      );
      expect(await counts('email\na@example.com\n', '--event', event.name)).toEqual([1, 0, 0]);
      const again = (await tenant.api.get(`/events/${id}/leads`).expect(200)).body.results as { eventLeads: object[] };
      expect(again.eventLeads).toHaveLength(4);
      const { errors } = await json('email\na@example.com\n', '--event', 'Unheard');
      expect(errors).toMatchObject([{ line: null, column: null, path: null, value: null }]);
    });
  });

  describe('is a whole', () => {
    it('whose errors are reported at once, 20 of them and how many more', async () => {
      const content = `email,numberOfScans\n${'nobody,many\n'.repeat(15)}`;
      const lines = await refused(content);
      expect(lines).toEqual([
        'line 2 and 14 more, column "email": "nobody" is not a valid e-mail address. Use an address such as name@example.com.',
        'line 2 and 14 more, column "numberOfScans": "many" is not a valid numberOfScans. Use a whole number from 0 to 2147483647.',
      ]);
      const { errors, more } = await json(content);
      expect(errors?.[0]).toEqual({
        line: 2,
        column: 'email',
        path: 'email',
        value: 'nobody',
        expected: 'an address such as name@example.com',
      });
      expect([errors?.length, more]).toEqual([20, 10]);
    });

    it('without records, which is an error', async () => {
      expect(await refused('email,firstName\n')).toEqual(['The file has no records.']);
      const { errors, more } = await json('email,firstName\n');
      expect([errors?.map(({ expected }) => expected), more]).toEqual([['a file with records'], 0]);
    });

    it('whose values are cut, and escaped', async () => {
      const [line] = await refused(`email\n"${'x'.repeat(59)}\u202e${'y'.repeat(9)}"\n`);
      expect(line).toContain(`"${'x'.repeat(59)}\\u202e…"`);
      const { errors } = await json(`email\n"${'x'.repeat(59)}\u202e${'y'.repeat(9)}"\n`);
      expect(errors?.[0]?.value).toBe(`${'x'.repeat(59)}\u202e${'y'.repeat(9)}`);
    });

    it('of which a dry run stores nothing, and shows how it is read', async () => {
      const content = 'First name,Notes,Shoe\nAda,a,1\nBen,b,2\nEve,c,3\nZoë,d,4\n';
      const result = await json(content, '--dry-run', '--map', 'Shoe=');
      const outcomes = { leads: { created: 4, updated: 0, unchanged: 0 } };
      expect(result).toMatchObject({ dryRun: true, outcomes, notes: [] });
      expect(result.columns).toEqual([
        { column: 'First name', field: 'firstName' },
        { column: 'Notes', field: 'description' },
        { column: 'Shoe', field: null },
      ]);
      expect(result.first?.map(({ firstName }) => firstName)).toEqual(['Ada', 'Ben', 'Eve']);
      expect(await leads()).toEqual([]);
      const { stdout } = await run(content, '--dry-run', '--ignore-unknown');
      expect(stdout).toMatch(
        /^Would import 4 leads: 4 created, 0 updated, 0 unchanged\.\n[^]*description[^]*"Eve"[^]*nothing was stored\.\n$/,
      );
    });
  });

  describe('is imported again', () => {
    it('by the address, which becomes that of the file', async () => {
      expect(await counts('email,firstName\nada@example.com,Ada\n')).toEqual([1, 0, 0]);
      const again = 'email,lastName\nADA@example.com,Rowe\nben@example.com,Ito\n';
      expect(await counts(again, '--match', 'email')).toEqual([1, 1, 0]);
      expect(await counts(again, '--match', 'email')).toEqual([0, 0, 2]);
      expect(await leads()).toMatchObject([
        { email: 'ADA@example.com', firstName: 'Ada', lastName: 'Rowe' },
        { email: 'ben@example.com', firstName: null },
      ]);
    });

    it('by the id of an external system, with tags and phones', async () => {
      const content = (city: string) => `Salesforce,phone,City\n003-1,1,${city}\n003-2,2,${city}\n`;
      const options = ['--map', 'Salesforce=remoteIds.SALES_FORCE', '--match', 'remoteId'];
      expect(await counts(content('Leeds'), ...options)).toEqual([2, 0, 0]);
      expect(await counts(content('Porto'), ...options)).toEqual([0, 2, 0]);
      expect(await leads()).toMatchObject([{ company: { city: 'Porto' } }, { company: { city: 'Porto' } }]);
    });

    it('only with the key, in one column', async () => {
      expect(await refused('email,firstName\na@example.com,Ada\n,Ben\n', '--match', 'email')).toEqual([
        'line 3, column "email": Empty, but --match email needs an e-mail address in every row.',
      ]);
      expect(await refused('firstName\nAda\n', '--match', 'email')).toHaveLength(1);
      expect((await refused('remoteIds.ZOHO,remoteIds.PARDOT\n1,2\n', '--match', 'remoteId'))[0]).toContain(
        'the file has remoteIds.ZOHO and remoteIds.PARDOT.',
      );
      await tenant.import({ leads: [{ id: '7c9e0000-0000-4000-8000-0000000000c1', email: 'c@example.com' }] });
      const taken = 'id,email\n7c9e0000-0000-4000-8000-0000000000c1,d@example.com\n';
      expect((await run(taken, '--match', 'email')).stderr).toContain('line 2, column "id": "7c9e0000');
      expect(await wrongUsage('--match', 'phone')).toContain('--match must be one of id, email, remoteId for leads');
    });

    it('with a key twice in it: an error, or one of the rows', async () => {
      const content = 'email,firstName,phone\na@example.com,Ada,1\nA@example.com,Bea,2\nb@example.com,Eve,3\n';
      expect(await refused(content, '--match', 'email')).toEqual([
        'line 3, column "email": Duplicate of line 2. Keep one row with --repeated first or last, or join them with --repeated merge.',
      ]);
      expect(await counts(content, '--match', 'email', '--repeated', 'last')).toEqual([2, 0, 0]);
      expect(await leads()).toMatchObject([
        { firstName: 'Bea', phoneNumbers: { leadProvided: [{ number: '2' }] } },
        {},
      ]);
      expect(await counts(content, '--match', 'email', '--repeated', 'first')).toEqual([0, 1, 1]);
    });

    it('as it was exported, and changes nothing', async () => {
      const { users, tagGroup, event, activation, lead } = createExhibitor();
      const leadProvided = [
        { number: '1', type: 'OFFICE', preferred: false },
        { number: '2', type: 'UNKNOWN', preferred: true },
        { number: '3;4', type: 'OFFICE', preferred: false },
        ...["'5", '4E+11', ' 6'].map((number) => ({ number, type: 'MOBILE', preferred: false })),
      ];
      const own = { ...lead, firstName: '', phoneNumbers: { leadProvided, serviceProvided: [] } };
      await tenant.import({ users, tagGroups: [tagGroup], events: [event], activations: [activation], leads: [own] });
      const before = await leads();
      const args = ['export', '--organization', String(tenant.organizationId), '--csv', 'leads'];
      const { stdout } = await installation.operator.run(args);
      expect(stdout).toContain(`,${tagGroup.tagOptions[0]?.value}`);
      expect(stdout).toContain(event.name);
      expect(stdout.split('\n', 1)[0]).toMatch(/,phone,phone.mobile,.*remoteIds\.WEBHOOK/);
      expect(stdout.split('\n', 1)[0]).not.toMatch(/phoneNumbers|serviceProvided|activations|remoteIds\.ZOHO/);
      expect(await counts(stdout)).toEqual([0, 0, 1]);
      expect(await leads()).toEqual(before);
      const mapped = await installation.operator.run([...args, '--map', 'Phones=phoneNumbers.leadProvided']);
      expect(mapped.stdout).toContain('""type"":""OFFICE""');
    });

    it('into an event that it is in already: flags stay', async () => {
      const { users, tagGroup, event, activation, lead } = createExhibitor();
      await tenant.import({ users, tagGroups: [tagGroup], events: [event], activations: [activation], leads: [lead] });
      const args = `id,events\n${lead.id},${event.ref}\n`;
      expect(await counts(args)).toEqual([0, 0, 1]);
    });
  });

  describe('of JSON', () => {
    const runJson = (content: unknown, ...options: string[]) =>
      installation.operator.run([
        ...given(typeof content === 'string' ? content : JSON.stringify(content)),
        ...options,
      ]);

    it('has fields that a record has not', async () => {
      const id = '7c9e0000-0000-4000-8000-000000000001';
      const lead = { id, companyName: 'x', frstName: 'Ada', phoneNumbers: { leadProvided: [{ nr: '1' }] } };
      const { status, stderr } = await runJson({ leads: [lead], laeds: [] });
      expect(status).toBe(1);
      expect(stderr.trimEnd().split('\n')).toEqual([
        expect.stringMatching(/^"laeds": Unknown section\. Use one of: .*leads/),
        'leads[0].companyName: Unknown field. Did you mean company.name?',
        'leads[0].frstName: Unknown field. Did you mean firstName?',
        'leads[0].phoneNumbers.leadProvided[0].nr: Unknown field.',
        expect.stringMatching(/^leads\[0\]\.phoneNumbers\.leadProvided\[0\]\.number: A value is missing\. Use text/),
        expect.stringMatching(
          /^leads\[0\]\.phoneNumbers\.leadProvided\[0\]\.type: A value is missing\. Use one of: MOBILE/,
        ),
        expect.stringMatching(
          /^leads\[0\]\.phoneNumbers\.leadProvided\[0\]\.preferred: A value is missing\. Use true or false\./,
        ),
      ]);
      const ndjson = await runJson(`{"section":"leads","record":{"id":"${id}","frstName":"Ada"}}\n{secret}\n`);
      expect(ndjson.stderr).toBe(
        'line 1: leads[0].frstName: Unknown field. Did you mean firstName?\nline 2: This is not valid JSON.\n',
      );
    });

    it('is an answer of the API, as long as it says what is stored', async () => {
      const { dataset, lead } = createExhibitor();
      await tenant.import(dataset);
      const { body } = await tenant.api.get('/leads').expect(200);
      expect(await runJson(body)).toMatchObject({
        status: 0,
        stdout: expect.stringMatching(/^Imported 1 lead: 0 created, 0 updated, 1 unchanged\.\nImport ID: /) as string,
      });
      const [stored] = await leads();
      const other = { ...stored, tags: [{ ...(stored?.tags as object[])[0], value: 'Never' }] };
      expect((await runJson({ leads: [other] })).stderr).toMatch(
        /^leads\[0\]: leadActivityEvents and tags.value are read-only and differ from what is stored\.$/m,
      );
      expect((await leads())[0]).toEqual({ ...stored, id: lead.id });
    });

    it.each(['{}', '{"leads":[]}', ''])('has no records: %j', async (content) => {
      const nothing = expect.stringMatching(/^Imported nothing\.\nImport ID: /) as string;
      expect(await runJson(content)).toMatchObject({ status: 0, stdout: nothing, stderr: '' });
      const { stdout } = await runJson(content, '--json');
      expect((JSON.parse(stdout) as Result).imported).toMatchObject({ leads: 0, events: 0 });
    });

    it('looks like CSV', async () => {
      const { status, stderr } = await runJson('"First name","Last name"\nAda,Rowe\n');
      expect(status).toBe(1);
      expect(stderr).toMatch(/^This looks like CSV, not JSON\. Try: .* import .* --csv leads\n$/);
    });

    it('is only tried, and gives events that are not there yet no id', async () => {
      const { users, tagGroup, event } = createExhibitor();
      const dataset = { users, tagGroups: [tagGroup], events: [event] };
      const { stdout } = await runJson(dataset, '--dry-run', '--json');
      expect(JSON.parse(stdout)).toMatchObject({ dryRun: true, events: { [event.ref]: null } });
      await tenant.import(dataset);
      const again = await runJson(dataset, '--dry-run', '--json');
      expect((JSON.parse(again.stdout) as Result).events).toEqual({ [event.ref]: expect.any(Number) as number });
    });
  });
});
