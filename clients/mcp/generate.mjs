// Writes src/api-schemas.json: what the tools take from openapi.json, so that they reject what the API would reject.
// With --check, it only compares, and ends with status 1 if the file is out of date.
import { readFileSync, writeFileSync } from 'node:fs';

const at = (path) => new URL(path, import.meta.url);
const { paths, components } = JSON.parse(readFileSync(at('../../openapi.json'), 'utf8'));

const BODIES = ['LeadCreateV0Input', 'LeadPatchV0Input', 'LeadBatchV0Input', 'EventAddLeadsV0Input', 'RemoteId'];
const PATH_IDS = ['leadId', 'eventId', 'industryEventId'];
const QUERIES = [
  ['/leads', 'email'],
  ['/leads', 'hasEmail'],
  ['/industryEvents', 'q'],
  ['/industryEvents', 'eventUrl'],
  ['/changes', 'cursor'],
];
const ENUMS = [
  'EventType',
  'ActivationType',
  'PhoneNumberTypeEnum',
  'IntegrationType',
  'LeadActivityEventType',
  'TagGroupStatus',
];

/** Keywords that a tool needs. Descriptions are written for tools, and examples would only fill the list of tools. */
const KEYWORDS = [
  'type',
  'enum',
  'format',
  'pattern',
  'minLength',
  'maxLength',
  'minimum',
  'maximum',
  'minItems',
  'maxItems',
  'required',
];

/** Formats of numbers, which say nothing beside their bounds. */
const isNumberFormat = (value) => ['int32', 'int64'].includes(value);

/** A schema without references, that accepts no other properties than its own. */
function selfContained({ $ref, ...schema }) {
  if ($ref) return selfContained(components.schemas[$ref.split('/').at(-1)]);
  const result = {};
  for (const keyword of KEYWORDS) {
    const value = schema[keyword];
    if (value !== undefined && !isNumberFormat(value)) result[keyword] = value;
  }
  if (schema.items) result.items = selfContained(schema.items);
  if (schema.properties) {
    result.properties = Object.fromEntries(
      Object.entries(schema.properties).map(([name, property]) => [name, selfContained(property)]),
    );
    result.additionalProperties = false;
  }
  return result;
}

const schemaOfQuery = (path, name) => paths[path].get.parameters.find((each) => each.name === name).schema;
const named = (names, schemaOf) => Object.fromEntries(names.map((name) => [name, schemaOf(name)]));

const text = `${JSON.stringify(
  {
    bodies: named(BODIES, (name) => selfContained(components.schemas[name])),
    ids: named(PATH_IDS, (name) => selfContained(components.parameters[name].schema)),
    queries: Object.fromEntries(QUERIES.map(([path, name]) => [name, selfContained(schemaOfQuery(path, name))])),
    enums: named(ENUMS, (name) => components.schemas[name].enum),
    changeResources: Object.keys(components.schemas)
      .filter((name) => name.endsWith('ChangeResource'))
      .flatMap((name) => components.schemas[name].enum),
  },
  null,
  2,
)}\n`;

const file = at('src/api-schemas.json');
if (!process.argv.includes('--check')) {
  writeFileSync(file, text);
} else if (readFileSync(file, 'utf8') !== text) {
  console.error('clients/mcp/src/api-schemas.json differs from openapi.json. Run: npm run openapi');
  process.exitCode = 1;
}
