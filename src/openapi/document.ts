import { readFileSync } from 'node:fs';
import { join } from 'node:path';
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

/** The introduction of the API reference. */
const DESCRIPTION = readFileSync(join(__dirname, 'description.md'), 'utf8').trimEnd();

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
