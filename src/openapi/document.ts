import type { INestApplication } from '@nestjs/common';
import { ModulesContainer } from '@nestjs/core';
import { DocumentBuilder, OpenAPIObject, SwaggerModule } from '@nestjs/swagger';
import { version } from '../../package.json';
import { ErrorResponse } from '../http/pipeline/returns';
import { TAG, TagObject } from '../http/pipeline/tag';
import { changeClasses, ChangesV0Response, describeFeed } from '../feed/changes/change.response';
import { FeedResources } from '../feed/changes/feed-resource';
import { PREFIX } from '../config';
import { ERROR_COMPONENTS } from './errors';
import { PUBLIC_EXTENSION } from '../http/pipeline/public';
import { KEY_SCOPES, scopeExtension, scopesOfMethod } from '../http/pipeline/scopes';
import { exampleOf } from './examples';
import { HEADER_COMPONENTS, PARAMETERS } from './headers';
import { Components, describeOperation, Operation } from './operation';
import { toOpenApi31 } from './openapi-schema';
import { WEBHOOKS, WebhookChanges, WebhookPing } from '../feed/webhooks/webhook.response';

const DESCRIPTION = `Lead capture and event management for the organization that owns the API key.

**Get a key.** A first start with the embedded PostgreSQL prints one. The operator of a server issues more:
\`lanyard keys issue --organization 1\`. _Authorize_ keeps a key in this browser until _Logout_.

**First request.** Replace \`localhost:3000\` with the address of this server:

    export LANYARD_URL=http://localhost:3000/api/v0
    export LANYARD_KEY=lan_…
    curl -H "x-api-key: $LANYARD_KEY" "$LANYARD_URL/leads?limit=1"

\`/openapi.json\` and \`/openapi.yaml\` are this document, from which you can generate a client.

**Authentication.** Every request needs the header \`x-api-key\`. A key gives access to data of its organization, so
use it on servers, not in web pages. Revocations and new limits take effect within 5 seconds.
Each operation names the scopes of keys that may call it: \`all\` may do everything, \`read\` every GET, \`capture\` what an app
at a booth needs. Any other request is 403 with the reason \`scope\`.

**Responses.** Success is always 200, \`{"status": 200, "results": …}\`; an error is \`{"status": …, "error": "…"}\`. Fields
without a value are null, never absent.

**Pagination.** \`limit\` is the page size (20 by default, at most 50), \`offset\` the zero-based page index. Lists are in
order of arrival, oldest first: new records are appended, so no record appears on two pages.

**Requests.** Bodies are \`application/json\` or \`…+json\`; a body of any other type counts as empty. An invalid body is
400 with the path of the first invalid field: \`Missing or invalid 'phoneNumbers[0].type'\`. Unknown fields and query parameters are
ignored, or with \`Prefer: handling=strict\` rejected with 400. Text may be any Unicode except NUL and unpaired surrogates;
lengths count characters. E-mail addresses must not contain control or format characters, and spaces only within quotes.
\`Lanyard-Fault\` of a 400 names the parameter, header or field, without its value.

**Rate limits.** Each key has a token bucket, by default of 20 tokens refilled at one per second; every request with a valid
key takes one. If the bucket is empty, the response is 429: wait at least as long as \`Retry-After\` says.

**Retries.** GET, PUT and DELETE can be repeated safely. Send an \`Idempotency-Key\` with POST and PATCH: a repeated request
with the same key and body is carried out once and gets the first response.

**Dry runs.** With \`Prefer: tx=rollback\`, any write is checked and gets its usual response, but nothing is stored.`;

const SERVER_DESCRIPTION = 'The server that serves this description, in production or on a local machine.';
const KEY_DESCRIPTION = 'API key of the organization, issued by the operator. Must be sent once.';

/** The operations of a path, by their methods. */
type Path = Record<string, Operation>;

interface Document {
  openapi: string;
  webhooks?: object;
  paths: Record<string, Path>;
  components: Components;
}

