import type { ExecutionContext } from '@nestjs/common';
import {
  REDIRECT_METADATA,
  RENDER_METADATA,
  RESPONSE_PASSTHROUGH_METADATA,
  ROUTE_ARGS_METADATA,
  SSE_METADATA,
} from '@nestjs/common/constants';
import { RouteParamtypes } from '@nestjs/common/enums/route-paramtypes.enum';

/** Decorators whose handler returns something else than the body of its response. */
const OTHER_RESPONSES = [SSE_METADATA, RENDER_METADATA, REDIRECT_METADATA];

const RESPONSE_PARAMETERS = [RouteParamtypes.RESPONSE, RouteParamtypes.NEXT].map((type) => `${type}:`);

/** Whether a handler writes its response itself: what it returns is not the body, so that nobody else knows that. */
export function writesOwnResponse(context: Pick<ExecutionContext, 'getClass' | 'getHandler'>): boolean {
  const controller = context.getClass();
  const handler = context.getHandler();
  if (OTHER_RESPONSES.some((name) => Reflect.hasMetadata(name, handler))) return true;
  const parameters = Reflect.getMetadata(ROUTE_ARGS_METADATA, controller, handler.name) as object | undefined;
  const takesResponse = Object.keys(parameters ?? {}).some((name) =>
    RESPONSE_PARAMETERS.some((prefix) => name.startsWith(prefix)),
  );
  return takesResponse && Reflect.getMetadata(RESPONSE_PASSTHROUGH_METADATA, controller, handler.name) !== true;
}
