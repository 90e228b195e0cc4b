import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Lanyard } from '../../clients/n8n/nodes/Lanyard/Lanyard.node';
import { LanyardTrigger } from '../../clients/n8n/nodes/Lanyard/LanyardTrigger.node';
import type { INodeProperties } from '../../clients/n8n/nodes/Lanyard/n8n-workflow';

const FOLDER = join(__dirname, '../../clients/n8n/templates');

interface Workflow {
  nodes: { name: string; type: string; parameters: Record<string, unknown>; credentials?: object }[];
  connections: Record<string, { main: { node: string }[][] }>;
}

const OURS: Record<string, INodeProperties[]> = {
  'n8n-nodes-lanyard.lanyard': new Lanyard().description.properties,
  'n8n-nodes-lanyard.lanyardTrigger': new LanyardTrigger().description.properties,
};

const files = readdirSync(FOLDER).filter((name) => name.endsWith('.json'));

/** Every text of a value. */
const textsIn = (value: unknown): string[] => {
  if (typeof value === 'string') return [value];
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(textsIn) : [];
};

/** The fields of a node that its form shows for its resource and operation. */
const shown = (properties: INodeProperties[], values: Record<string, unknown>): string[] =>
  properties
    .filter(({ displayOptions }) =>
      Object.entries(displayOptions?.show ?? {}).every(([name, allowed]) =>
        (allowed as unknown[]).includes(values[name]),
      ),
    )
    .map(({ name }) => name);

it('there are four templates', () => expect(files).toHaveLength(4));

describe.each(files)('the template %s', (file) => {
  const { nodes, connections } = JSON.parse(readFileSync(join(FOLDER, file), 'utf8')) as Workflow;

  it('connects nodes that it has', () => {
    const names = nodes.map(({ name }) => name);
    const targets = Object.values(connections).flatMap(({ main }) => main.flat().map(({ node }) => node));
    for (const name of [...Object.keys(connections), ...targets]) expect(names).toContain(name);
    expect(new Set(targets).size).toBe(nodes.length - 1);
  });

  it('sets fields that the nodes show', () => {
    const own = nodes.filter(({ type }) => type in OURS);
    expect(own.length).toBeGreaterThan(0);
    for (const { type, parameters, credentials } of own) {
      expect(credentials).toHaveProperty('lanyardApi');
      const known = shown(OURS[type]!, parameters);
      expect(Object.keys(parameters).filter((name) => !known.includes(name))).toEqual([]);
    }
  });

  it('has expressions that do not end too soon: n8n ends them at the first }}', () => {
    for (const text of nodes.flatMap(({ parameters }) => textsIn(parameters))) {
      for (const [, expression = ''] of text.matchAll(/\{\{([^]*?)\}\}/g)) {
        expect(() => new Function(`return (${expression.replaceAll(/\$(\w*)/g, 'own$1')});`)).not.toThrow();
      }
    }
  });
});
