import { firstError, toInstance, usesOnlyFieldDecorators } from '../../fields/field-rules';
import { type HandlerContext, hasInterceptors, routeArguments, takes } from './handler-metadata';

/** How a handler reads its body. */
export interface BodyOptions {
  /** What the JSON of the body may be. */
  accepts: 'object' | 'array' | 'either';
  /** No field is required, so a body of another type than JSON would pass as an empty one. It is a 400 instead. */
  allOptional: boolean;
  /** Whether the handler takes the bytes, of any content type. */
  isRaw: boolean;
  /** Whether an interceptor of the handler may read a form with files. */
  takesForms: boolean;
  /** Whether the handler has no `@Body()` and sees the body in the request only. */
  isImplicit: boolean;
}

/** @returns undefined where a handler sees no body */
export function bodyOptionsOf(context: HandlerContext): BodyOptions | undefined {
  const parameters = routeArguments(context, 'BODY');
  const isRaw = takes(context, 'RAW_BODY');
  const takesFiles = takes(context, 'FILE', 'FILES');
  const seesRequest = isRaw || takesFiles || takes(context, 'REQUEST');
  if (parameters.length === 0 && !seesRequest) return undefined;
  const [{ type } = {}] = parameters;
  return {
    accepts: acceptedBy(parameters),
    allOptional: !type || !usesOnlyFieldDecorators(type) || firstError(toInstance(type, {})) === undefined,
    isRaw,
    takesForms: takesFiles || hasInterceptors(context),
    isImplicit: parameters.length === 0,
  };
}

/** A handler that declares no class for its body takes any JSON, as in Nest. */
function acceptedBy(parameters: ReturnType<typeof routeArguments>): BodyOptions['accepts'] {
  if (parameters.some(({ name }) => name !== undefined)) return 'object';
  const [{ type } = {}] = parameters;
  if (type === Array) return 'array';
  return type === undefined || type === Object ? 'either' : 'object';
}
