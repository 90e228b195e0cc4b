// Writes the collection from openapi.json: npm run openapi. With --check it only says whether the collection
// is as openapi.json has it.
import { readFileSync, writeFileSync } from 'node:fs';
import { operationsOf, resolveIn } from './operations.mjs';
import { BEFORE, tests } from './tests.mjs';

const file = new URL('lanyard.postman_collection.json', import.meta.url);
const description = JSON.parse(readFileSync(new URL('../../openapi.json', import.meta.url), 'utf8'));

const resolve = (node) => resolveIn(description, node);
const operations = operationsOf(description);

/** The list that a path ends with: of `/leads`, and of `/events/{eventId}/leads`, it is `leads`. */
const listOf = (path) => path.split('/').pop();

/** The parameter that names one record of a list: of `leads` it is `leadId`. */
const idOf = (list) =>
  operations.map(({ path }) => /^\/(\w+)\/\{(\w+)\}$/.exec(path)).find((m) => m?.[1] === list)?.[2];

/** The variable that an operation fills for others, and where in the answer its value is. */
function filledBy({ path, method, answer }) {
  const id = idOf(listOf(path));
  const canBeMade = operations.some((each) => listOf(each.path) === listOf(path) && each.method === 'post');
  if (!id || method !== (canBeMade ? 'post' : 'get')) return undefined;
  const { properties } = resolve(resolve(answer).properties.results);
  if (properties.id) return { id, from: 'results?.id' };
  const [name, { type }] = Object.entries(properties).find(([, of]) => resolve(of.items ?? of).properties?.id);
  return { id, from: `results?.${name}${type === 'array' ? '[0]' : ''}?.id` };
}

const variables = [...new Set(operations.map((each) => filledBy(each)?.id).filter(Boolean))];

const needs = ({ path, body = {} }) =>
  variables.filter((id) => path.includes(`{${id}}`) || JSON.stringify(body).includes(`"${id}":`));

/**
 * Folders by tag, each behind those that fill what it needs. In each, what makes comes first, and reading after changing;
 * what deletes is the last folder, the innermost first.
 */
function folders() {
  const rank = (each) => (filledBy(each) ? 0 : each.method === 'get' ? 2 : 1);
  const made = operations.filter(({ method }) => method !== 'delete');
  const byTag = new Map(description.tags.map(({ name }) => [name, made.filter(({ tags }) => tags[0] === name)]));
  const ordered = [];
  while (byTag.size > 0) {
    const filled = (tags) => tags.flatMap((tag) => tag[1].map((each) => filledBy(each)?.id));
    const next = [...byTag].find((tag) => {
      const known = filled([...ordered, tag]);
      return tag[1].every((each) => needs(each).every((id) => known.includes(id)));
    });
    if (!next) throw new Error(`Nothing fills what is needed by ${[...byTag.keys()].join(', ')}`);
    byTag.delete(next[0]);
    ordered.push([next[0], next[1].sort((a, b) => rank(a) - rank(b))]);
  }
  const deleted = operations.filter(({ method }) => method === 'delete');
  const depth = ({ path }) => path.split('/').length;
  return [...ordered, ['Delete', deleted.sort((a, b) => depth(b) - depth(a))]];
}

function request(operation) {
  const { path, method, parameters, summary, body } = operation;
  const segments = path.slice(1).split('/');
  const given = (where) => parameters.filter((parameter) => parameter.in === where);
  const query = given('query').map(({ name, schema, description: text }) => {
    const value = variables.includes(name) ? `{{${name}}}` : String(schema.default ?? '');
    return { key: name, value, description: text, disabled: true };
  });
  const isOnce = given('header').some(({ name }) => name === 'Idempotency-Key');
  const filled = filledBy(operation);
  const script = filled && [
    `const { results } = pm.response.json();`,
    `const id = ${filled.from};`,
    `if (id) pm.collectionVariables.set('${filled.id}', id);`,
  ];
  return {
    name: summary,
    request: {
      method: method.toUpperCase(),
      description: operation.description,
      header: [
        ...(body ? [{ key: 'Content-Type', value: 'application/json' }] : []),
        ...(isOnce ? [{ key: 'Idempotency-Key', value: '{{$guid}}' }] : []),
      ],
      url: {
        raw: `{{baseUrl}}${path.replace(/\{(\w+)\}/g, ':$1')}`,
        host: ['{{baseUrl}}'],
        path: segments.map((segment) => segment.replace(/^\{(\w+)\}$/, ':$1')),
        ...(query.length > 0 && { query }),
        ...(given('path').length > 0 && {
          variable: given('path').map(({ name, description: text }) => ({
            key: name,
            value: `{{${name}}}`,
            description: text,
          })),
        }),
      },
      ...(body && { body: { mode: 'raw', raw: withVariables(body), options: { raw: { language: 'json' } } } }),
    },
    ...(script && { event: [{ listen: 'test', script: { type: 'text/javascript', exec: script } }] }),
  };
}

/** The ids in an example are those of other records. */
function withVariables(body) {
  const named = (key, value) => (variables.includes(key) ? `{{${key}}}${typeof value === 'number' ? 'n' : ''}` : value);
  return JSON.stringify(body, named, 2).replaceAll(/"(\{\{\w+\}\})n"/g, '$1');
}

const collection = {
  info: {
    name: 'Lanyard',
    description:
      'Every operation of the Lanyard API. Set the variables `baseUrl` and `apiKey`; run as a whole, it makes records, ' +
      'changes and reads them, and deletes them again (industry events cannot be deleted).',
    schema: 'https://schema.getpostman.com/json/collection/v2.1.0/collection.json',
  },
  auth: {
    type: 'apikey',
    apikey: [
      { key: 'key', value: 'x-api-key' },
      { key: 'value', value: '{{apiKey}}' },
      { key: 'in', value: 'header' },
    ],
  },
  variable: [
    { key: 'baseUrl', value: 'http://localhost:3000/api/v0' },
    { key: 'apiKey', value: '' },
    ...variables.map((key) => ({ key, value: '' })),
  ],
  event: [
    { listen: 'prerequest', script: { type: 'text/javascript', exec: BEFORE } },
    { listen: 'test', script: { type: 'text/javascript', exec: tests(description, operations) } },
  ],
  item: folders().map(([name, found]) => ({ name, item: found.map(request) })),
};

const text = `${JSON.stringify(collection, null, 2)}\n`;
if (!process.argv.includes('--check')) writeFileSync(file, text);
else if (readFileSync(file, 'utf8') !== text) {
  console.error('The collection is not as openapi.json has it: npm run openapi');
  process.exitCode = 1;
}