/** Builds the OpenAPI 3.1 document of the API from the decorators of its controllers and classes. */
export function openApiDocument(app: INestApplication): OpenAPIObject {
  const config = new DocumentBuilder()
    // Nest describes schemas as OpenAPI 3.0 does, and toOpenApi31 converts all of them. Nest's own 3.1 covers only nullable
    // references, by an `anyOf`.
    .setOpenAPIVersion('3.0.0')
    .setTitle('Lanyard')
    .setDescription(DESCRIPTION)
    .setVersion(version)
    .setLicense('MIT', 'https://opensource.org/license/mit')
    // The URL is relative, because the document is the same on every server.
    .addServer(`/${PREFIX}`, SERVER_DESCRIPTION, undefined, { 'x-internal': false })
    .addApiKey({ type: 'apiKey', in: 'header', name: 'x-api-key', description: KEY_DESCRIPTION }, 'apiKey')
    .addSecurityRequirements('apiKey');
  const tags = tagsOf(app);
  for (const { name, description } of tags) config.addTag(name, description);
  const base = config.build();
  base.info.contact = { name: 'The operator of this server' };
  const resources = app.get(FeedResources);
  const describedByNest = SwaggerModule.createDocument(app, base, {
    extraModels: [ErrorResponse, ...changeClasses(resources), WebhookChanges, WebhookPing],
    ignoreGlobalPrefix: true,
    operationIdFactory: operationIds(),
  });
  describeFeed(describedByNest, resources, [ChangesV0Response, WebhookChanges]);
  const document = toOpenApi31(describedByNest) as Document;
  document.openapi = '3.1.0';
  Object.assign(document.components, {
    headers: HEADER_COMPONENTS,
    parameters: { ...PARAMETERS },
    responses: ERROR_COMPONENTS,
  });
  const message = WEBHOOKS.changes.post.requestBody.content['application/json'];
  message.example = exampleOf(message.schema, document.components.schemas);
  document.webhooks = WEBHOOKS;
  document.paths = sortPaths(document.paths, tags);
  for (const path of Object.values(document.paths)) {
    for (const [method, operation] of Object.entries(path)) {
      describeScopes(method, operation);
      describeOperation(method, operation, document.components);
    }
  }
  return document as unknown as OpenAPIObject;
}

/** The scopes that may call an operation are the roles of its security requirement. A public one has none. */
function describeScopes(method: string, operation: Operation): void {
  const added = KEY_SCOPES.filter((scope) => operation[scopeExtension(scope)]);
  operation.security = operation[PUBLIC_EXTENSION] ? [] : [{ apiKey: scopesOfMethod(method, added) }];
  for (const extension of [PUBLIC_EXTENSION, ...KEY_SCOPES.map(scopeExtension)] as const) delete operation[extension];
}

/**
 * An operation has the name of the method that handles it and, if an operation has that name already, also the name of the
 * controller. Lanyard's own operations come first, so a module never changes their names.
 */
function operationIds(): (controller: string, method: string) => string {
  const used = new Set<string>();
  return (controller, method) => {
    const withController = `${controller}_${method}`;
    let id = used.has(method) ? withController : method;
    for (let n = 2; used.has(id); n++) id = `${withController}_${n}`;
    used.add(id);
    return id;
  };
}

/**
 * Lists DELETE operations last, so that a client that calls all operations in order, as tests generated from the document
 * do, finds the records of the examples. Readers see the chapters in their own order.
 */
function sortPaths(paths: Document['paths'], tags: TagObject[]): Document['paths'] {
  const chapterOf = (path: Path): number => tags.findIndex(({ name }) => name === Object.values(path)[0]?.tags?.[0]);
  const isDeletion = (name: string, path: Path): number => Number('delete' in path && name.split('/').length === 3);
  return Object.fromEntries(
    Object.entries(paths).sort(
      ([oneName, one], [otherName, other]) =>
        chapterOf(other) - chapterOf(one) || isDeletion(oneName, one) - isDeletion(otherName, other),
    ),
  );
}

/** The chapters, in the order in which the controllers are routed. */
function tagsOf(app: INestApplication): TagObject[] {
  const controllers = [...app.get(ModulesContainer).values()].flatMap((module) => [...module.controllers.values()]);
  return controllers.flatMap(({ metatype }) => (Reflect.getMetadata(TAG, metatype as object) as TagObject) ?? []);
}
