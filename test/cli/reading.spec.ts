import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { advisedOptions, type CsvOutcome, importCsvFile } from '../support/csv-files';
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
      /^Try: import --date-format DMY\nOr, if the month comes first in its dates: import --date-format MDY\n/m,
    );
    expect((await importText('Create Date\n25/4/2026\n4/25/2026\n')).message).not.toContain('Try:');
  });
});
