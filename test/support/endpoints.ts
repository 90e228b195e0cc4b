import type { Test } from 'supertest';
import { eventInput, industryEventInput, leadInput, unique } from './builders';
import type { ApiClient } from './client';
import { description, type Operation, resolved, type Schema } from './description';

/** Every endpoint of openapi.json with every id that it takes: a new one is in the suites that go through all of them. */

type Method = 'get' | 'post' | 'put' | 'patch' | 'delete';

/** What the ids of openapi.json are of, by their names. */
const KINDS = {
  eventId: 'event',
  leadId: 'lead',
  activationId: 'activation',
  tagGroupId: 'tagGroup',
  leadActivityEventId: 'note',
  industryEventId: 'industryEvent',
} as const;
export type Kind = (typeof KINDS)[keyof typeof KINDS];

/** A place of an endpoint that takes an id, and what the id is of. */
interface Slot {
  where: 'path' | 'query' | 'body';
  name: string;
  kind: Kind;
}

export interface Endpoint {
  operationId: string;
  /** as the specification writes it, `GET /events/:eventId` */
  name: string;
  method: Method;
  path: string;
  slots: Slot[];
  /** valid bodies, made with the ids of the slots in the body; one `undefined` where none is taken */
  bodies: ((ids: string[]) => object | undefined)[];
}

/** The ids of slots: an own one has its kind's name in the place of a value until the request is sent. */
export type Ids = Record<string, string>;

const update = { eventName: 'Taken', eventType: 'OTHER', startDate: '2020-01-01', endDate: '2020-01-02' };

/** Bodies of the endpoints that take one: each way in which such a body can work on rows. */
const BODIES: Record<string, Endpoint['bodies']> = {
  'POST /events': [() => eventInput()],
  'PUT /events/:eventId': [() => update],
  'PUT /events/:eventId/leads': [
    (ids) => ({ eventLeads: ids.map((leadId) => ({ leadId, checkedIn: true })) }),
    () => ({ eventLeads: [] }),
  ],
  'POST /leads': [() => leadInput()],
  'POST /leads/batch': [
    () => ({ matchBy: 'email', leads: [leadInput({ email: 'ada@example.com', jobTitle: unique() })] }),
    () => ({ matchBy: 'remoteId', leads: [leadInput({ remoteId: { id: 'w-1', integrationType: 'WEBHOOK' } })] }),
    () => ({ matchBy: 'none', leads: [leadInput()] }),
  ],
  'PATCH /leads/:leadId': [
    () => ({ firstName: 'Taken', phoneNumbers: [] }),
    () => ({}),
    () => ({ remoteId: { id: null, integrationType: 'WEBHOOK' } }),
    () => ({ remoteId: { id: 'taken', integrationType: 'WEBHOOK' } }),
  ],
  'POST /industryEvents': [() => industryEventInput({ keywords: null })],
  'PUT /industryEvents/:industryEventId': [() => ({ description: 'Taken' }), () => ({})],
};

function kindOf(name: string): Kind {
  const kind = (KINDS as Partial<Record<string, Kind>>)[name];
  if (!kind) throw new Error(`What is '${name}' the id of? Add it to the kinds of test/support/endpoints.ts`);
  return kind;
}

/** The names of the ids that a body takes, however deep. */
function idsIn(schema: Schema, name = ''): string[] {
  const { items, properties, format } = resolved(schema);
  if (items) return idsIn(items, name);
  if (properties) return Object.entries(properties).flatMap(([key, inner]) => idsIn(inner, key));
  return format === 'uuid' ? [name] : [];
}

function endpoint(template: string, method: Method, { operationId, parameters, requestBody }: Operation): Endpoint {
  const path = template.replace(/\{(\w+)\}/g, ':$1');
  const name = `${method.toUpperCase()} ${path}`;
  const given = parameters
    .map(resolved)
    .filter((parameter) => parameter.in === 'path' || parameter.schema.format === 'uuid');
  const inBody = requestBody ? idsIn(requestBody.content['application/json'].schema) : [];
  const slots = [
    ...given.map((parameter): Slot => ({ where: parameter.in, name: parameter.name, kind: kindOf(parameter.name) })),
    ...inBody.map((id): Slot => ({ where: 'body', name: id, kind: kindOf(id) })),
  ];
  const bodies = requestBody ? BODIES[name] : [() => undefined];
  if (!bodies) throw new Error(`${name} takes a body: add valid ones to test/support/endpoints.ts`);
  return { operationId, name, method, path, slots, bodies };
}

export const ENDPOINTS: Endpoint[] = Object.entries(description.paths).flatMap(([template, operations]) =>
  Object.entries(operations).map(([method, operation]) => endpoint(template, method as Method, operation)),
);

/** A request to an endpoint: an id for each slot by its name, several (joined by commas) for one in a body. */
export function send(api: ApiClient, endpoint: Endpoint, ids: Ids, body = endpoint.bodies[0], stray: Ids = {}): Test {
  const path = endpoint.path.replace(/:(\w+)/g, (_, name: string) => ids[name] ?? '');
  const query = endpoint.slots.filter(({ where, name }) => where === 'query' && ids[name]);
  const inBody = endpoint.slots
    .filter(({ where }) => where === 'body')
    .flatMap(({ name }) => ids[name]?.split(',') ?? []);
  const content = body?.(inBody);
  return api
    .send(endpoint.method, path, content && { ...stray, ...content })
    .query({ ...stray, ...Object.fromEntries(query.map(({ name }) => [name, ids[name] ?? ''])) });
}
