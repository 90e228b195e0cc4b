import { call } from './api';
import type {
  IDataObject,
  IHookFunctions,
  INodeExecutionData,
  INodeType,
  INodeTypeDescription,
  IWebhookFunctions,
  IWebhookResponseData,
} from './n8n-workflow';
import { isSigned } from './signature';

/** What is stored of the webhook with the workflow. */
interface Stored {
  webhookId?: string;
  secret?: string;
  url?: string;
}

interface Message {
  type: 'changes' | 'ping';
  phase: 'snapshot' | 'changes';
  changes: IDataObject[];
  hasMore: boolean;
  timestamp: string;
}

const MAX_WAIT_S = 30;
const RESOURCES = ['leads', 'eventLeads', 'leadActivityEvents', 'events', 'activations', 'tagGroups'];
const nameOf = (resource: string): string =>
  resource.replace(/[A-Z]/g, (letter) => ` ${letter}`).replace(/^./, (letter) => letter.toUpperCase());

/**
 * Starts a workflow with the changes of an organization. It registers a webhook when the workflow is switched on, and removes
 * it when it is switched off. The answer is given when the workflow has ended, so that Lanyard sends a page again whose
 * workflow failed or was killed.
 */
export class LanyardTrigger implements INodeType {
  description: INodeTypeDescription = {
    displayName: 'Lanyard Trigger',
    name: 'lanyardTrigger',
    icon: 'file:lanyard.svg',
    group: ['trigger'],
    version: 1,
    subtitle: '={{$parameter["resources"].join(", ")}}',
    description: 'Starts the workflow when leads and other records change',
    defaults: { name: 'Lanyard Trigger' },
    inputs: [],
    outputs: ['main'],
    credentials: [{ name: 'lanyardApi', required: true }],
    webhooks: [
      {
        name: 'default',
        httpMethod: 'POST',
        path: 'webhook',
        rawBody: true,
        responseMode: 'lastNode',
        responseData: 'noData',
      },
    ],
    properties: [
      {
        displayName: 'Records',
        name: 'resources',
        type: 'multiOptions',
        options: RESOURCES.map((value) => ({ name: nameOf(value), value })),
        default: ['leads'],
        required: true,
        description: 'Whose changes start the workflow',
      },
      {
        displayName: 'Send What Is There Already',
        name: 'snapshot',
        type: 'boolean',
        default: false,
        description: 'Whether the workflow also runs with all records that exist when it is switched on',
      },
      {
        displayName: 'Mark the End of the Snapshot',
        name: 'marksEnd',
        type: 'boolean',
        default: false,
        displayOptions: { show: { snapshot: [true] } },
        description: 'Whether an item with the phase "snapshotEnd" follows the last record that existed',
      },
    ],
  };

  webhookMethods = {
    default: {
      /** Whether Lanyard still has the webhook, and it leads to this workflow. */
      async checkExists(this: IHookFunctions): Promise<boolean> {
        const stored = this.getWorkflowStaticData('node') as Stored;
        if (!stored.webhookId || !stored.secret || stored.url !== this.getNodeWebhookUrl('default')) return false;
        const found = await call<{ id: string } | undefined>(this, 'GET', `/webhooks/${stored.webhookId}`, {
          maxWait: MAX_WAIT_S,
          mayBeMissing: true,
        });
        return found !== undefined;
      },

      async create(this: IHookFunctions): Promise<boolean> {
        const url = this.getNodeWebhookUrl('default');
        const since = this.getNodeParameter('snapshot', false) ? undefined : 'now';
        const body = { url, resources: this.getNodeParameter('resources'), since };
        const { id, secret } = await call<{ id: string; secret: string }>(this, 'POST', '/webhooks', {
          body,
          maxWait: MAX_WAIT_S,
        });
        Object.assign(this.getWorkflowStaticData('node'), { webhookId: id, secret, url } satisfies Stored);
        return true;
      },

      async delete(this: IHookFunctions): Promise<boolean> {
        const stored = this.getWorkflowStaticData('node') as Stored;
        if (stored.webhookId) {
          await call(this, 'DELETE', `/webhooks/${stored.webhookId}`, { maxWait: MAX_WAIT_S, mayBeMissing: true });
        }
        for (const key of ['webhookId', 'secret', 'url'] as const) delete stored[key];
        return true;
      },
    },
  };

  /** Gives one item for each change. A message that Lanyard has not signed is 401, and starts nothing. */
  async webhook(this: IWebhookFunctions): Promise<IWebhookResponseData> {
    const { rawBody } = this.getRequestObject();
    const { secret } = this.getWorkflowStaticData('node') as Stored;
    const answer = (status: number): { noWebhookResponse: true } => {
      this.getResponseObject().status(status).end();
      return { noWebhookResponse: true };
    };
    if (!secret || !isSigned(this.getHeaderData(), rawBody, [secret])) return answer(401);
    const message = JSON.parse(rawBody.toString()) as Message;
    if (message.type === 'ping') return answer(204);
    const items = message.changes.map((change): INodeExecutionData => ({ json: { ...change, phase: message.phase } }));
    const isEnd = message.phase === 'changes' && message.changes.length === 0;
    if (isEnd && this.getNodeParameter('marksEnd', false)) items.push({ json: { phase: 'snapshotEnd' } });
    if (items.length === 0) return answer(204);
    return { workflowData: [items] };
  }
}
