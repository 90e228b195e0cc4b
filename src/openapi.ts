import type { INestApplication } from '@nestjs/common';
import { ModulesContainer } from '@nestjs/core';
import { DocumentBuilder, OpenAPIObject, SwaggerModule } from '@nestjs/swagger';
import { version } from '../package.json';
import { PREFIX } from './app';
import { ErrorResponse } from './api-schema/error.response';
import { TAG, TagObject } from './api-schema/tag';
import { ERROR_COMPONENTS } from './openapi/errors';
import { HEADER_COMPONENTS, PARAMETERS } from './openapi/headers';
import { Components, describeOperation, Operation } from './openapi/operation';
import { asVersion31 } from './openapi/schema';

const DESCRIPTION = `Lead capture and event management for the organization that an API key belongs to.

**Keys.** Every request carries an API key in the header \`x-api-key\`. Keys are issued by the operator of the server, and
no operation does it. They open all data of the organization, so they belong on servers and not into web pages: a page of
another site may read an answer only where the operator has allowed its origin. A blank \`x-api-key\` counts as missing. When
the operator revokes a key or changes its limits, that is in force within 5 seconds.

**Checks.** First the key is checked, then its bucket, and only then the body, the path and the query. So a path that does
not exist is a 404 with a valid key, and without one a 401 or 403 like any other.

**Answers.** A success is always 200, \`{"status": 200, "results": …}\`; an error is \`{"status": …, "error": "…"}\`. Fields
that have no value are there and null.

**Lists** come in pages, oldest record first: \`limit\` is the size of a page (20 by default, at most 50) and \`offset\` the
index of the page, from 0. A record that is created meanwhile comes last, so that a client which reads page after page
sees none twice.

**Requests.** A body is read as JSON when its type is \`application/json\` or ends in \`+json\`. With another type it counts
as empty; where no field is required, it is a 400. An invalid body is answered with the path of the first invalid field, in
the order in which the fields are described: \`Missing or invalid 'phoneNumbers[0].type'\`. Unknown fields are ignored, but a
body with more than 32 levels is a 400, and one with more than 20,000 values a 413, unknown fields included. Unknown query
parameters are ignored, and one that is sent twice is a 400.

**Limits.** A key has a bucket of tokens, by default 20, refilled by one a second. Each request with a valid key costs
a token, whatever becomes of it: also one that ends in 400, 404 or 413. The \`X-RateLimit-…\` headers tell how the bucket
stands. An empty one is a 429 with \`Retry-After\`: wait at least as long, and longer after each further refusal.

**Repeating.** GET, PUT and DELETE may be sent again as they are. A POST or PATCH with an \`Idempotency-Key\` is carried out
once: a client that got no answer sends it again, with the same key and body, and gets the first answer.

**Text** is any Unicode but NUL and lone surrogates, and is stored as it is sent; lengths count characters. Ids in upper
case are read, and shown in lower case. Phone numbers, too, are stored as sent and in the order in which they are sent.`;

const SERVER = 'The server that gives this description, in production as on a local machine.';
const KEY = 'The key of an organization, as its operator issued it. Sent twice, it is not valid.';

interface Document {
  paths: Record<string, Record<string, Operation>>;
  components: Components;
}

/** The OpenAPI 3.1 document of the API, from the decorators of its controllers and classes. */
export function openApiDocument(app: INestApplication): OpenAPIObject {
  const config = new DocumentBuilder()
    .setOpenAPIVersion('3.1.0')
    .setTitle('Lanyard')
    .setDescription(DESCRIPTION)
    .setVersion(version)
    .setLicense('MIT', 'https://opensource.org/license/mit')
    // Relative to where the document is read, because it is the same on every server.
    .addServer(`/${PREFIX}`, SERVER, undefined, { 'x-internal': false })
    .addApiKey({ type: 'apiKey', in: 'header', name: 'x-api-key', description: KEY }, 'apiKey')
    .addSecurityRequirements('apiKey');
  const tags = tagsOf(app);
  for (const { name, description } of tags) config.addTag(name, description);
  const base = config.build();
  base.info.contact = { name: 'The operator of this server' };
  const document = asVersion31(
    SwaggerModule.createDocument(app, base, { extraModels: [ErrorResponse], ignoreGlobalPrefix: true }),
  ) as Document;
  Object.assign(document.components, {
    headers: HEADER_COMPONENTS,
    parameters: { ...PARAMETERS },
    responses: ERROR_COMPONENTS,
  });
  document.paths = inOrderOfUse(
    document.paths,
    tags.map(({ name }) => name),
  );
  for (const path of Object.values(document.paths)) {
    for (const [method, operation] of Object.entries(path)) describeOperation(method, operation, document.components);
  }
  return document as unknown as OpenAPIObject;
}

/**
 * List DELETE operations last: a client that calls all operations one after the other, as tests
 * that are made from the document do, finds the records of the examples. Readers see the chapters in their own order.
 */
function inOrderOfUse(paths: Document['paths'], tags: string[]): Document['paths'] {
  const chapter = ([, path]: [string, Document['paths'][string]]): number =>
    tags.indexOf(Object.values(path)[0]?.tags[0] ?? '');
  const isEnd = ([name, path]: [string, Document['paths'][string]]): number =>
    Number('delete' in path && name.split('/').length === 3);
  return Object.fromEntries(
    Object.entries(paths).sort((one, other) => chapter(other) - chapter(one) || isEnd(one) - isEnd(other)),
  );
}

/** The chapters, in the order in which the controllers are routed. */
function tagsOf(app: INestApplication): TagObject[] {
  const controllers = [...app.get(ModulesContainer).values()].flatMap((module) => [...module.controllers.values()]);
  return controllers.flatMap(({ metatype }) => (Reflect.getMetadata(TAG, metatype as object) as TagObject) ?? []);
}
