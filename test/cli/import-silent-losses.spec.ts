import { type CsvOutcome, importCsvFile } from '../support/csv-files';
import { type InProcess, startInProcess, type Tenant } from '../support/lanyard';

/** What a careless reading would leave out, or store as something else, without a word. */
describe('nothing of a file is lost in silence', () => {
  let lanyard: InProcess;
  let tenant: Tenant;
  beforeAll(async () => void (lanyard = await startInProcess()));
  beforeEach(async () => void (tenant = await lanyard.tenant()));

  const leads = (): Promise<unknown[]> => tenant.api.all('/leads', 'leads');
  const importText = (text: string, ...options: string[]): Promise<CsvOutcome> =>
    importCsvFile(lanyard, tenant.organizationId, Buffer.from(text), options);

  describe('no row is dropped without a word', () => {
    it('if a required value is blank: the row is an error, and with --lenient it is listed', async () => {
      const text = 'name,eventUrl\nA,https://a.example/expo\n,https://b.example/expo\nC, \n';
      const { message } = await importText(text, '--csv', 'industryEvents');
      expect(message).toMatch(/^line 3, column "name": /);
      const { leftOut } = await importText(text, '--csv', 'industryEvents', '--lenient');
      expect(leftOut.map(({ line }) => line)).toContain(3);
    });

    it('if the last word of a whole name is too long', async () => {
      const { message } = await importText(`Email,First name,Last name,Name\na@example.com,,,Ada ${'x'.repeat(300)}\n`);
      expect(message).toMatch(/^line 2, column /);
    });

    it('if its values are words that name columns, too', async () => {
      const text =
        'First name,Last name,Company,Lead source,Preferred contact\nAna,Lee,Ford Motor Company,LinkedIn,Email\nBo,Ito,Cobalt,Event,Phone\n';
      const { notes } = await importText(text, '--ignore-unknown');
      expect(await leads()).toHaveLength(2);
      expect(notes?.join()).not.toContain('Another table');
    });

    it('if the address that --match needs is invisible', async () => {
      const { message } = await importText('Email,First name\n\u200b,Ben\n', '--match', 'email');
      expect(message).toMatch(/^line 2, column "Email": Empty, but --match email needs /);
    });
  });

  it('a list of JSON is no phone number', async () => {
    const { message } = await importText('Email,Phone\na@example.com,"[""+49 441 12345"",""+49 441 67890""]"\n');
    expect(message).toContain('is not a phone number');
  });

  it('what is no phone number in a list of them is an error, also beside a column of phones', async () => {
    const text = 'Email,phoneNumbers.leadProvided,phone\na@example.com,[null],+49 441 12345\n';
    const { message } = await importText(text);
    expect(message).toMatch(/^line 2, column "phoneNumbers.leadProvided": /);
    const { leftOut } = await importText(text, '--lenient');
    expect(leftOut.map(({ line }) => line)).toEqual([2]);
  });

  it('blanks below an empty name are no text', async () => {
    const { message } = await importText('email,firstName,\na@example.com,Ada, \n');
    expect(message).toBe('');
  });

  it('--map "Phone#2" means no column "Phone 2"', async () => {
    const { message } = await importText(
      'Email,Phone,Phone 2\na@example.com,1234567,7654321\n',
      '--map',
      'Phone#2=phone.office',
    );
    expect(message).toContain('The file has no column "Phone#2"');
  });
});
