import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { advisedOptions, importCsvFile } from '../support/csv-files';
import { type InProcess, startInProcess, type Tenant } from '../support/lanyard';
import { DAMAGES, RECORDS, rowsOf } from './exports.damages';
import { EXPORTS, type ExpectedLead } from './exports.people';

const FOLDER = join(__dirname, 'exports');

interface ShownLead extends Record<string, unknown> {
  phoneNumbers: { leadProvided: { number: string; type: string }[] };
  tags: { value: string }[];
}

/** A lead with its phone numbers and tags as the expectations have them. */
function simplified({ phoneNumbers, tags, ...lead }: ShownLead): Record<string, unknown> {
  const phones = phoneNumbers.leadProvided.map(({ type, number }) => `${type} ${number}`);
  return { ...lead, phones: phones.sort(), tags: tags.map(({ value }) => value) };
}

/** The order of phone numbers is that of their types. */
const expectedLeads = (file: string): ExpectedLead[] =>
  (EXPORTS[file] ?? []).map(({ phones, ...lead }) => ({ ...lead, phones: [...phones].sort() }) as ExpectedLead);

describe('an export of another program', () => {
  let lanyard: InProcess;
  let tenant: Tenant;
  beforeAll(async () => void (lanyard = await startInProcess()));
  beforeEach(async () => void (tenant = await lanyard.tenant()));

  const leads = async (): Promise<Record<string, unknown>[]> =>
    (await tenant.api.all<ShownLead>('/leads', 'leads')).map(simplified);

  /** Imports a file, a second time with what the first message says if it is rejected. */
  const importInTwoAttempts = async (bytes: Buffer, ...moreOptions: string[]): Promise<string[]> => {
    const first = await importCsvFile(lanyard, tenant.organizationId, bytes);
    if (first.result) return [];
    const options = [...advisedOptions(first.message), ...moreOptions];
    const second = await importCsvFile(lanyard, tenant.organizationId, bytes, options);
    expect(second.message).toBe('');
    return options;
  };

  it('has expectations for every file of the folder', () => {
    expect(readdirSync(FOLDER).sort()).toEqual(Object.keys(EXPORTS).sort());
  });

  it.each(Object.keys(EXPORTS))(
    '%s is imported at the second attempt at the latest, with all that it says',
    async (file) => {
      await importInTwoAttempts(readFileSync(join(FOLDER, file)));
      expect(await leads()).toMatchObject(expectedLeads(file));
    },
  );
  describe.each(DAMAGES)('damaged by $name', ({ apply, destroys, count }) => {
    it.each(Object.keys(EXPORTS))('%s is imported at the second attempt, but for what is destroyed', async (file) => {
      const rows = rowsOf(file, readFileSync(join(FOLDER, file)));
      const damaged = destroys?.(rows) ?? [];
      const lenient = damaged.length > 0 ? ['--lenient'] : [];
      await importInTwoAttempts(Buffer.from(apply(rows)), ...lenient);
      const found = await leads();
      expect(found).toHaveLength(count?.(rows) ?? RECORDS);
      for (const [index, expected] of expectedLeads(file).entries()) {
        if (damaged.includes(index)) continue;
        const { firstName, lastName } = expected;
        const lead = found.find((each) => each.firstName === firstName && each.lastName === lastName);
        expect(lead).toMatchObject(expected);
      }
    });
  });
});
