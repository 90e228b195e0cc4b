import type { Type } from '@nestjs/common';
import type { ModulesContainer } from '@nestjs/core';
import { ConfigError } from '../../config';
import { RENDER_METADATA } from './nest-internals';
import { PUBLIC } from './public';

type Module = ReturnType<ModulesContainer['get']> & object;

/** What requests reach without passing Lanyard's pipeline, by the metadata of packages that may not be installed. */
const OUTSIDE_PIPELINE = {
  'websockets:is_gateway': 'a WebSocket gateway',
  'graphql:resolver_type': 'a GraphQL resolver',
};

/** The module whose import serves an endpoint that Nest's router does not know. */
const GRAPHQL_MODULE = 'GraphQLModule';
/** The interceptor of `@nestjs/cache-manager`. */
const CACHE_INTERCEPTOR = 'CacheInterceptor';

/**
 * Rejects what a module has and this server cannot serve, or not safely.
 * @throws ConfigError that names it and says what to do
 */
export function rejectUnsupported(modules: ModulesContainer): void {
  const all = [...modules.values()];
  for (const module of all) {
    for (const { metatype } of module.controllers.values()) rejectRendered(metatype as Type);
    for (const { metatype } of [...module.providers.values(), ...module.injectables.values()]) {
      if (typeof metatype !== 'function') continue;
      rejectOutsidePipeline(metatype as Type, module);
      rejectSharedCache(metatype as Type, module);
    }
    rejectGraphQl(module, all);
  }
}

const isPublic = (target: object): boolean => Reflect.hasMetadata(PUBLIC, target);

/** The class of this name that a class is or extends. */
function classNamed(name: string, type: Type): Type | undefined {
  if (type.name === name) return type;
  const parent = Object.getPrototypeOf(type) as Type | null;
  return parent ? classNamed(name, parent) : undefined;
}

const outsideError = (what: string): ConfigError =>
  new ConfigError(
    `${what}, which no API key and no rate limit protect. Use controllers, with @Sse() for events; or, if you check callers ` +
      'by yourself, put @Public() of lanyard on it or on your module that has it.',
  );

function rejectOutsidePipeline(type: Type, { metatype: module }: Module): void {
  if (isPublic(type) || isPublic(module)) return;
  for (const [metadata, noun] of Object.entries(OUTSIDE_PIPELINE))
    if (Reflect.hasMetadata(metadata, type)) throw outsideError(`${type.name} is ${noun}`);
}

function rejectGraphQl(module: Module, all: Module[]): void {
  if (!classNamed(GRAPHQL_MODULE, module.metatype)) return;
  const importers = all.filter(({ imports }) => imports.has(module)).map(({ metatype }) => metatype);
  const importer = importers.find((each) => !isPublic(each));
  if (importer) throw outsideError(`${importer.name} imports ${module.metatype.name}`);
}

/** Rejects an interceptor that finds responses by their URL alone, and so sends one organization those of another. */
function rejectSharedCache(type: Type, { metatype: module }: Module): void {
  const cache = classNamed(CACHE_INTERCEPTOR, type);
  const trackBy = (each: Type): unknown => (each.prototype as { trackBy?: unknown }).trackBy;
  if (!cache || typeof trackBy(cache) !== 'function' || trackBy(type) !== trackBy(cache)) return;
  throw new ConfigError(
    `${module.name} uses ${type.name}, which would send one organization the cached responses of another. Extend it by a ` +
      'trackBy() whose key has the organization: see "Caches" in docs/extending.md.',
  );
}

function rejectRendered(controller: Type): void {
  const prototype = controller.prototype as object;
  for (const [name, { value }] of Object.entries(Object.getOwnPropertyDescriptors(prototype))) {
    if (typeof value !== 'function' || !Reflect.hasMetadata(RENDER_METADATA, value as object)) continue;
    throw new ConfigError(
      `${controller.name}.${name} uses @Render(), but Lanyard has no view engine. Return the text, with ` +
        "@Header('Content-Type', 'text/html').",
    );
  }
}
