import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseMapping } from '../../src/exchange/csv/mapping';
import { proposeMapping } from '../../src/exchange/csv/propose';
import { CSV, fileOf, importCsvFile } from '../support/csv-files';
import { type InProcess, startInProcess, type Tenant } from '../support/lanyard';
import { EXPORTS, type ExpectedLead } from './exports.people';

const FOLDER = join(__dirname, 'exports');
const FILES = readdirSync(FOLDER).filter((file) => !file.endsWith('.mapping.json'));

interface ShownLead extends Record<string, unknown> {
  phoneNumbers: { leadProvided: { number: string; type: string }[] };
  tags: { value: string }[];
}

/** A lead with its phone numbers and tags as the expectations have them. */
function simplified({ phoneNumbers, tags, ...lead }: ShownLead): Record<string, unknown> {
  const phones = phoneNumbers.leadProvided.map(({ type, number }) => `${type} ${number}`);
  return { ...lead, phones: phones.sort(), tags: tags.map(({ value }) => value) };
}

const expectedLeads = (file: string): ExpectedLead[] =>
  (EXPORTS[file] ?? []).map(({ phones, ...lead }) => ({ ...lead, phones: [...phones].sort() }) as ExpectedLead);

const contentOf = (file: string): Buffer => readFileSync(join(FOLDER, file));

describe('a file of another program', () => {
  let lanyard: InProcess;
  let tenant: Tenant;
  beforeAll(async () => void (lanyard = await startInProcess()));
  beforeEach(async () => void (tenant = await lanyard.tenant()));

  it('has expectations for every file of the folder', () => {
    expect(Object.keys(EXPORTS).sort()).toEqual([...FILES].sort());
  });

  it.each(FILES)('%s is proposed with all its columns, a name and a way to reach people', async (file) => {
    const { mapping } = await proposeMapping(CSV.section('leads'), fileOf(contentOf(file)));
    const edited = parseMapping(readFileSync(join(FOLDER, `${file}.mapping.json`), 'utf8'), CSV);
    expect(mapping.columns.map(({ column }) => column)).toEqual(edited.columns.map(({ column }) => column));
    expect(mapping).toMatchObject({ headerLine: edited.headerLine, delimiter: edited.delimiter });
    const fields = mapping.columns.map(({ field }) => field);
    expect(fields).toEqual(expect.arrayContaining(fields.includes('name') ? ['name'] : ['firstName', 'lastName']));
    expect(parseMapping(JSON.stringify(mapping), CSV)).toBeDefined();
  });

  it.each(FILES)('%s is imported with its mapping, and every value is stored', async (file) => {
    const mapping = parseMapping(readFileSync(join(FOLDER, `${file}.mapping.json`), 'utf8'), CSV);
    const { errors } = await importCsvFile(lanyard, tenant.organizationId, contentOf(file), mapping, {
      createTags: 'Interest',
    });
    expect(errors).toEqual([]);
    const leads = (await tenant.api.all<ShownLead>('/leads', 'leads')).map(simplified);
    expect(leads).toMatchObject(expectedLeads(file));
    expect(leads).toHaveLength(expectedLeads(file).length);
  });
});
