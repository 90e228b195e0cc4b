import type { ExecuteContext, HookContext, HttpRequest, Item, Json, WebhookContext } from '../../clients/n8n/src/n8n';
import type { Lanyard, Tenant } from './lanyard';

/** A stand-in for what n8n gives its nodes: the helpers that ours use, with a real Lanyard behind them. */
export class StandIn {
  /** What n8n stores with the workflow. */
  readonly staticData: Json = {};
  /** Requests as they were sent, the newest last. */
  readonly sent: HttpRequest[] = [];
  webhookUrl = '';

  constructor(
    private readonly lanyard: Pick<Lanyard, 'baseUrl'>,
    public key: Tenant['key'],
  ) {}

  private async http(options: HttpRequest) {
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
      helpers: { httpRequestWithAuthentication: (_: string, options: HttpRequest) => this.http(options) },
    };
  }

  /** @param parameters those of all items, or of each */
  forItems(items: Json[], parameters: Json | ((json: Json) => Json), continues = false): ExecuteContext {
    const of = (index: number): Json =>
      typeof parameters === 'function' ? parameters(items[index] ?? {}) : parameters;
    const inputs = items.map((json): Item => ({ json }));
    return {
      ...this.context,
      getInputData: () => inputs,
      getNodeParameter: (name, index, fallback) => of(index)[name] ?? fallback,
      continueOnFail: () => continues,
    } as ExecuteContext;
  }

  forHooks(parameters: Json): HookContext {
    return {
      ...this.context,
      getNodeParameter: (name: string, fallback?: unknown) => parameters[name] ?? fallback,
      getNodeWebhookUrl: () => this.webhookUrl,
      getWorkflowStaticData: () => this.staticData,
    } as HookContext;
  }

  /** @param respond receives the status that the node answers with by itself */
  forWebhook(
    parameters: Json,
    headers: WebhookContext['getHeaderData'] extends () => infer H ? H : never,
    rawBody: Buffer,
    respond: (status: number) => void,
  ): WebhookContext {
    return {
      ...this.forHooks(parameters),
      getHeaderData: () => headers,
      getRequestObject: () => ({ rawBody }),
      getResponseObject: () => ({ status: (code: number) => ({ end: () => respond(code) }) }),
    } as WebhookContext;
  }
}
