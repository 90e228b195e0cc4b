import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const ROOT = join(__dirname, '../..');
const FILE = join(ROOT, 'openapi.json');

interface Schema {
  type: string | string[];
  enum: string[];
  maxLength: number;
  properties: Record<string, Schema>;
  required: string[];
}
interface Description {
  paths: Record<string, Record<string, { responses: Record<string, object>; parameters: object[] }>>;
  components: { schemas: Record<string, Schema> };
}

/** What `redocly diff` says of a change, and whether it lets it pass, as in `npm run description`. */
function comparisonWith(change: (description: Description) => void): Promise<{ passes: boolean; rules: string[] }> {
  const folder = mkdtempSync(join(tmpdir(), 'lanyard-changes-'));
  const changed = join(folder, 'openapi.json');
  const description = JSON.parse(readFileSync(FILE, 'utf8')) as Description;
  change(description);
  writeFileSync(changed, JSON.stringify(description));
  const program = join(ROOT, 'node_modules/@redocly/cli/bin/cli.js');
  const env = { ...process.env, REDOCLY_TELEMETRY: 'off', REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true' };
  return new Promise((resolve) => {
    execFile(process.execPath, [program, 'diff', FILE, changed], { cwd: ROOT, env }, (error, stdout) => {
      rmSync(folder, { recursive: true });
      const rules = [...stdout.matchAll(/✖ major[^(]*\(([\w-]+)\)/g)].map(([, rule = '']) => rule);
      resolve({ passes: error === null, rules });
    });
  });
}

const schemaOf = ({ components }: Description, name: string): Schema => components.schemas[name] as Schema;
const fieldOf = (description: Description, name: string, field: string): Schema =>
  schemaOf(description, name).properties[field] as Schema;
const operationAt = ({ paths }: Description, path: string, method: string) => {
  const operation = paths[path]?.[method];
  if (!operation) throw new Error(`${method} ${path} is not described`);
  return operation;
};

/** Changes that break clients, each by the rule that finds it. */
const BREAKING: Record<string, (description: Description) => void> = {
  'operation-removed': ({ paths }) => delete paths['/tagGroups']?.get,
  'response-removed': (description) => delete operationAt(description, '/events/{eventId}', 'get').responses['404'],
  'property-removed': (description) => delete schemaOf(description, 'LeadV0Response').properties.jobTitle,
  'required-properties-removed': (description) => schemaOf(description, 'EventLeadV0Response').required.pop(),
  'required-properties-added': (description) =>
    schemaOf(description, 'EventCreateV0Input').required.push('registrationEnabled'),
  'enum-values-removed': (description) => schemaOf(description, 'EventType').enum.pop(),
  'schema-type-changed': (description) =>
    (fieldOf(description, 'IndustryEventUpdateV0Input', 'numberOfAttendees').type = 'integer'),
  'schema-constraint-changed': (description) => (fieldOf(description, 'LeadCreateV0Input', 'lastName').maxLength = 100),
  'parameter-removed': (description) => operationAt(description, '/leads', 'get').parameters.shift(),
};

/** That it lets pass what only adds to the API is seen by `npm run description`, which compares with the last release. */
describe('the comparison with the last release', () => {
  it('finds each change that breaks clients', async () => {
    const { passes, rules } = await comparisonWith((description) => {
      for (const change of Object.values(BREAKING)) change(description);
    });
    expect([...new Set(rules)].sort()).toEqual(Object.keys(BREAKING).sort());
    expect(passes).toBe(false);
  });
});
