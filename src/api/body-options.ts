import { ValidationPipe } from '@nestjs/common';
import { isAllOptional, usesOnlyFieldDecorators } from '../fields/field-rules';
import { handlerPipes, hasInterceptors, type HandlerContext, type Pipe, routeArguments } from './handler-metadata';

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
  const isRaw = routeArguments(context, 'RAW_BODY').length > 0;
  const takesFiles = [...routeArguments(context, 'FILE'), ...routeArguments(context, 'FILES')].length > 0;
  const seesRequest = isRaw || takesFiles || routeArguments(context, 'REQUEST').length > 0;
  if (parameters.length === 0 && !seesRequest) return undefined;
  const [{ type } = {}] = parameters;
  return {
    accepts: acceptedBy(parameters),
    allOptional: !type || !usesOnlyFieldDecorators(type) || isAllOptional(type),
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

/** The parts of a request that a ValidationPipe of a module itself checks, and that are left to it. */
export const CHECKED_PARTS = ['BODY', 'QUERY', 'PARAM'] as const;
export type CheckedPart = (typeof CHECKED_PARTS)[number];

const isValidationPipe = (pipe: Pipe): boolean =>
  pipe instanceof ValidationPipe ||
  (typeof pipe === 'function' && pipe.prototype instanceof ValidationPipe) ||
  pipe === ValidationPipe;

/** The parts of a request for which a handler, its controller or its parameter has a ValidationPipe. */
export function partsWithOwnPipe(context: HandlerContext): CheckedPart[] {
  if (handlerPipes(context).some(isValidationPipe)) return [...CHECKED_PARTS];
  return CHECKED_PARTS.filter((part) =>
    routeArguments(context, part).some(({ name, pipes }) => name === undefined && pipes.some(isValidationPipe)),
  );
}

const LEFT_TO_MODULE = Symbol('left to the module');

/** Marks a body, a query or path parameters that a pipe of the module checks. */
export const leaveToModule = (part: object): object => Object.defineProperty(part, LEFT_TO_MODULE, { value: true });

export const isLeftToModule = (part: object): boolean => LEFT_TO_MODULE in part;
