/** What these nodes use of n8n, in the shapes of n8n's own package `n8n-workflow`, which is not needed to build them. */

export type Json = Record<string, unknown>;

export interface Item {
  json: Json;
  /** The input item that this one was made of. */
  pairedItem?: { item: number };
}

export interface HttpRequest {
  method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  url: string;
  headers?: Record<string, string>;
  qs?: Json;
  body?: unknown;
  json: true;
  returnFullResponse: true;
  ignoreHttpStatusErrors: true;
}

export interface HttpResponse {
  statusCode: number;
  headers: Record<string, string | undefined>;
  body: unknown;
}

/** What every function of a node has as `this`. */
export interface Context {
  getCredentials(name: string): Promise<Json>;
  getNode(): { name: string };
  helpers: {
    httpRequestWithAuthentication(this: Context, credential: string, request: HttpRequest): Promise<HttpResponse>;
  };
}

export interface ExecuteContext extends Context {
  getInputData(): Item[];
  getNodeParameter(name: string, item: number, fallback?: unknown): unknown;
  continueOnFail(): boolean;
}

export interface HookContext extends Context {
  getNodeParameter(name: string, fallback?: unknown): unknown;
  getNodeWebhookUrl(name: string): string | undefined;
  /** Is stored with the workflow, and changed in place. */
  getWorkflowStaticData(kind: 'node'): Json;
}

export interface WebhookContext extends HookContext {
  getHeaderData(): Record<string, string | string[] | undefined>;
  getRequestObject(): { rawBody: Buffer };
  getResponseObject(): { status(code: number): { end(text?: string): void } };
}

/** A field of a node's form. */
export interface Property {
  displayName: string;
  name: string;
  type: string;
  default: unknown;
  description?: string;
  hint?: string;
  placeholder?: string;
  required?: boolean;
  noDataExpression?: boolean;
  options?: (Property | { name: string; value: string; description?: string; action?: string })[];
  typeOptions?: Json;
  displayOptions?: { show: Record<string, unknown[]> };
}
