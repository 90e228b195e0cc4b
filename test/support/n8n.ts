import type {
  IExecuteFunctions,
  IHookFunctions,
  IHttpRequestOptions,
  INodeExecutionData,
  IDataObject,
  IWebhookFunctions,
} from '../../clients/n8n/nodes/Lanyard/n8n-workflow';
import type { Lanyard, Tenant } from './lanyard';

/** A stand-in for what n8n gives its nodes: the helpers that ours use, with a real Lanyard behind them. */
export class StandIn {
  /** What n8n stores with the workflow. */
  readonly staticData: IDataObject = {};
  /** Requests as they were sent, the newest last. */
  readonly sent: IHttpRequestOptions[] = [];
  webhookUrl = '';

  constructor(
    private readonly lanyard: Pick<Lanyard, 'baseUrl'>,
    public key: Tenant['key'],
  ) {}

  private async http(options: IHttpRequestOptions) {
    this.sent.push(options);
    const url = new URL(options.url);
    for (const [name, value] of Object.entries(options.qs ?? {}))
      if (value !== undefined) url.searchParams.set(name, String(value));
    const response = await fetch(url, {
      method: options.method,
      headers: { ...options.headers, 'x-api-key': this.key, 'content-type': 'application/json' },
      body: options.body === undefined ? undefined : JSON.stringify(options.body),
    });
    return {
      statusCode: response.status,
      headers: Object.fromEntries(response.headers),
      body: await response.json(),
    };
  }

  private get context() {
    return {
      getCredentials: () => Promise.resolve({ baseUrl: this.lanyard.baseUrl, apiKey: this.key }),
      getNode: () => ({ name: 'Lanyard' }),
      helpers: { httpRequestWithAuthentication: (_: string, options: IHttpRequestOptions) => this.http(options) },
    };
  }

  /** @param parameters those of all items, or of each */
  forItems(
    items: IDataObject[],
    parameters: IDataObject | ((json: IDataObject) => IDataObject),
    continues = false,
  ): IExecuteFunctions {
    const of = (index: number): IDataObject =>
      typeof parameters === 'function' ? parameters(items[index] ?? {}) : parameters;
    const inputs = items.map((json): INodeExecutionData => ({ json }));
    return {
      ...this.context,
      getInputData: () => inputs,
      getNodeParameter: (name, index, fallback) => of(index)[name] ?? fallback,
      continueOnFail: () => continues,
    } as IExecuteFunctions;
  }

  forHooks(parameters: IDataObject): IHookFunctions {
    return {
      ...this.context,
      getNodeParameter: (name: string, fallback?: unknown) => parameters[name] ?? fallback,
      getNodeWebhookUrl: () => this.webhookUrl,
      getWorkflowStaticData: () => this.staticData,
    } as IHookFunctions;
  }

  /** @param respond receives the status that the node answers with by itself */
  forWebhook(
    parameters: IDataObject,
    headers: IWebhookFunctions['getHeaderData'] extends () => infer H ? H : never,
    rawBody: Buffer,
    respond: (status: number) => void,
  ): IWebhookFunctions {
    return {
      ...this.forHooks(parameters),
      getHeaderData: () => headers,
      getRequestObject: () => ({ rawBody }),
      getResponseObject: () => ({ status: (code: number) => ({ end: () => respond(code) }) }),
    } as IWebhookFunctions;
  }
}
