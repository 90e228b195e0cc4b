/**
 * What these nodes use of n8n, in the names and shapes of n8n's own package `n8n-workflow`. That package has 133 dependencies,
 * which building and testing these nodes does not need. n8n's linter recognizes nodes and credentials by these names.
 */

export type IDataObject = Record<string, unknown>;

export interface INodeExecutionData {
  json: IDataObject;
  /** The input item that this one was made of. */
  pairedItem?: { item: number };
}

export interface IHttpRequestOptions {
  method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  url: string;
  headers?: Record<string, string>;
  qs?: IDataObject;
  body?: unknown;
  json: true;
  returnFullResponse: true;
  ignoreHttpStatusErrors: true;
}

export interface IN8nHttpFullResponse {
  statusCode: number;
  headers: Record<string, string | undefined>;
  body: unknown;
}

/** What every function of a node has as `this`. */
export interface Context {
  getCredentials(name: string): Promise<IDataObject>;
  getNode(): { name: string };
  helpers: {
    httpRequestWithAuthentication(
      this: Context,
      credential: string,
      request: IHttpRequestOptions,
    ): Promise<IN8nHttpFullResponse>;
  };
}

export interface IExecuteFunctions extends Context {
  getInputData(): INodeExecutionData[];
  getNodeParameter(name: string, item: number, fallback?: unknown): unknown;
  continueOnFail(): boolean;
}

export interface IHookFunctions extends Context {
  getNodeParameter(name: string, fallback?: unknown): unknown;
  getNodeWebhookUrl(name: string): string | undefined;
  /** Is stored with the workflow, and changed in place. */
  getWorkflowStaticData(kind: 'node'): IDataObject;
}

export interface IWebhookFunctions extends IHookFunctions {
  getHeaderData(): Record<string, string | string[] | undefined>;
  getRequestObject(): { rawBody: Buffer };
  getResponseObject(): { status(code: number): { end(text?: string): void } };
}

/** A field of a node's form. */
export interface INodeProperties {
  displayName: string;
  name: string;
  type: string;
  default: unknown;
  description?: string;
  hint?: string;
  placeholder?: string;
  required?: boolean;
  noDataExpression?: boolean;
  options?: (INodeProperties | { name: string; value: string; description?: string; action?: string })[];
  typeOptions?: IDataObject;
  displayOptions?: { show: Record<string, unknown[]> };
}

export interface INodeTypeDescription {
  displayName: string;
  name: string;
  icon: string;
  group: string[];
  version: number;
  subtitle: string;
  description: string;
  defaults: { name: string };
  /** Whether AI agents may call the node. */
  usableAsTool?: true;
  inputs: 'main'[];
  outputs: 'main'[];
  credentials: { name: string; required: boolean }[];
  webhooks?: IWebhookDescription[];
  properties: INodeProperties[];
}

export interface IWebhookDescription {
  name: string;
  httpMethod: 'POST';
  path: string;
  rawBody: true;
  /** When n8n responds: as soon as the last node has finished. */
  responseMode: 'lastNode';
  /** What n8n responds with. Anything but `noData` is an error if the last node gives no item. */
  responseData: 'noData';
}

export interface INodeType {
  description: INodeTypeDescription;
  execute?(this: IExecuteFunctions): Promise<INodeExecutionData[][]>;
  webhookMethods?: Record<
    'default',
    Record<'checkExists' | 'create' | 'delete', (this: IHookFunctions) => Promise<boolean>>
  >;
  webhook?(this: IWebhookFunctions): Promise<IWebhookResponseData>;
}

/** The items that start the workflow, or that the node has responded by itself and starts nothing. */
export interface IWebhookResponseData {
  workflowData?: INodeExecutionData[][];
  noWebhookResponse?: true;
}

export interface ICredentialType {
  name: string;
  displayName: string;
  icon: string;
  properties: INodeProperties[];
  authenticate: { type: 'generic'; properties: { headers: Record<string, string> } };
  test: { request: { baseURL: string; url: string; qs: IDataObject } };
}
