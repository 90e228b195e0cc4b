import { randomUUID } from 'node:crypto';
import { DataSource } from 'typeorm';
import { CsvService } from '../../src/exchange/csv/csv.service';
import { ExportService } from '../../src/exchange/datasets/export.service';
import { leadInput, unique } from '../support/builders';
import { description, resolveReference, type Schema } from '../support/description';
import { InProcess, startInProcess, Tenant, withTenant } from '../support/lanyard';
import { DATASETS } from '../support/contexts';

type Fields = Record<string, unknown>;

const propertiesOf = (name: string): Record<string, Schema> =>
  (description.components.schemas[name] as Schema | undefined)?.properties ?? {};
const SHOWN = propertiesOf('LeadV0Response');
/** Fields that a lead shows elsewhere, or not at all: suites of their own try these. */
const MOVED = ['createdByEmail', 'companyName', 'phoneNumbers', 'remoteId', 'profilePicture'];

/** A value that no other field has. */
function valueOf(schema: Schema): unknown {
  const { type, format, pattern, enum: values } = resolveReference(schema);
  const types = [type].flat();
  if (values) return values.at(-1);
  if (types.includes('boolean')) return true;
  if (types.includes('integer')) return Math.trunc(Math.random() * 1_000_000) + 1;
  if (format === 'uuid') return randomUUID();
  if (format === 'date') return '2026-05-04';
  if (format === 'date-time') return new Date().toISOString();
  return pattern?.includes('@') ? `${unique()}@example.com` : unique();
}

/** The fields of a body by name, and those among them that a lead shows as it was given them. */
const fieldsOf = (body: string): string[] => Object.keys(propertiesOf(body)).filter((name) => !MOVED.includes(name));
const given = (body: string): Fields =>
  Object.fromEntries(fieldsOf(body).map((name) => [name, valueOf(propertiesOf(body)[name] as Schema)]));

describe('each field of a lead', () => {
  let lanyard: InProcess;
  let tenant: Tenant;
  beforeAll(async () => void ([lanyard, tenant] = await withTenant(startInProcess())));

  const shown = async (id: unknown): Promise<Fields> =>
    (await tenant.api.get(`/leads/${String(id)}`).expect(200)).body.results as Fields;
  const exported = async (): Promise<Fields[]> => {
    const records: Fields[] = [];
    await new ExportService(lanyard.app.get(DataSource), DATASETS).export(
      tenant.organizationId,
      ['leads'],
      async (_, texts) => {
        for await (const text of texts) records.push(JSON.parse(text) as Fields);
      },
    );
    return records;
  };

  it.each(['LeadCreateV0Input', 'LeadPatchV0Input'])('of %s has a field in what a lead shows', (body) => {
    expect(fieldsOf(body).filter((name) => !(name in SHOWN))).toEqual([]);
    expect(fieldsOf(body).length).toBeGreaterThan(2);
  });

  it('that POST and PATCH take is stored, shown, exported, imported, and a column of CSV', async () => {
    const [created, patched] = [given('LeadCreateV0Input'), given('LeadPatchV0Input')];
    const { id, ...lead } = (await tenant.api.post('/leads', leadInput(created)).expect(200)).body.results as Fields;
    expect(lead).toMatchObject(created);
    await tenant.api.patch(`/leads/${String(id)}`, patched).expect(200);
    expect(await shown(id)).toMatchObject(patched);
    await tenant.api.patch(`/leads/${String(id)}`, {}).expect(200);
    expect(await shown(id)).toMatchObject(patched);

    const record = (await exported()).find((each) => each.id === id);
    expect(record).toMatchObject(patched);
    const copy = { ...record, id: randomUUID() };
    await tenant.import({ leads: [copy] });
    expect(await shown(copy.id)).toMatchObject(patched);
    const columns = new CsvService(DATASETS).fields('leads').map(({ name }) => name);
    expect(columns).toEqual(expect.arrayContaining(Object.keys(patched)));
  });

  it('that PATCH takes is written by a batch, and cleared by null', async () => {
    const { email: _, ...written } = given('LeadPatchV0Input');
    const entry = leadInput({ ...written, email: `${unique()}@example.com` });
    const { body } = await tenant.api.post('/leads/batch', { matchBy: 'email', leads: [entry] }).expect(200);
    const [{ lead }] = body.results.leads as [{ lead: Fields }];
    expect(lead).toMatchObject(written);
    const cleared = Object.fromEntries(fieldsOf('LeadPatchV0Input').map((name) => [name, null]));
    await tenant.api.patch(`/leads/${String(lead.id)}`, cleared).expect(200);
    expect(await shown(lead.id)).toMatchObject(cleared);
  });
});
