import type { Test } from 'supertest';
import { eventInput, industryEventInput, leadInput, unique } from './builders';
import type { ApiClient } from './client';
import { isDeployment } from './deployment/deployment';
import { description, isPlain, type Operation, resolveReference, type Schema } from './description';

/** Every endpoint of openapi.json with every id that it takes: a new one is in the suites that go through all of them. */

type Method = 'get' | 'post' | 'put' | 'patch' | 'delete';

/** What an id is of, as `ids` of `createExhibitor()` has it: a `boothId` is of a `booth`. */
const kindOf = (name: string): string => (name === 'leadActivityEventId' ? 'note' : name.replace(/Id$/, ''));

/** A place of an endpoint that takes an id, and what the id is of. */
interface Slot {
  where: 'path' | 'query' | 'body';
  name: string;
  kind: string;
  /** of a body: whether it is in an array, and so takes several */
  isMany?: boolean;
}

export interface Endpoint {
  operationId: string;
  /** as the specification writes it, `GET /events/:eventId` */
  name: string;
  method: Method;
  path: string;
  slots: Slot[];
  /** the names of the parameters of its query */
  filters: string[];
  /** whether an id may be of no record: a list is empty then, unless the description has a 404 */
  mayBeNotFound: boolean;
  /** of a list that is read page by page: the field of `results` that holds the items */
  list?: string;
  /** valid bodies, made with the ids of the slots by their names; one `undefined` where none is taken */
  bodies: ((ids: Ids) => object | undefined)[];
}

/** The ids of slots, several joined by commas: an own one has its kind's name in its place until the request is sent. */
export type Ids = Record<string, string>;

/** Where nobody listens. Servers of suites let keys register it; a deployment does not. */
export const RECEIVER_URL = 'http://127.0.0.1:9/';

const update = { eventName: 'Taken', eventType: 'OTHER', startDate: '2020-01-01', endDate: '2020-01-02' };

/** Bodies of the endpoints of which the example of openapi.json does not show each way in which they work on rows. */
const BODIES: Record<string, Endpoint['bodies']> = {
  'POST /events': [() => eventInput()],
  'PUT /events/:eventId': [() => update],
  'PUT /events/:eventId/leads': [
    ({ leadId }) => ({ eventLeads: leadId?.split(',').map((id) => ({ leadId: id, checkedIn: true })) ?? [] }),
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
  'POST /webhooks': [() => ({ url: RECEIVER_URL })],
  'POST /industryEvents': [() => industryEventInput({ keywords: null })],
  'PUT /industryEvents/:industryEventId': [() => ({ description: 'Taken' }), () => ({})],
};

/** Whether a value is an id of a record. A remote id is one of another system. */
const isId = ({ format }: Schema, name: string): boolean =>
  format === 'uuid' || (format === 'int64' && name.endsWith('Id'));

/** The ids that a body takes, however deep. */
function idsIn(schema: Schema, name = '', isMany = false): Slot[] {
  const resolved = resolveReference(schema);
  const { items, properties } = resolved;
  if (items) return idsIn(items, name, true);
  if (properties) return Object.entries(properties).flatMap(([key, inner]) => idsIn(inner, key, isMany));
  return isId(resolved, name) ? [{ where: 'body', name, kind: kindOf(name), isMany }] : [];
}

/** The example of a body, with other ids. */
const exampleWith = (example: object, ids: Ids): object =>
  JSON.parse(JSON.stringify(example), (name, value: unknown) => {
    const id = ids[name];
    if (id === undefined || typeof value === 'object') return value;
    return typeof value === 'number' ? Number(id) : id;
  }) as object;

/** The field of `results` that holds the items of a page. */
function listOf({ responses }: Operation): string | undefined {
  const schema =
    responses['200'] &&
    resolveReference(resolveReference(responses['200']).content['application/json'].schema as Schema);
  if (!schema?.properties?.pagination) return undefined;
  return Object.keys(schema.properties.results?.properties ?? {}).find((key) => key !== 'total');
}

const pathOf = (template: string): string => template.replace(/\{(\w+)\}/g, ':$1');

const nameOf = (template: string, method: Method): string => `${method.toUpperCase()} ${pathOf(template)}`;

function endpoint(template: string, method: Method, operation: Operation): Endpoint {
  const { operationId, parameters, requestBody, responses } = operation;
  const mayBeNotFound = '404' in responses;
  const path = pathOf(template);
  const name = nameOf(template, method);
  const withIds = parameters
    .map(resolveReference)
    .filter((parameter) => parameter.in === 'path' || isId(parameter.schema, parameter.name));
  const filters = parameters
    .map(resolveReference)
    .filter((parameter) => parameter.in === 'query')
    .map((parameter) => parameter.name);
  const body = requestBody?.content['application/json'];
  const slots = [
    ...withIds.map((parameter): Slot => ({
      where: parameter.in,
      name: parameter.name,
      kind: kindOf(parameter.name),
    })),
    ...(body ? idsIn(body.schema) : []),
  ];
  const bodies = BODIES[name] ?? [(ids) => body && exampleWith(body.example, ids)];
  return { operationId, name, method, path, slots, filters, mayBeNotFound, list: listOf(operation), bodies };
}

const OPERATIONS = Object.entries(description.paths).flatMap(([template, operations]) =>
  Object.entries(operations).map(([method, operation]) => ({ template, method: method as Method, operation })),
);

/** Those of webhooks need a receiver that the server can reach, which a deployment has not: key-webhooks.spec.ts has them. */
export const ENDPOINTS: Endpoint[] = OPERATIONS.filter(({ operation }) => !isPlain(operation))
  .filter(({ template }) => !isDeployment || !template.startsWith('/webhooks'))
  .map(({ template, method, operation }) => endpoint(template, method, operation));

/** The endpoints of plain Nest modules, as `GET /halls/:id`. */
export const PLAIN_ENDPOINTS: string[] = OPERATIONS.filter(({ operation }) => isPlain(operation)).map(
  ({ template, method }) => nameOf(template, method),
);

/** A request to an endpoint, with an id for each slot by its name. */
export function send(api: ApiClient, endpoint: Endpoint, ids: Ids, body = endpoint.bodies[0], stray: Ids = {}): Test {
  const path = endpoint.path.replace(/:(\w+)/g, (_, name: string) => ids[name] ?? '');
  const query = endpoint.slots.filter(({ where, name }) => where === 'query' && ids[name]);
  const content = body?.(ids);
  return api
    .send(endpoint.method, path, content && { ...stray, ...content })
    .query({ ...stray, ...Object.fromEntries(query.map(({ name }) => [name, ids[name] ?? ''])) });
}
