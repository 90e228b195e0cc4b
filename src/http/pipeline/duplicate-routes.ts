import { RequestMethod, type Type, type VERSION_NEUTRAL } from '@nestjs/common';
import { MetadataScanner, type ModulesContainer } from '@nestjs/core';
import { ConfigError } from '../../config';
import { HOST_METADATA, METHOD_METADATA, MODULE_PATH, PATH_METADATA, VERSION_METADATA } from './nest-internals';

type Module = ReturnType<ModulesContainer['get']> & object;
type Version = string | typeof VERSION_NEUTRAL | undefined;

/** A handler under one of its paths. */
interface Route {
  controller: Type;
  handler: string;
  /** The method and the path after the prefix of the API, with the version: `GET /v2/halls/:id`. */
  requests: string;
  host: unknown;
}

/** The name of a parameter or a wildcard: requests of `/leads/:leadId` are those of `/leads/:id`. */
const PARAMETER_NAME = /([:*])\w+/g;

/**
 * Rejects a second handler for the requests of another one, which Nest would never call.
 * @throws ConfigError that names both handlers
 */
export function rejectDuplicateRoutes(modules: ModulesContainer): void {
  const known = new Map<string, Route>();
  for (const route of [...modules.values()].flatMap((module) => routesOfModule(module, modules.applicationId))) {
    const key = `${route.requests.replace(PARAMETER_NAME, '$1')} ${String(route.host)}`;
    const first = known.get(key) ?? route;
    known.set(key, first);
    // A dynamic module that is imported with different options has the same controllers several times.
    if (first.controller === route.controller && first.handler === route.handler) continue;
    const [one, other] = [first, route].map(({ controller, handler }) => `${controller.name}.${handler}`);
    throw new ConfigError(`${one} and ${other} both handle ${route.requests}. Change the path of your handler.`);
  }
}

function routesOfModule({ metatype: module, controllers }: Module, applicationId: string): Route[] {
  const modulePath = metadataOf<string | undefined>(MODULE_PATH + applicationId, module) ?? '';
  return [...controllers.values()].flatMap(({ metatype }) => routesOfController(metatype as Type, modulePath));
}

function routesOfController(controller: Type, modulePath: string): Route[] {
  const prototype = controller.prototype as Record<string, object>;
  const host = metadataOf(HOST_METADATA, controller);
  return new MetadataScanner().getAllMethodNames(prototype).flatMap((handler) => {
    const method = prototype[handler] as object;
    if (!Reflect.hasMetadata(PATH_METADATA, method)) return [];
    const verb = RequestMethod[metadataOf<RequestMethod>(METHOD_METADATA, method)];
    const version =
      metadataOf<Version | Version[]>(VERSION_METADATA, method) ?? metadataOf(VERSION_METADATA, controller);
    const prefixes = [version].flat().map((each) => (typeof each === 'string' ? `v${each}` : ''));
    const parts = [prefixes, [modulePath], pathsOf(controller), pathsOf(method)];
    const paths = parts.reduce((all, part) => all.flatMap((path) => part.map((each) => `${path}/${each}`)));
    return paths.map((path) => {
      const requests = `${verb} /${path.split('/').filter(Boolean).join('/')}`;
      return { controller, handler, requests, host };
    });
  });
}

const metadataOf = <T>(key: string, target: object) => Reflect.getMetadata(key, target) as T;

const pathsOf = (target: object): string[] => [metadataOf<string | string[]>(PATH_METADATA, target)].flat();
