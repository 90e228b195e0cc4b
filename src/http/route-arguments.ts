import type { ExecutionContext, Type } from '@nestjs/common';
import { ROUTE_ARGS_METADATA } from '@nestjs/common/constants';
import { RouteParamtypes } from '@nestjs/common/enums/route-paramtypes.enum';

/** A parameter of a handler: `@Body()`, `@Query('limit')` and the like. */
export interface RouteArgument {
  /** The one property that the handler asks for; undefined where it takes all of them. */
  name?: string;
  /** The declared class. */
  type?: Type<object>;
}

/** The parameters of a request's handler that take a part of the request. Nest keeps them in metadata of its own. */
export function routeArguments(context: ExecutionContext, part: 'BODY' | 'QUERY'): RouteArgument[] {
  const controller = context.getClass();
  const method = methodNameOf(controller, context.getHandler());
  type Metadata = Record<string, { index: number; data?: string }>;
  const metadata = (Reflect.getMetadata(ROUTE_ARGS_METADATA, controller, method) ?? {}) as Metadata;
  const prototype = controller.prototype as object;
  const types = (Reflect.getMetadata('design:paramtypes', prototype, method) ?? []) as (Type<object> | undefined)[];
  return Object.entries(metadata)
    .filter(([key]) => key.startsWith(`${RouteParamtypes[part]}:`))
    .map(([, { index, data }]) => ({ name: data, type: types[index] }));
}

/** The name of a handler in its class. A decorator may have put a function of another name in its place. */
function methodNameOf(controller: Type, handler: ReturnType<ExecutionContext['getHandler']>): string {
  let prototype = controller.prototype as object | null;
  while (prototype) {
    const properties = Object.entries(Object.getOwnPropertyDescriptors(prototype));
    const found = properties.find(([, { value }]) => value === handler);
    if (found) return found[0];
    prototype = Object.getPrototypeOf(prototype) as object | null;
  }
  return handler.name;
}
