import type { ExecutionContext, Type } from '@nestjs/common';
import {
  INTERCEPTORS_METADATA,
  REDIRECT_METADATA,
  RENDER_METADATA,
  RESPONSE_PASSTHROUGH_METADATA,
  ROUTE_ARGS_METADATA,
  RouteParamtypes,
  SSE_METADATA,
} from './nest-internals';
import { PLAIN } from './plain';

/** What Nest's decorators say of a handler. No other file reads Nest's metadata of a handler's parameters. */

export type HandlerContext = Pick<ExecutionContext, 'getClass' | 'getHandler'>;

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

/** Whether a handler has a parameter that takes one of these parts. */
export const takes = (context: HandlerContext, ...parts: (keyof typeof RouteParamtypes)[]): boolean =>
  parts.some((part) => routeArguments(context, part).length > 0);

/** The name of a handler in its class. A decorator may have put a function of another name in its place. */
function methodNameOf(controller: Type, handler: ReturnType<HandlerContext['getHandler']>): string {
  let prototype = controller.prototype as object | null;
  while (prototype) {
    const properties = Object.entries(Object.getOwnPropertyDescriptors(prototype));
    const found = properties.find(([, { value }]) => value === handler);
    if (found) return found[0];
    prototype = Object.getPrototypeOf(prototype) as object | null;
  }
  return handler.name;
}

/** What `@UsePipes()` and the like give to a controller and its handler. */
export function declaredFor<T>(context: HandlerContext, metadata: string): T[] {
  const targets = [context.getClass(), context.getHandler()];
  return targets.flatMap((target) => (Reflect.getMetadata(metadata, target) ?? []) as T[]);
}

/**
 * Reads the decorators of a handler when it is called for the first time, and never again. A handler of a base class may be in
 * several controllers.
 */
export function oncePerHandler<T>(read: (context: HandlerContext) => T): (context: HandlerContext) => T {
  const known = new WeakMap<object, Map<unknown, T>>();
  return (context) => {
    const ofController = known.get(context.getClass()) ?? new Map<unknown, T>();
    const found = ofController.get(context.getHandler());
    if (found !== undefined) return found;
    const value = read(context);
    known.set(context.getClass(), ofController.set(context.getHandler(), value));
    return value;
  };
}

/** Whether the handler or its controller has interceptors. One that takes files is known by nothing else. */
export const hasInterceptors = (context: HandlerContext): boolean =>
  declaredFor(context, INTERCEPTORS_METADATA).length > 0;

/** Decorators whose handler returns something else than the body of its response. */
const OTHER_RESPONSES = [SSE_METADATA, RENDER_METADATA, REDIRECT_METADATA];

/** Whether the response of a handler is not in the envelope: the handler writes it, or it is `@Plain()`. */
export function writesOwnResponse(context: HandlerContext): boolean {
  const controller = context.getClass();
  const handler = context.getHandler();
  if (OTHER_RESPONSES.some((name) => Reflect.hasMetadata(name, handler))) return true;
  if ([handler, controller].some((target) => Reflect.hasMetadata(PLAIN, target))) return true;
  const takesResponse = takes(context, 'RESPONSE', 'NEXT');
  const method = methodNameOf(controller, handler);
  return takesResponse && Reflect.getMetadata(RESPONSE_PASSTHROUGH_METADATA, controller, method) !== true;
}
