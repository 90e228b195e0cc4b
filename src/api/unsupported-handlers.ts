import type { Type } from '@nestjs/common';
import type { ModulesContainer } from '@nestjs/core';
import { ConfigError } from '../config';
import { isRendered } from './handler-metadata';

/** Metadata by which `@nestjs/websockets`, which may not be installed, knows a gateway. */
const GATEWAY = 'websockets:is_gateway';

/**
 * Rejects what a module has and this server cannot serve.
 * @throws ConfigError that names the handler and says what to do
 */
export function rejectUnsupported(modules: ModulesContainer): void {
  for (const { controllers, providers } of modules.values()) {
    for (const { metatype } of controllers.values()) rejectRendered(metatype as Type);
    for (const { metatype, name } of providers.values()) {
      if (typeof metatype !== 'function' || !Reflect.hasMetadata(GATEWAY, metatype)) continue;
      throw new ConfigError(
        `${String(name)} is a WebSocket gateway, which has no API key. Lanyard serves HTTP only: use @Sse().`,
      );
    }
  }
}

function rejectRendered(controller: Type): void {
  const prototype = controller.prototype as object;
  for (const [name, { value }] of Object.entries(Object.getOwnPropertyDescriptors(prototype))) {
    if (typeof value !== 'function' || !isRendered(value as object)) continue;
    throw new ConfigError(
      `${controller.name}.${name} uses @Render(), but Lanyard has no view engine. Return the text, with ` +
        "@Header('Content-Type', 'text/html').",
    );
  }
}
