import type { INodeExecutionData, IDataObject } from '../../clients/n8n/nodes/Lanyard/n8n-workflow';

interface Node {
  name: string;
  type: string;
  parameters: IDataObject;
  executeOnce?: boolean;
}

export interface Workflow {
  nodes: Node[];
  connections: Record<string, { main: { node: string }[][] }>;
}

type Items = INodeExecutionData[];
/** The values of a node's fields for an item, with expressions evaluated. */
type Fields = (item: INodeExecutionData) => IDataObject;
/** What a node gives at each of its outputs. */
export type RunNode = (items: Items, fields: Fields, node: Node) => Promise<Items[]>;

interface Condition {
  leftValue: unknown;
  rightValue: unknown;
}

/** The nodes of n8n that the templates for CRMs use, in the parts that they use. */
const STOCK_NODES: Record<string, RunNode> = {
  'n8n-nodes-base.if': (items, fields) => {
    const isTrue = (item: INodeExecutionData): boolean =>
      (fields(item).conditions as { conditions: Condition[] }).conditions.every(
        (each) => each.leftValue === each.rightValue,
      );
    return Promise.resolve([items.filter(isTrue), items.filter((item) => !isTrue(item))]);
  },
  'n8n-nodes-base.splitOut': (items, fields) =>
    Promise.resolve([
      items.flatMap((item) =>
        (item.json[String(fields(item).fieldToSplitOut)] as IDataObject[]).map((json) => ({ json })),
      ),
    ]),
};

/** Runs a workflow from its trigger to its end, depth first, as n8n does. */
export class Flow {
  /** What each node has given at the output to which the next node is connected. */
  private readonly given = new Map<string, Items>();
  private readonly runs: Record<string, RunNode>;

  constructor(
    private readonly workflow: Workflow,
    others: Record<string, RunNode>,
  ) {
    this.runs = { ...STOCK_NODES, ...others };
  }

  /** @throws what a node throws; then n8n responds with 500 */
  async run(trigger: string, items: Items): Promise<void> {
    await this.passOn(trigger, [items]);
  }

  private async passOn(name: string, outputs: Items[]): Promise<void> {
    for (const [index, next] of (this.workflow.connections[name]?.main ?? []).entries()) {
      const items = outputs[index] ?? [];
      for (const { node } of items.length > 0 ? next : []) {
        this.given.set(name, items);
        await this.runNode(
          this.workflow.nodes.find((each) => each.name === node)!,
          items,
        );
      }
    }
  }

  private async runNode(node: Node, items: Items): Promise<void> {
    const run = this.runs[node.type];
    if (!run) throw new Error(`The stand-in for n8n has no ${node.type}`);
    const fields: Fields = ({ json }) => this.evaluate(node.parameters, json) as IDataObject;
    await this.passOn(node.name, await run(node.executeOnce ? items.slice(0, 1) : items, fields, node));
  }

  private evaluate(value: unknown, json: IDataObject): unknown {
    if (typeof value === 'string') return this.evaluateText(value, json);
    if (Array.isArray(value)) return value.map((each) => this.evaluate(each, json));
    if (typeof value !== 'object' || value === null) return value;
    return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, this.evaluate(each, json)]));
  }

  /** A text that begins with `=` has expressions, each of which ends at the first `}}`. */
  private evaluateText(text: string, json: IDataObject): unknown {
    if (!text.startsWith('=')) return text;
    const results: unknown[] = [];
    const filled = text.slice(1).replace(/\{\{([^]*?)\}\}/g, (_, expression: string) => {
      const evaluateIt = new Function('$json', '$', `return (${expression});`) as (...args: unknown[]) => unknown;
      results.push(evaluateIt(json, (name: string) => ({ all: () => this.given.get(name) })));
      return String(results.at(-1));
    });
    return results.length === 1 && /^=\{\{[^]*\}\}$/.test(text) ? results[0] : filled;
  }
}
