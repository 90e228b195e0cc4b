/** What says nothing of validity, and formats that the validator of Postman does not know. */
const NOTES = ['title', 'description', 'example', 'examples', 'default'];
const isNote = ([key, value]) => NOTES.includes(key) || (key === 'format' && /^int/.test(value));

/** A schema that allows no keys but those that it names, without its notes; what it refers to is in `definitions`. */
function closed(schema) {
  if (Array.isArray(schema)) return schema.map(closed);
  if (schema?.$ref) return { $ref: schema.$ref.replace('#/components/schemas/', '#/definitions/') };
  if (typeof schema !== 'object' || schema === null) return schema;
  const { properties, ...others } = schema;
  const kept = Object.entries(others).filter((entry) => !isNote(entry));
  return {
    ...Object.fromEntries(kept.map(([key, value]) => [key, closed(value)])),
    ...(properties && {
      properties: Object.fromEntries(Object.entries(properties).map(([key, value]) => [key, closed(value)])),
      additionalProperties: false,
    }),
  };
}

/** The schemas that a schema needs, and those that they need. */
function referred(schema, all, found = new Set()) {
  for (const [, name] of JSON.stringify(schema).matchAll(/"#\/components\/schemas\/(\w+)"/g)) {
    if (found.has(name)) continue;
    found.add(name);
    referred(all[name], all, found);
  }
  return found;
}

/**
 * The script that is run after each request of the collection, as lines: its status, its envelope, its headers, and its
 * answer against the schema that openapi.json has for it.
 */
export function tests({ components }, operations) {
  const answers = Object.fromEntries(operations.map(({ summary, answer }) => [summary, closed(answer)]));
  if (Object.keys(answers).length !== operations.length) throw new Error('Two operations have the same summary');
  const names = [
    ...referred(
      operations.map(({ answer }) => answer),
      components.schemas,
    ),
  ];
  const schemas = Object.fromEntries(names.map((name) => [name, closed(components.schemas[name])]));
  return `
const definitions = ${JSON.stringify(schemas)};
const answers = ${JSON.stringify(answers)};
const body = pm.response.json();

pm.collectionVariables.set('tokens', pm.response.headers.get('X-RateLimit-Remaining'));
pm.test('answers 200, once more in the body', () => {
  pm.response.to.have.status(200);
  pm.expect(body.status).to.equal(200);
});
pm.test('has an envelope: results, and the pagination of what is paged', () => {
  const paged = 'total' in (body.results || {});
  pm.expect(Object.keys(body).sort()).to.eql(paged ? ['pagination', 'results', 'status'] : ['results', 'status']);
});
pm.test('is named, and tells how the bucket stands', () => {
  for (const name of ['X-Request-Id', 'X-RateLimit-Limit', 'X-RateLimit-Remaining', 'X-RateLimit-Reset']) {
    pm.expect(pm.response.headers.get(name), name).to.match(/./);
  }
});
pm.test('is as openapi.json describes it', () => {
  pm.response.to.have.jsonSchema({ allOf: [answers[pm.info.requestName]], definitions });
});`
    .trim()
    .split('\n');
}

/**
 * Before each request. A key has 20 tokens by default, and the collection more requests: then one a second is made. A
 * request on a record is skipped where the organization has no such record.
 */
export const BEFORE = [
  "if (pm.collectionVariables.get('tokens') === '0') setTimeout(() => {}, 1000);",
  "const ids = (pm.request.url.variables?.all() ?? []).map(({ value }) => String(value).replace(/[{}]/g, ''));",
  "if (ids.some((id) => pm.collectionVariables.get(id) === '')) pm.execution.skipRequest();",
];
