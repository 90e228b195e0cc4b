import { type Call, call, entries } from './api';
import { PROPERTIES } from './fields';
import type {
  IDataObject,
  IExecuteFunctions,
  INodeExecutionData,
  INodeType,
  INodeTypeDescription,
} from './n8n-workflow';

const MAX_BATCH = 200;
const MAX_EVENT_LEADS = 1000;

/** An input item, and what its fields say. */
interface Input {
  index: number;
  options: Call;
}

/** What an operation does for one item. The results become items that are paired with it. */
type Operation = (context: IExecuteFunctions, item: Input) => Promise<IDataObject[]>;
/** What an operation does for several items at once. Its results are in the order of the items. */
type BatchOperation = (context: IExecuteFunctions, items: Input[]) => Promise<IDataObject[]>;

const field = <T>(context: IExecuteFunctions, name: string, { index }: Input): T =>
  context.getNodeParameter(name, index, undefined) as T;

/** The field with the values of a record, which a person may have written as JSON text. */
function fieldsOf(context: IExecuteFunctions, item: Input): IDataObject {
  const value = field<IDataObject | string>(context, 'fields', item);
  return typeof value === 'string' ? (JSON.parse(value) as IDataObject) : value;
}

const lead = (id: string): string => `/leads/${encodeURIComponent(id)}`;
const leadOf = (context: IExecuteFunctions, item: Input): string => lead(field(context, 'leadId', item));

const OPERATIONS: Record<string, Operation> = {
  'lead.get': async (context, item) => [await call(context, 'GET', leadOf(context, item), item.options)],
  'lead.find': (context, item) => {
    const [email, remoteId] = [field<string>(context, 'email', item), field<string>(context, 'remoteId', item)];
    if (!email && !remoteId) throw new Error('Give an e-mail address or a CRM ID to find leads by');
    const integrationType = remoteId ? field<string>(context, 'integrationType', item) : undefined;
    const qs = { email: email || undefined, remoteId: remoteId || undefined, integrationType };
    return entries(context, '/leads', 'leads', field(context, 'limit', item), { ...item.options, qs });
  },
  'lead.getMany': (context, item) => entries(context, '/leads', 'leads', field(context, 'limit', item), item.options),
  'lead.update': async (context, item) => [
    await call(context, 'PATCH', leadOf(context, item), { ...item.options, body: fieldsOf(context, item) }),
  ],
  'lead.setRemoteId': async (context, item) => {
    const id = field<string>(context, 'remoteId', item);
    // An expression that finds nothing is empty. It must not clear the ID that is stored.
    if (!id) throw new Error('The CRM ID is empty. To clear the ID of a lead, update its field remoteId');
    const remoteId = { id: String(id), integrationType: field<string>(context, 'integrationType', item) };
    return [await call(context, 'PATCH', leadOf(context, item), { ...item.options, body: { remoteId } })];
  },
  'lead.delete': async (context, item) => {
    await call(context, 'DELETE', leadOf(context, item), item.options);
    return [{ deleted: true, id: field<string>(context, 'leadId', item) }];
  },
  'event.getMany': (context, item) =>
    entries(context, '/events', 'events', field(context, 'limit', item), item.options),
  'changes.get': async (context, item) => {
    const cursor = field<string>(context, 'cursor', item) || undefined;
    const qs = { cursor, resources: field<string>(context, 'resources', item) || undefined };
    return [await call(context, 'GET', '/changes', { ...item.options, qs })];
  },
};

