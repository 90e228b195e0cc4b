import { RequestMethod, type Type, VERSION_NEUTRAL } from '@nestjs/common';
import { MetadataScanner, type ModulesContainer } from '@nestjs/core';
import { ConfigError } from '../config';
import { HOST_METADATA, METHOD_METADATA, MODULE_PATH, PATH_METADATA, VERSION_METADATA } from './nest-internals';

/** A path of a handler. */
interface Route {
  method: string;
  /** The path after the prefix of the API, with the version. */
  path: string;
  host: unknown;
  controller: Type;
  handler: string;
}

type Handlers = Record<string, object>;
type Version = string | typeof VERSION_NEUTRAL | undefined;

/** The name of a parameter or a wildcard: requests of `/leads/:leadId` are those of `/leads/:id`. */
const PARAMETER_NAME = /([:*])\w+/g;

/**
 * Rejects a second handler for the requests of another one, which Nest would never call.
 * @throws ConfigError that names both handlers
 */
export function rejectDuplicateRoutes(modules: ModulesContainer): void {
  const routes = new Map<string, Route>();
  for (const route of routesOf(modules)) {
    const { method, path, host, controller, handler } = route;
    const requests = `${method} ${path.replace(PARAMETER_NAME, '$1')} ${String(host)}`;
    const other = routes.get(requests) ?? route;
    routes.set(requests, other);
    // A dynamic module that is imported with different options has the same controllers several times.
    if (other.controller === controller && other.handler === handler) continue;
    throw new ConfigError(
      `${other.controller.name}.${other.handler} and ${controller.name}.${handler} both handle ${method} ${path}. ` +
        'Change the path of your handler.',
    );
  }
}

/** The routes in the order in which Nest finds them. */
function routesOf(modules: ModulesContainer): Route[] {
  return [...modules.values()].flatMap(({ metatype: module, controllers }) => {
    const modulePath = (Reflect.getMetadata(MODULE_PATH + modules.applicationId, module) ?? '') as string;
    return [...controllers.values()].flatMap(({ metatype }) => controllerRoutes(metatype as Type, modulePath));
  });
}

function controllerRoutes(controller: Type, modulePath: string): Route[] {
  const handlers = controller.prototype as Handlers;
  const host = Reflect.getMetadata(HOST_METADATA, controller) as unknown;
  return new MetadataScanner().getAllMethodNames(handlers).flatMap((name) => {
    const handler = handlers[name] as object;
    if (!Reflect.hasMetadata(PATH_METADATA, handler)) return [];
    const method = RequestMethod[Reflect.getMetadata(METHOD_METADATA, handler) as RequestMethod];
    const version = (Reflect.getMetadata(VERSION_METADATA, handler) ??
      Reflect.getMetadata(VERSION_METADATA, controller)) as Version | Version[];
    const paths = combine(listOf(version).map(versionPath), [modulePath], pathsOf(controller), pathsOf(handler));
    return paths.map((path) => ({ method, path, host, controller, handler: name }));
  });
}

const listOf = <T>(value: T | T[]): T[] => (Array.isArray(value) ? value : [value]);

const pathsOf = (target: object): string[] => listOf(Reflect.getMetadata(PATH_METADATA, target) as string | string[]);

const versionPath = (version: Version): string => (typeof version === 'string' ? `v${version}` : '');

/** All paths with one part of each list, with single slashes. */
function combine(...lists: string[][]): string[] {
  const joined = lists.reduce((paths, parts) => paths.flatMap((path) => parts.map((part) => `${path}/${part}`)), ['']);
  return joined.map((path) => `/${path.split('/').filter(Boolean).join('/')}`);
}
