import { execFile } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { Schema } from '../../clients/mcp/src/schemas';
import { TOOLS } from '../../clients/mcp/src/tools';
import { leadInput, phone } from '../support/builders';
import { Lanyard, startLanyard, Tenant } from '../support/lanyard';
import { Agent, connectAgent } from '../support/mcp';

type Input = Record<string, unknown>;

const remoteId = { id: '0035g', integrationType: 'SALES_FORCE' };
const patch = {
  firstName: 'Ada',
  lastName: 'Rowe',
  email: 'ada@example.com',
  address: '2 Quay Road',
  linkedin: 'ada',
  facebook: 'ada',
  twitter: 'ada',
  profilePicture: 'ada.png',
  description: 'Pumps',
  jobTitle: 'Buyer',
  phoneNumbers: [phone()],
  remoteId,
};

/** A valid input of each tool with all of its fields. */
const inputs: Record<string, Input> = {
  find_leads: {
    q: 'ada',
    email: 'ada@example.com',
    hasEmail: true,
    createdSince: '2026-05-04T00:00:00Z',
    eventId: 1,
    remoteId,
    cursor: '1',
  },
  get_lead: { leadId: randomUUID(), field: 'description', from: 1 },
  list_events: { eventId: 1, cursor: '1' },
  search_industry_events: { q: 'pumps', eventUrl: 'https://example.com', bookmarked: false, cursor: '1' },
  list_tags_and_activations: { kind: 'tagGroups', cursor: '1' },
  list_changes: { cursor: 'abc', resources: ['leads'] },
  create_lead: { ...leadInput({ email: 'ada@example.com', phoneNumbers: [phone()] }), dryRun: true },
  update_lead: { leadId: randomUUID(), ...patch, appendToDescription: 'More.', dryRun: true },
  upsert_leads: { matchBy: 'email', leads: [{ ...leadInput(), ...patch }], dryRun: true },
  add_leads_to_event: {
    eventId: 1,
    eventLeads: [{ leadId: randomUUID(), registered: true, checkedIn: true }],
    dryRun: true,
  },
  bookmark_industry_event: { industryEventId: randomUUID(), bookmarked: true, dryRun: true },
  delete_lead: { leadId: randomUUID(), person: 'Ada Rowe', dryRun: true },
};

/** Values that a schema excludes, with the rule that they break. */
function invalidValues(schema: Schema): [string, unknown][] {
  const types = [schema.type].flat();
  const values: [string, unknown][] = [['type', types.includes('object') ? 'text' : { a: 1 }]];
  if (!types.includes('null')) values.push(['null', null]);
  if (schema.enum) values.push(['enum', 'NO_SUCH_VALUE']);
  if (types.includes('string')) values.push(['NUL', 'a\0b'], ['surrogate', '\uD800']);
  if (schema.pattern || schema.format) values.push(['pattern', ' ']);
  if (schema.maxLength !== undefined) values.push(['maxLength', 'a@example.com'.padStart(schema.maxLength + 1, 'a')]);
  if (schema.minimum !== undefined) values.push(['minimum', Number(schema.minimum) - 1]);
  if (schema.maximum !== undefined) values.push(['maximum', Number(schema.maximum) + 1]);
  return values;
}

/** Inputs that differ from a valid one in one place. */
function* invalidInputs(schema: Schema, valid: unknown, path = ''): Generator<[string, unknown]> {
  if (path) for (const [rule, value] of invalidValues(schema)) yield [`${path}: ${rule}`, value];
  if (schema.properties) {
    const fields = valid as Input;
    yield [`${path}.misspelled: unknown`, { ...fields, misspelled: 1 }];
    for (const name of schema.required ?? []) {
      const { [name]: _, ...rest } = fields;
      yield [`${path}.${name}: missing`, rest];
    }
    for (const [name, inner] of Object.entries(schema.properties)) {
      for (const [rule, value] of invalidInputs(inner, fields[name], `${path}.${name}`)) {
        yield [rule, { ...fields, [name]: value }];
      }
    }
  }
  if (schema.items) {
    const entries = valid as unknown[];
    for (const [rule, value] of invalidInputs(schema.items, entries[0], `${path}[0]`)) yield [rule, [value]];
    if (schema.maxItems !== undefined)
      yield [`${path}: maxItems`, Array<unknown>(Number(schema.maxItems) + 1).fill(entries[0])];
  }
}

it('takes the schemas from openapi.json', async () => {
  await promisify(execFile)(process.execPath, [join(__dirname, '../../clients/mcp/generate.mjs'), '--check']);
});

describe('an invalid input', () => {
  let lanyard: Lanyard;
  let tenant: Tenant;
  let agent: Agent;
  const sent: string[] = [];
  beforeAll(async () => {
    lanyard = await startLanyard();
    tenant = await lanyard.tenant();
    const observed: typeof fetch = (url, init) => {
      sent.push(String(url));
      return fetch(url, init);
    };
    agent = await connectAgent({ url: lanyard.baseUrl, key: tenant.key, fetch: observed, allowDeletes: true });
    await agent.toolNames();
  });
  afterAll(() => agent.close());

  it.each(TOOLS.map(({ name, input }) => [name, input] as const))(
    'of %s is an error, and nothing is sent',
    async (name, schema) => {
      const valid = inputs[name] ?? {};
      expect(Object.keys(valid).sort()).toEqual(Object.keys(schema.properties).sort());
      await agent.call(name, valid);
      expect(sent.splice(0)).not.toEqual([]);
      const accepted: string[] = [];
      for (const [rule, input] of invalidInputs(schema, valid)) {
        const { isError, text } = await agent.call(name, input as Input);
        if (!isError || !text.startsWith('Nothing was sent: ')) accepted.push(rule);
      }
      expect(accepted).toEqual([]);
      expect(sent).toEqual([]);
    },
  );

  it('is one that the API rejects, too', async () => {
    const lead = TOOLS.find(({ name }) => name === 'create_lead');
    const { dryRun: _, ...valid } = inputs.create_lead as Input;
    const { dryRun: __, ...properties } = lead?.input.properties ?? {};
    const schema = { ...lead?.input, properties };
    const stored: string[] = [];
    for (const [rule, body] of invalidInputs(schema, valid)) {
      const { status } = await tenant.api.post('/leads', body as object).set('prefer', 'handling=strict, tx=rollback');
      if (status !== 400) stored.push(rule);
    }
    expect(stored).toEqual([]);
  });

  it.each([
    ['create_lead', { ...leadInput(), email: 'nowhere' }, 'email must match pattern'],
    [
      'create_lead',
      { ...leadInput(), phoneNumbers: [phone({ type: 'FAX' })] },
      'phoneNumbers[0].type must be one of MOBILE, ',
    ],
    ['update_lead', { leadId: randomUUID(), jobtitle: 'Buyer' }, 'jobtitle is not a field of this tool'],
    ['find_leads', { remoteId: { id: '1' } }, 'remoteId.integrationType is missing'],
  ])('of %s is named by its field: %j', async (name, input, text) => {
    expect((await agent.call(name, input)).text).toContain(`Nothing was sent: ${text}`);
  });
});
