import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { advisedOptions, type CsvOutcome, importCsvFile } from '../support/csv-files';
import { createExhibitor } from '../support/builders';
import { type InProcess, startInProcess, type Tenant } from '../support/lanyard';

interface Lead extends Record<string, unknown> {
  phoneNumbers: { leadProvided: { number: string; type: string }[] };
}

/** Address books, a webinar and two ticket services, in which a careless reading takes one thing for another. */
describe('a file is read as a person would', () => {
  let lanyard: InProcess;
  let tenant: Tenant;
  beforeAll(async () => void (lanyard = await startInProcess()));
  beforeEach(async () => void (tenant = await lanyard.tenant()));

  const leads = (): Promise<Lead[]> => tenant.api.all<Lead>('/leads', 'leads');
  const phones = async (): Promise<string[]> =>
    (await leads()).flatMap((lead) => lead.phoneNumbers.leadProvided.map(({ type, number }) => `${type} ${number}`));
  const importText = (text: string, ...options: string[]): Promise<CsvOutcome> =>
    importCsvFile(lanyard, tenant.organizationId, Buffer.from(text), options);
  /** Imports a file at the second attempt at the latest, and returns what the result says. */
  const notesOf = async (file: string): Promise<string[]> => {
    const text = readFileSync(join(__dirname, 'reports', file), 'utf8');
    const first = await importText(text);
    const second = first.result ? first : await importText(text, ...advisedOptions(first.message));
    expect(second.message).toBe('');
    return second.notes ?? [];
  };

  it('an address book: salutations are no titles, a home is not the company, and a fax is no phone', async () => {
    const notes = await notesOf('outlook-contacts.csv');
    expect(await leads()).toMatchObject([
      { jobTitle: 'Head of Procurement', address: '9 Hill Rd, Leeds, United Kingdom', company: { city: 'London' } },
      { jobTitle: null, address: null, company: { city: 'Austin' } },
    ]);
    expect((await phones()).sort()).toEqual([
      'LANDLINE +44 113 496 0999',
      'MOBILE +1 202-555-0147',
      'MOBILE +44 7700 900123',
      'OFFICE +44 20 7946 0123',
    ]);
    expect(notes).toEqual([
      'Skipped column "Title": Its values are salutations.',
      'Skipped column "Business Fax": A number of a fax or pager is not a phone number.',
      'Skipped column "Home Fax": A number of a fax or pager is not a phone number.',
      'Skipped column "Pager": A number of a fax or pager is not a phone number.',
      'Columns that were not used: "Web Page".',
    ]);
  });

  it('a mail program: what was not used is named, what could reach somebody first', async () => {
    const notes = await notesOf('thunderbird-address-book.csv');
    expect(await leads()).toMatchObject([
      { address: '9 Hill Rd, LS1 1AA, Leeds, United Kingdom', company: { name: 'Cobalt Systems', city: null } },
      { address: null },
    ]);
    expect(notes.at(-1)).toMatch(/^Columns that were not used: "Web Page 1", "Nickname"/);
  });

  it('a webinar: the table of panelists is left out, with --lenient too', async () => {
    const note = 'Another table begins on line 9: it and all that follows was left out.';
    expect(await notesOf('webinar-attendees.csv')).toContain(note);
    expect(await leads()).toMatchObject([{ lastName: 'Rowe' }, { lastName: 'Ito' }]);
    tenant = await lanyard.tenant();
    const text = readFileSync(join(__dirname, 'reports', 'webinar-attendees.csv'), 'utf8');
    expect((await importText(text, '--lenient')).notes).toContain(note);
    expect(await leads()).toHaveLength(2);
  });

  it('tickets: the columns of the attendee belong together, and the buyer is somebody else', async () => {
    const notes = await notesOf('ticket-holders.csv');
    expect(await leads()).toMatchObject([
      { email: 'ada.rowe@cobalt.example', company: { name: 'Cobalt Systems' }, professionalEmails: null },
      { email: 'ben.ito@quarry.example', company: { name: 'Quarry Labs' }, professionalEmails: null },
    ]);
    expect(await phones()).toEqual(['UNKNOWN +44 7700 900123', 'UNKNOWN +1 202-555-0147']);
    expect(notes).toContain('Skipped column "Order Email": It is about the buyer, not about the attendee.');
  });

  it('orders: an attendee without an address does not get that of the buyer', async () => {
    await notesOf('ticket-orders.csv');
    expect(await leads()).toMatchObject([
      { firstName: 'Ada', lastName: 'Rowe', email: null },
      { firstName: 'Ben', lastName: 'Ito', email: null },
    ]);
    expect(await phones()).toEqual([]);
  });

  it('columns that could reach somebody are never hidden behind a number of others', async () => {
    const names = Array.from({ length: 15 }, (_, index) => `Extra ${index}`);
    const { message } = await importText(
      `Firstname,${names.join(',')}\nAda,${names.map(() => 'Cobalt Ltd').join(',')}\n`,
    );
    for (const name of names) expect(message).toContain(`"${name}"`);
  });

  it('no command fills a field by likeness, or makes leads of IDs', async () => {
    const { message } = await importText('Attendee ID,Badge ID,Atendee,Emial,email\n1,8,9,x,a@example.com\n');
    expect(message).toMatch(/^Try: import --ignore-unknown$/m);
    expect(message).not.toContain('--map "');
  });

  it('dates of either order: both commands are named', async () => {
    const { message } = await importText('Create Date\n5/4/2026\n6/4/2026\n');
    expect(message).toMatch(
      /^Try: import --date-format MDY\nOr, if the day comes first in its dates: import --date-format DMY\n/m,
    );
    expect((await importText('Create Date\n25/4/2026\n4/25/2026\n')).message).not.toContain('Try:');
  });

  describe('says of the columns', () => {
    it('which were not used, those that could reach somebody first, in every mode', async () => {
      const text = [
        'Email,Shoe,Size,Desk,Site,Firm,Place',
        'a@example.com,4711,38,202-555-0147,cobalt.example,Cobalt GmbH,9 Hill Rd',
        '',
      ].join('\n');
      const note = 'Columns that were not used: "Desk", "Site", "Firm", "Place", "Shoe", "Size".';
      const mapped = text.replace('Firm', 'Firma 7');
      expect((await importText(mapped, '--ignore-unknown')).notes).toContain(note.replace('Firm', 'Firma 7'));
      const { notes, leftOut } = await importText(mapped.replace(',38,', ',,'), '--lenient');
      expect(notes).toContain('Columns that were not used: "Size".');
      expect(leftOut.map(({ column }) => column)).toEqual(['Shoe', 'Desk', 'Site', 'Firma 7', 'Place']);
    });

    it('which the operator has skipped by name, nothing', async () => {
      expect((await importText('Email,Shoe\na@example.com,1\n', '--map', 'Shoe=')).notes).toEqual([]);
    });

    it.each(['Mr', 'Herr Dr.', 'Prof. Dr.', 'M.', 'Mme', 'Sig.ra', 'Mr./Ms.'])(
      'that "%s" is no title',
      async (title) => {
        const text = `Title,Last name\n${title},Rowe\n${title},Ito\nBuyer,Vale\n`;
        expect((await importText(text)).notes).toContain('Skipped column "Title": Its values are salutations.');
        expect((await leads()).map(({ jobTitle }) => jobTitle)).toEqual([null, null, null]);
      },
    );
  });

  describe('takes columns of one prefix together', () => {
    it('those of somebody else are not of the attendee, whatever else is in the file', async () => {
      const text = [
        'Ticket Email,Ticket Job Title,Order Email,Buyer Job Title,Billing First Name,Billing City,Payer Phone',
        ',Engineer,office@cobalt.example,Director,Nora,Essen,+49 201 555 0199',
        'b@example.com,,office@cobalt.example,,,,',
        '',
      ].join('\n');
      const { message } = await importText(text);
      expect(message).toBe('');
      expect(await leads()).toMatchObject([
        { firstName: null, email: null, jobTitle: 'Engineer', company: { city: null }, professionalEmails: null },
        { email: 'b@example.com' },
      ]);
      expect(await phones()).toEqual([]);
    });

    it('a buyer is the lead of a file without attendees', async () => {
      await importText('Buyer First Name,Buyer Last Name,Buyer Email\nNora,Vale,nora@example.com\n');
      expect(await leads()).toMatchObject([{ firstName: 'Nora', email: 'nora@example.com' }]);
    });

    it('those of a home are of the person, those of work of the company', async () => {
      const text = [
        'Last name,Work Email,Private E-mail,Office City,Privat Ort,Private Phone 2,Business Telephone,Mobile Tel',
        'Rowe,a@cobalt.example,a@home.example,London,Leeds,+44 1 5550100,+44 2 5550100,+44 7 5550100',
        '',
      ].join('\n');
      expect((await importText(text)).message).toBe('');
      expect(await leads()).toMatchObject([
        {
          email: 'a@cobalt.example',
          personalEmails: 'a@home.example',
          professionalEmails: null,
          address: 'Leeds',
          company: { city: 'London' },
        },
      ]);
      expect((await phones()).sort()).toEqual([
        'LANDLINE +44 1 5550100',
        'MOBILE +44 7 5550100',
        'OFFICE +44 2 5550100',
      ]);
    });
  });

  describe('takes kinds from the column beside', () => {
    const text = [
      'Last name,Phone 1 - Type,Phone 1 - Value,Phone 2 - Type,Phone 2 - Value,E-mail 1 - Type,E-mail 1 - Value,Address 1 - Type,Address 1 - City',
      'Rowe,Mobile,+44 7700 900123,Work Fax,+44 20 7946 0199,Home,a@home.example,Home,Leeds',
      'Ito,Work,+1 202 555 0147,Home,+1 202 555 0199,* Work,b@quarry.example,Work,Austin',
      '',
    ].join('\n');
    const expected = ['LANDLINE +1 202 555 0199', 'MOBILE +44 7700 900123', 'OFFICE +1 202 555 0147'];

    it('of numbers and addresses, and says which numbers nobody answers', async () => {
      const { notes, message } = await importText(text);
      expect(message).toBe('');
      expect(notes).toEqual(['Left out of column "Phone 2 - Value": "Work Fax" is not a phone number.']);
      expect((await phones()).sort()).toEqual(expected);
      expect(await leads()).toMatchObject([
        { email: 'a@home.example', address: 'Leeds', company: { city: null } },
        { email: 'b@quarry.example', address: null, company: { city: 'Austin' } },
      ]);
    });

    it('and lists each of those with --lenient', async () => {
      const { leftOut, notes } = await importText(text, '--lenient');
      expect(notes).toEqual([]);
      expect(leftOut).toMatchObject([{ line: 2, column: 'Phone 2 - Value', value: '+44 20 7946 0199' }]);
      expect((await phones()).sort()).toEqual(expected);
    });

    it('of an address that stands in the file twice, which is stored once', async () => {
      const { notes } = await importText(
        [
          'Given Name,Family Name,Address 1 - Type,Address 1 - Formatted,Address 1 - Street,Address 1 - City,Address 1 - Postal Code',
          'Ada,Rowe,Home,"9 Hill Rd\nLeeds LS1 1AA",9 Hill Rd,Leeds,LS1 1AA',
          'Ben,Ito,Work,"1 Rock Rd\nAustin 78701",1 Rock Rd,Austin,78701',
          '',
        ].join('\n'),
        '--ignore-unknown',
      );
      expect(await leads()).toMatchObject([
        { address: '9 Hill Rd, Leeds, LS1 1AA', company: { streetAddress: null } },
        { address: null, company: { streetAddress: '1 Rock Rd', city: 'Austin', zip: '78701' } },
      ]);
      expect(notes).toEqual(['Columns that were not used: "Address 1 - Formatted".']);
    });

    it('and takes no text without digits for a number', async () => {
      const file = 'Email,Phone\na@example.com,n/a\nb@example.com,-\nc@example.com,"0441 1, ask"\n';
      expect((await importText(file)).message).toMatch(
        /^line 2 and 1 more, column "Phone": "n\/a" is not a phone number\. Use one with digits, or leave the cell empty\.\n/,
      );
      expect((await importText(file, '--lenient')).leftOut).toMatchObject([{ value: 'n/a' }, { value: '-' }]);
      expect(await phones()).toEqual(['UNKNOWN 0441 1, ask']);
    });

    it('but not where it says something else', async () => {
      const { message } = await importText('Phone,Phone Type,Ticket Type\n1234567,iPhone 15 of a friend,Visitor\n');
      expect(message).toContain('"Ticket Type"');
    });
  });

  it('columns of one name are told apart: each bad value is named, and the others are kept', async () => {
    const text = 'Email,Phone,Phone,Job Title,Job Title\na@example.com,n/a,1234567,Buyer,Head\nb@example.com,-,?,,\n';
    const { message } = await importText(text);
    expect(message).toContain('line 2 and 2 more, column "Phone": "n/a" is not a phone number.');
    const { leftOut } = await importText(text, '--lenient');
    expect(leftOut.map(({ line, value }) => [line, value])).toEqual([
      [2, 'Head'],
      [2, 'n/a'],
      [3, '-'],
      [3, '?'],
    ]);
    expect(await phones()).toEqual(['UNKNOWN 1234567']);
    expect(await leads()).toMatchObject([{ jobTitle: 'Buyer' }, { jobTitle: null }]);
  });

  it('a file of delimiters alone is empty', async () => {
    expect((await importText(',,\n,,\n')).message).toContain('The file is empty.');
  });

  describe('ends a table', () => {
    it.each([
      ['of times below a title', 3, 'Session Details\nTopic,Start Time,End Time\nPumps,May,June\n'],
      ['of times below a blank line', 4, '\nTopic,Start Time,End Time\nPumps,May,June\n'],
      ['of panelists', 3, 'Panelist Name,Email,Company\nNora Vale,nora@example.com,Fair\n'],
    ])('at another one %s', async (_, line, other) => {
      const text = `First name,Last name,Email,Company\nAda,Rowe,a@example.com,Cobalt\n${other}`;
      for (const options of [[], ['--lenient']]) {
        tenant = await lanyard.tenant();
        const { message, notes } = await importText(text, ...options);
        expect(message).toBe('');
        expect(notes).toEqual([`Another table begins on line ${line}: it and all that follows was left out.`]);
        expect(await leads()).toMatchObject([{ lastName: 'Rowe' }]);
      }
    });

    it('not at people below the title of a group', async () => {
      const text = 'First name,Last name,Role\nAda,Rowe,Buyer\nDay 2,,\nBen,Ito,Office\nEve,Vale,Contact\n';
      expect((await importText(text, '--skip-rows', '3')).notes).toEqual([]);
      expect(await leads()).toHaveLength(3);
    });

    it.each([2, 40])('of %d hosts before that of the attendees', async (count) => {
      const hosts = Array.from(
        { length: count },
        (_, index) => `Yes,Host ${index},host${index}@fair.example,Germany\n`,
      );
      const text = [
        'Attendee Report,\nHost Details,\n',
        'Attended,User Name (Original Name),Email,Country/Region Name\n',
        ...hosts,
        'Attendee Details,\nAttended,First Name,Last Name,Email,Organization\nYes,Ada,Rowe,ada@cobalt.example,Cobalt\n',
        'Other Attended\nUser Name\n4420794\n',
      ].join('');
      const first = await importText(text);
      const { notes } = first.result ? first : await importText(text, ...advisedOptions(first.message));
      expect(notes).toContain(`Skipped lines 1 to ${count + 4} before the header.`);
      expect(await leads()).toMatchObject([{ firstName: 'Ada', lastName: 'Rowe', company: { name: 'Cobalt' } }]);
    });
  });

  describe('makes no lead of', () => {
    const header = 'First name,Last name,Phone,Created At,Scans,Status';
    it.each([
      'Total: 3,,,,,',
      ',,,2026-05-04,,',
      ',,,,3,',
      ',,,,,Approved',
      '3,,,2026-05-04,7,Approved',
      '© 2026 Fair,,,,,',
    ])('a row that is %s', async (row) => {
      const text = `${header}\nAda,,,,,\n,,4412345,,,\n${row}\n${row}\n`;
      const { message } = await importText(text);
      expect(message).toMatch(
        /^line 4 and 1 more: Nothing in this row by which somebody could be recognized or reached/,
      );
      expect(advisedOptions(message)).toEqual(['--skip-rows', '4,5']);
      expect((await importText(text, ...advisedOptions(message))).message).toBe('');
      expect(await leads()).toHaveLength(2);
      tenant = await lanyard.tenant();
      await importText(text, '--lenient');
      expect(await leads()).toHaveLength(2);
    });

    it('a footer of three lines, which one command skips', async () => {
      const text = 'email,firstName\na@example.com,Ada\nTotal: 1\nPrinted today\n© Fair\n';
      const options = advisedOptions((await importText(text)).message);
      expect(options).toEqual(['--skip-rows', '3,4,5']);
      expect((await importText(text, ...options)).message).toBe('');
      const more = `${text}Eve,x,y\n,,\nThe end\n`;
      expect(advisedOptions((await importText(more, ...options)).message)).toEqual(['--skip-rows', '8']);
    });
  });

  describe('knows states', () => {
    const text = [
      'Last name,Status,Scans',
      'Rowe,Approved,1',
      'Ito,Declined,many',
      'Vale,approved ,2',
      'Ng,Waitlisted,3',
      'Roe,,4',
      '',
    ].join('\n');
    const counts = 'Column "Status": "Approved" 2, "Declined" 1, "Waitlisted" 1.';

    it('of which it says how many there are, and how many do not come', async () => {
      const { notes, result } = await importText(text.replace('many', '9'));
      expect(result?.imported).toMatchObject({ leads: 5 });
      expect(notes).toEqual([
        `${counts} Imported like the others: 2 rows of people who are declined, canceled, void or waitlisted. To import the rows of some states alone, use --only "Status=STATE" for each.`,
      ]);
    });

    it('of which --only imports some, and reads no other rows', async () => {
      const { notes, message } = await importText(text, '--only', 'status=APPROVED');
      expect(message).toBe('');
      expect(notes).toEqual([counts]);
      expect((await leads()).map(({ lastName }) => lastName).sort()).toEqual(['Rowe', 'Vale']);
      await importText(text, '--only', 'Status=', '--only', 'Status=Waitlisted', '--only', 'Scans=4');
      expect((await leads()).map(({ lastName }) => lastName).sort()).toEqual(['Roe', 'Rowe', 'Vale']);
    });

    it('and --only names a column and a value that are in the file', async () => {
      expect((await importText(text, '--only', 'State=Approved')).message).toMatch(
        /^--only: The file has no column "State"\. Its columns are "Last name", "Status", "Scans"\./,
      );
      expect((await importText(text, '--only', 'Status=Approved', '--only', 'Status=Waitlited')).message).toMatch(
        /^--only: No row has "Waitlited" in "Status"\. Its values are "Approved", "Declined", "approved", "Waitlisted"\./,
      );
    });

    it.each(['Approval Status', 'Ticket Status', 'Order Status'])('in a column %s', async (name) => {
      const { notes } = await importText(`Last name,${name}\nRowe,Paid\nIto,Void\n`);
      expect(notes?.[0]).toMatch(
        `Column "${name}": "Paid" 1, "Void" 1. Imported like the others: 1 row of people who are declined, canceled`,
      );
    });

    it('of several words', async () => {
      const states = ['Attending', 'Not Attending', 'Abgemeldet', 'Not Checked In', 'Checked In'];
      const rows = states.map((state) => `${state.replaceAll(' ', '')},${state}\n`);
      await tenant.import({ events: [{ ...createExhibitor().event, ref: 'expo', users: [], tagGroups: [] }] });
      const { notes } = await importText(`Last name,Attendee Status\n${rows.join('')}`, '--event', 'expo');
      expect(notes?.[0]).toContain(' 2 rows of people who are declined');
      const [event] = await tenant.api.all<{ id: number }>('/events', 'events');
      const { body } = await tenant.api.get(`/events/${event?.id}/leads`).expect(200);
      const { eventLeads } = (body as { results: { eventLeads: object[] } }).results;
      expect(eventLeads).toMatchObject([
        { registered: true, checkedIn: false },
        { registered: false, checkedIn: false },
        { registered: false, checkedIn: false },
        { registered: true, checkedIn: false },
        { registered: true, checkedIn: true },
      ]);
    });
  });

  describe('knows who has come', () => {
    const attendance = async (): Promise<object[]> => {
      const [event] = await tenant.api.all<{ id: number }>('/events', 'events');
      const { body } = await tenant.api.get(`/events/${event?.id}/leads`).expect(200);
      return (body as { results: { eventLeads: object[] } }).results.eventLeads;
    };
    beforeEach(async () => {
      await tenant.import({ events: [{ ...createExhibitor().event, ref: 'expo', users: [], tagGroups: [] }] });
    });

    it.each([
      ['Checked In', 'Yes'],
      ['Check-in Date', '2026-05-04 09:12'],
      ['Registered', 'x'],
      ['Attendee Status', 'Attending'],
    ])('but not at which event: "%s" is not dropped without a word', async (column, value) => {
      const text = `Email,Event,${column}\na@example.com,expo,${value}\nb@example.com,,${value}\nc@example.com, ,${value}\n`;
      const { message } = await importText(text);
      const reason = `"${value}" needs an event, and this row names none that is known. Enter one, empty this cell, or put all leads into an event with --event.`;
      expect(message).toContain(`line 3 and 1 more, column "${column}": ${reason}\n`);
      expect(message).not.toContain('Try:');
      const { leftOut, result } = await importText(text, '--lenient');
      expect(result?.imported).toMatchObject({ leads: 3 });
      expect(leftOut).toMatchObject([3, 4].map((line) => ({ line, column, value, reason })));
      expect(await attendance()).toHaveLength(1);
      expect((await importText(text, '--event', 'expo')).message).toBe('');
      expect(await attendance()).toHaveLength(4);
    });

    it('and asks for no event where a row says that somebody has not', async () => {
      const text = 'Email,Event,Checked In,Attendee Status\na@example.com,expo,Yes,\nb@example.com,,No,Cancelled\n';
      expect((await importText(text)).message).toBe('');
      await importText('Email,Event\nc@example.com,expo\nd@example.com,\n', '--checked-in');
      expect(await attendance()).toMatchObject([{ checkedIn: true }, { checkedIn: true }]);
    });

    it('and advises nothing by which that is lost', async () => {
      const advice = '--map "Event name=" --event EVENT';
      const { message } = await importText('Email,Event name,Checked in\na@example.com,Unheard,Yes\n');
      expect(message).toMatch(/^line 2, column "Event name": No event matches "Unheard"\./);
      expect(message).toContain(`If all leads belong to one event, name it with ${advice}.\n`);
      expect(message).not.toContain('Try:');
      const ignored = await importText('Email,Event name\na@example.com,Unheard\n');
      expect(ignored.message).toContain(advice);
      expect(advisedOptions(ignored.message)).toEqual(['--map', 'Event name=']);
    });
  });

  it('a house number belongs to its street', async () => {
    await importText(
      'Nachname,Straße,Hausnr.,Adresszusatz,Ort\nRowe,Weg,12 a,Haus B,Jena\nIto,Gasse 7,7,,Ulm\nVale,Platz,,,Bonn\n',
    );
    const streets = (await leads()).map(({ company }) => (company as { streetAddress: string }).streetAddress);
    expect(streets).toEqual(['Weg 12 a, Haus B', 'Gasse 7', 'Platz']);
  });

  it('a primary phone number is one of the others', async () => {
    await importText(
      'Email,Primary Phone,Business Phone,Mobile Phone\na@b.example,+44 7700 900123,+44 20 7946 0123,+447700900123\nb@b.example,0441 99887,0441 99888,\nc@b.example,0441 99887; 0441 99889,0441 99887,\n',
    );
    const stored = (await leads()).map(({ phoneNumbers }) => phoneNumbers.leadProvided);
    expect(stored).toEqual([
      [
        { number: '+447700900123', type: 'MOBILE', preferred: true },
        { number: '+44 20 7946 0123', type: 'OFFICE', preferred: false },
      ],
      [
        { number: '0441 99888', type: 'OFFICE', preferred: false },
        { number: '0441 99887', type: 'UNKNOWN', preferred: true },
      ],
      [
        { number: '0441 99887', type: 'OFFICE', preferred: true },
        { number: '0441 99889', type: 'UNKNOWN', preferred: false },
      ],
    ]);
  });

  it('values are judged by all of them, the last one among many, too', async () => {
    const textOf = (last: string, column: string, values: string[]): string =>
      ['Email', ...values.map((_, index) => `a${index}@example.com`), 'last@example.com']
        .map((email, index) => `${[column, ...values, last][index]},${email}\n`)
        .join('');
    const numbers = Array.from({ length: 59 }, (_, index) => String(100 + index));
    const uuid = '7c9e0000-0000-4000-8000-0000000000c1';
    expect((await importText(textOf(uuid, 'ID', numbers))).message).toMatch(
      /^line 2 and 58 more, column "ID": "100" is not a Lanyard ID/,
    );
    const ofSalesforce = numbers.map((number) => `00Q5f00000Ab${number}`);
    await importText(textOf('abc', 'ID', ofSalesforce));
    const stored = (await leads()).filter(({ remoteIds }) => (remoteIds as object[]).length > 0);
    expect({ all: (await leads()).length, stored }).toEqual({ all: 60, stored: [] });
  });

  it('what stands for a name that is still to come is no name', async () => {
    const text =
      'Order #,First Name,Last Name,Email,Company\n1,Ada,Rowe,a@example.com,Cobalt\n2,Info Requested,Info Requested,Info Requested,Info Requested\n3,info requested,Ito,b@example.com,\n';
    const { message } = await importText(text, '--ignore-unknown');
    expect(message).toMatch(
      /^line 3 and 1 more, column "First Name": "Info Requested" stands for a text that is missing\. Enter it, or leave the cell empty\.$/m,
    );
    const { leftOut } = await importText(text, '--ignore-unknown', '--lenient');
    expect(await leads()).toMatchObject([
      { firstName: 'Ada', company: { name: 'Cobalt' } },
      { firstName: null, lastName: 'Ito' },
    ]);
    expect(leftOut.filter(({ line }) => line === 3)).toHaveLength(5);
  });

  it('the same person twice: says how many rows, and how to join them', async () => {
    const text = 'First name,Email\nAda,a@example.com\nAda,A@example.com\nBen,\nEve,\nAda,a@example.com\n';
    const { notes } = await importText(text);
    expect(notes).toEqual([
      '2 rows have the addresses of earlier rows. To join the rows of a person, use --match email --repeated merge.',
    ]);
    const options = ['--match', 'email', '--repeated', 'merge'];
    tenant = await lanyard.tenant();
    const joined = await importText(text.replace('Ben,\nEve,\n', ''), ...options);
    expect(joined.notes).toEqual(['2 rows: joined with the first row of the same key.']);
  });

  it('a formula of one text is that text wherever a column is judged', async () => {
    const text = '="ID",="E-mail",="Create Date",PLZ\n="4711",="a@example.com",="25/4/2026",="04524"\n';
    expect((await importText(text)).message).toBe('');
    expect(await leads()).toMatchObject([
      { email: 'a@example.com', createdAt: '2026-04-25T00:00:00.000Z', company: { zip: '04524' } },
    ]);
  });

  it('bars separate unknown names, too', async () => {
    const { message } = await importText('Shoe|Size|Colour\n1|2|3\n');
    expect(message).toMatch(/^line 1: 3 unknown columns: "Shoe", "Size", "Colour"/);
  });
});