/** The batches in which items are sent: of one match or event each, and as large as a request may be. */
const BATCHES: Record<string, { key: string; size: number; run: BatchOperation }> = {
  'lead.upsert': {
    key: 'matchBy',
    size: MAX_BATCH,
    run: async (context, items) => {
      const body = {
        matchBy: field<string>(context, 'matchBy', items[0]!),
        leads: items.map((item) => fieldsOf(context, item)),
      };
      const options = { ...items[0]!.options, body };
      const { leads } = await call<{ leads: IDataObject[] }>(context, 'POST', '/leads/batch', options);
      return leads.map(({ outcome, lead }) => ({ outcome, ...(lead as IDataObject) }));
    },
  },
  'event.checkIn': {
    key: 'eventId',
    size: MAX_EVENT_LEADS,
    run: async (context, items) => {
      const eventId = field<number>(context, 'eventId', items[0]!);
      const eventLeads = items.map((item) => ({
        leadId: field<string>(context, 'leadId', item),
        registered: field<boolean>(context, 'registered', item),
        checkedIn: field<boolean>(context, 'checkedIn', item),
      }));
      await call(context, 'PUT', `/events/${eventId}/leads`, { ...items[0]!.options, body: { eventLeads } });
      return eventLeads.map((entry) => ({ eventId, ...entry }));
    },
  },
};

/** Reads and writes leads, events and changes. */
export class Lanyard implements INodeType {
  description: INodeTypeDescription = {
    displayName: 'Lanyard',
    name: 'lanyard',
    icon: 'file:lanyard.svg',
    group: ['transform'],
    version: 1,
    subtitle: '={{$parameter["operation"] + ": " + $parameter["resource"]}}',
    description: 'Creates, finds and updates leads, and checks them in at events',
    defaults: { name: 'Lanyard' },
    usableAsTool: true,
    inputs: ['main'],
    outputs: ['main'],
    credentials: [{ name: 'lanyardApi', required: true }],
    properties: PROPERTIES,
  };

  /** An item that fails ends the workflow, unless it is set to continue: then the error is in the item's place. */
  async execute(this: IExecuteFunctions): Promise<INodeExecutionData[][]> {
    const name = ['resource', 'operation'].map((part) => this.getNodeParameter(part, 0) as string).join('.');
    const items = this.getInputData().map((_, index): Input => {
      const given = this.getNodeParameter('options', index, {}) as { maxWait?: number; idempotencyKey?: string };
      return { index, options: { maxWait: given.maxWait ?? 120, idempotencyKey: given.idempotencyKey || undefined } };
    });
    const batch = BATCHES[name];
    return [batch ? await runBatches(this, items, batch) : await runEach(this, items, OPERATIONS[name]!)];
  }
}

async function runEach(
  context: IExecuteFunctions,
  items: Input[],
  operation: Operation,
): Promise<INodeExecutionData[]> {
  const results: INodeExecutionData[] = [];
  for (const item of items) {
    const found = await orErrors(context, [item], () => operation(context, item));
    results.push(...found.map((json) => ({ json, pairedItem: { item: item.index } })));
  }
  return results;
}

async function runBatches(
  context: IExecuteFunctions,
  items: Input[],
  { key, size, run }: (typeof BATCHES)[string],
): Promise<INodeExecutionData[]> {
  const groups = new Map<string, Input[]>();
  for (const item of items) {
    // An item with an Idempotency-Key of its own is a request of its own.
    const group = item.options.idempotencyKey ?? String(context.getNodeParameter(key, item.index));
    groups.set(group, [...(groups.get(group) ?? []), item]);
  }
  const results: INodeExecutionData[] = [];
  for (const group of groups.values()) {
    for (let start = 0; start < group.length; start += size) {
      const part = group.slice(start, start + size);
      const found = await orErrors(context, part, (each) => run(context, each));
      results.push(...found.map((json, n) => ({ json, pairedItem: { item: part[n]!.index } })));
    }
  }
  return results.sort((a, b) => a.pairedItem!.item - b.pairedItem!.item);
}

/**
 * The results or, where the workflow is to continue, the error in the place of an item. A batch is stored as a whole or not at
 * all, so its items are then sent one by one, and those that are right are stored.
 */
async function orErrors(
  context: IExecuteFunctions,
  items: Input[],
  work: (part: Input[]) => Promise<IDataObject[]>,
): Promise<IDataObject[]> {
  try {
    return await work(items);
  } catch (error) {
    if (!context.continueOnFail()) throw error;
    if (items.length === 1) return [{ error: (error as Error).message }];
    const results: IDataObject[] = [];
    for (const item of items) results.push(...(await orErrors(context, [item], work)));
    return results;
  }
}
