import { ValidationPipe } from '@nestjs/common';
import type { ModulesContainer } from '@nestjs/core';
import { firstInvalidPath, toInstance, usesOnlyFieldDecorators } from '../../fields/field-rules';
import {
  handlerPipes,
  hasInterceptors,
  type HandlerContext,
  type Pipe,
  routeArguments,
  takes,
} from './handler-metadata';

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
    allOptional: !type || !usesOnlyFieldDecorators(type) || firstInvalidPath(toInstance(type, {})) === undefined,
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

/** The parts of a request that a ValidationPipe of a module may check instead of Lanyard's. */
const CHECKED_PARTS = ['BODY', 'QUERY', 'PARAM'] as const;
export type CheckedPart = (typeof CHECKED_PARTS)[number];

const isValidationPipe = (pipe: Pipe): boolean =>
  pipe === ValidationPipe || (typeof pipe === 'function' ? pipe.prototype : pipe) instanceof ValidationPipe;

/** Those that modules have as their `APP_PIPE`. */
const globalPipes = (modules: ModulesContainer): Pipe[] =>
  [...modules.values()]
    .flatMap(({ providers }) => [...providers.values()])
    .filter(({ subtype }) => subtype === 'pipe')
    .map(({ instance }) => instance as Pipe);

/** The parts of a request that are left to a ValidationPipe of a module, its controller, its handler or a parameter. */
export function partsLeftToModule(context: HandlerContext, modules: ModulesContainer): readonly CheckedPart[] {
  if ([...globalPipes(modules), ...handlerPipes(context)].some(isValidationPipe)) return CHECKED_PARTS;
  return CHECKED_PARTS.filter((part) =>
    routeArguments(context, part).some(({ name, pipes }) => name === undefined && pipes.some(isValidationPipe)),
  );
}

const LEFT_TO_MODULE = Symbol('left to the module');

/** Marks a body, a query or path parameters that a pipe of the module checks. */
export const leaveToModule = (part: object): object => Object.defineProperty(part, LEFT_TO_MODULE, { value: true });

export const isLeftToModule = (part: object): boolean => LEFT_TO_MODULE in part;
