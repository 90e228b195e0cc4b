import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { json } from 'node:stream/consumers';

/** The properties of a contact that these tests use, as HubSpot's documentation names them. */
const PROPERTIES = ['email', 'firstname', 'lastname', 'phone', 'company', 'jobtitle'];
/** The number of contacts that a batch may have. */
const MAX_BATCH = 100;

interface Contact {
  id: string;
  properties: Record<string, string>;
  createdAt: string;
  updatedAt: string;
  archived: boolean;
}

interface UpsertInput {
  id: string;
  idProperty?: string;
  properties: Record<string, string>;
}

/** An error as HubSpot responds with it. */
class HubSpotError extends Error {
  constructor(
    readonly status: number,
    readonly category: string,
    message: string,
  ) {
    super(message);
  }
}

/**
 * A stand-in for the contacts of HubSpot's API: `POST /crm/v3/objects/contacts/batch/upsert` and
 * `DELETE /crm/v3/objects/contacts/{id}`. It has the names, limits and responses of HubSpot's documentation, and keeps contacts.
 */
export class HubSpot {
  readonly contacts = new Map<string, Contact>();
  /** The number of requests, failed ones included. */
  requests = 0;
  /** The statuses with which the next requests fail, in this order. Nothing is changed by them. */
  failures: number[] = [];
  /** Is called when a request has changed contacts, before the response is sent. */
  onChanged: () => Promise<void> | void = () => undefined;
  readonly server: Server;

  constructor(private readonly token: string) {
    this.server = createServer((request, response) => void this.respond(request, response));
  }

  get url(): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }

  async listen(): Promise<this> {
    await new Promise<void>((resolve) => this.server.listen(0, '127.0.0.1', resolve));
    return this;
  }

  close(): void {
    this.server.close();
    this.server.closeAllConnections();
  }

  /** The contacts that are not archived, by their e-mail addresses. */
  get emails(): string[] {
    return [...this.contacts.values()].filter(({ archived }) => !archived).map(({ properties }) => properties.email!);
  }

  private async respond(request: IncomingMessage, response: ServerResponse): Promise<void> {
    this.requests++;
    try {
      const body = request.method === 'POST' ? await json(request) : undefined;
      const failure = this.failures.shift();
      if (failure)
        throw new HubSpotError(failure, failure === 429 ? 'RATE_LIMITS' : 'INTERNAL_ERROR', 'Try again later.');
      const results = this.handle(request, body);
      await this.onChanged();
      if (!results) response.writeHead(204).end();
      else {
        const now = new Date().toISOString();
        response.writeHead(200, { 'content-type': 'application/json' });
        response.end(JSON.stringify({ status: 'COMPLETE', results, startedAt: now, completedAt: now }));
      }
    } catch (error) {
      if (!(error instanceof HubSpotError)) return void response.destroy();
      const { status, category, message } = error;
      const headers = { 'content-type': 'application/json', ...(status === 429 && { 'retry-after': '1' }) };
      response
        .writeHead(status, headers)
        .end(JSON.stringify({ status: 'error', category, message, correlationId: '0' }));
    }
  }

  /** @returns The contacts to respond with; undefined if there is nothing to say. */
  private handle({ method, url, headers }: IncomingMessage, body: unknown): object[] | undefined {
    if (headers.authorization !== `Bearer ${this.token}`)
      throw new HubSpotError(401, 'INVALID_AUTHENTICATION', 'Authentication credentials not found.');
    const [, id] = /^\/crm\/v3\/objects\/contacts\/(\d+)$/.exec(url ?? '') ?? [];
    if (method === 'DELETE' && id) {
      const contact = this.contacts.get(id);
      if (contact) contact.archived = true;
      return undefined;
    }
    if (method === 'POST' && url === '/crm/v3/objects/contacts/batch/upsert') {
      return this.upsert((body as { inputs: UpsertInput[] }).inputs);
    }
    throw new HubSpotError(404, 'OBJECT_NOT_FOUND', `No such resource: ${method} ${url}`);
  }

  /** All contacts of a batch are stored, or none. */
  private upsert(inputs: UpsertInput[]): object[] {
    const ids = inputs.map(({ id }) => id.toLowerCase());
    const unknown = inputs
      .flatMap(({ properties }) => Object.keys(properties))
      .find((name) => !PROPERTIES.includes(name));
    if (inputs.length === 0 || inputs.length > MAX_BATCH)
      throw new HubSpotError(400, 'VALIDATION_ERROR', `A batch has 1 to ${MAX_BATCH} inputs, not ${inputs.length}.`);
    if (new Set(ids).size < ids.length)
      throw new HubSpotError(400, 'VALIDATION_ERROR', 'Duplicate IDs found in batch input.');
    if (inputs.some(({ idProperty }) => idProperty !== 'email'))
      throw new HubSpotError(400, 'VALIDATION_ERROR', 'idProperty must be a unique property.');
    if (unknown) throw new HubSpotError(400, 'VALIDATION_ERROR', `Property "${unknown}" does not exist`);
    return inputs.map(({ id, properties }) => {
      const now = new Date().toISOString();
      const stored = [...this.contacts.values()].find(
        (each) => !each.archived && each.properties.email === id.toLowerCase(),
      );
      const contact = stored ?? {
        id: String(501 + this.contacts.size),
        properties: {},
        createdAt: now,
        updatedAt: now,
        archived: false,
      };
      Object.assign(contact.properties, properties, { email: (properties.email ?? id).toLowerCase() });
      contact.updatedAt = now;
      this.contacts.set(contact.id, contact);
      return { ...contact, new: !stored };
    });
  }
}
