import { DEMO_RECORDS } from '../../src/operator/demo/demo';
import { description, schemaErrors, withoutPlainModules } from '../support/description';
import { ENDPOINTS, send } from '../support/endpoints';
import { startInProcess } from '../support/lanyard';

/** A part of openapi.json, and where it stands. */
interface Part {
  place: string;
  node: Record<string, unknown>;
}

function partsOf(node: unknown, place = '#'): Part[] {
  if (typeof node !== 'object' || node === null) return [];
  const inner = Object.entries(node).flatMap(([key, value]) =>
    partsOf(value, `${place}/${key.replaceAll('~', '~0').replaceAll('/', '~1')}`),
  );
  return [{ place, node: node as Record<string, unknown> }, ...inner];
}

const parts = partsOf(withoutPlainModules());

/** Each example with the place of the schema that it must keep to. */
function examplesOf({ place, node }: Part): { place: string; example: unknown }[] {
  const { schema, example, examples } = node;
  if (Array.isArray(examples)) return examples.map((each: unknown) => ({ place, example: each }));
  if (!schema) return [];
  const named = Object.values((examples ?? {}) as Record<string, { value: unknown }>).map(({ value }) => value);
  const all = example === undefined ? named : [example, ...named];
  return all.map((each) => ({ place: `${place}/schema`, example: each }));
}

/** The examples of the parameters in paths, by name. */
const ids = Object.fromEntries(
  parts
    .filter(({ node }) => node.in === 'path')
    .map(({ node }) => [node.name as string, String((node.schema as { examples: unknown[] }).examples[0])]),
);

describe('the descriptions of openapi.json', () => {
  it('stand at every schema, field, parameter and header', () => {
    const { schemas, parameters, headers } = (withoutPlainModules() as typeof description).components;
    const fields = parts.filter(({ place }) => /\/properties\/\w+$/.test(place));
    expect(fields.length).toBeGreaterThan(200);
    const components = [schemas, parameters, headers].flatMap((all) => Object.entries(all));
    const named = [...components.map(([place, node]) => ({ place, node })), ...fields];
    expect(named.filter(({ node }) => !node.description && !node.$ref).map(({ place }) => place)).toEqual([]);
  });
});

describe('the examples of openapi.json', () => {
  it('stand at every body and every answer', () => {
    const contents = parts.filter(({ place }) => place.endsWith('/content/application~1json'));
    expect(contents.length).toBeGreaterThan(70);
    expect(contents.filter((part) => examplesOf(part).length === 0)).toEqual([]);
  });

  it('keep to their schemas', () => {
    const examples = parts.flatMap(examplesOf);
    expect(examples.length).toBeGreaterThan(250);
    const faults = examples.flatMap(({ place, example }) =>
      schemaErrors(place, example).map((fault) => `${place}: ${fault}`),
    );
    expect(faults).toEqual([]);
  });

  it('tell of records that a first start has', async () => {
    const { api, import: load } = await (await startInProcess()).tenant();
    await load(DEMO_RECORDS);
    // A parameter for which no context has an example shows the id of a lead.
    const hasOwnExample = (name: string): boolean =>
      Boolean(ids[name]) && (name === 'leadId' || ids[name] !== ids.leadId);
    const reads = ENDPOINTS.filter(
      ({ method, slots }) => method === 'get' && slots.every(({ name }) => hasOwnExample(name)),
    );
    expect(reads.length).toBeGreaterThan(14);
    for (const endpoint of reads) await send(api, endpoint, ids).expect(200);
  });
});
