import type { ExecutionContext, Type } from '@nestjs/common';
import {
  REDIRECT_METADATA,
  RENDER_METADATA,
  RESPONSE_PASSTHROUGH_METADATA,
  ROUTE_ARGS_METADATA,
  RouteParamtypes,
  SSE_METADATA,
} from './nest-internals';

/** What Nest's decorators say of a handler. No other file reads Nest's metadata of a handler's parameters. */

type HandlerContext = Pick<ExecutionContext, 'getClass' | 'getHandler'>;

/** A parameter of a handler: `@Body()`, `@Query('limit')` and the like. */
export interface RouteArgument {
  /** The one property that the handler asks for; undefined where it takes all of them. */
  name?: string;
  /** The declared class. */
  type?: Type<object>;
}

/** The parameters of a handler that take a part of the request, or its response. */
export function routeArguments(context: HandlerContext, part: keyof typeof RouteParamtypes): RouteArgument[] {
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

/** Decorators whose handler returns something else than the body of its response. */
const OTHER_RESPONSES = [SSE_METADATA, RENDER_METADATA, REDIRECT_METADATA];

/** Whether a handler writes its response itself: what it returns is not the body, so that nobody else knows that. */
export function writesOwnResponse(context: HandlerContext): boolean {
  const controller = context.getClass();
  const handler = context.getHandler();
  if (OTHER_RESPONSES.some((name) => Reflect.hasMetadata(name, handler))) return true;
  const takesResponse = [...routeArguments(context, 'RESPONSE'), ...routeArguments(context, 'NEXT')].length > 0;
  const method = methodNameOf(controller, handler);
  return takesResponse && Reflect.getMetadata(RESPONSE_PASSTHROUGH_METADATA, controller, method) !== true;
}
