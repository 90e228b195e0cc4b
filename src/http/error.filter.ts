import { type ArgumentsHost, Catch, type ExceptionFilter, HttpException, Logger } from '@nestjs/common';
import type { Request, Response } from 'express';
import {
  AnswerTooLarge,
  causeOf,
  IdempotencyConflict,
  isBadInput,
  isConnectionFault,
  isOutOfResources,
  isOverload,
  isUnreachable,
  RowNotFound,
  sqlState,
} from '../database/errors';
import { errorBody, errorText, InvalidField, InvalidRequest, JSON_TYPE, nameFault, NotReplayable } from './errors';
import { discardBody } from './request';

/** Rejections of one kind are logged once in this time, so that the log does not grow with them. */
const LOG_INTERVAL_MS = 10_000;

const SAFE_METHODS = ['GET', 'HEAD', 'OPTIONS'];

/** A table, a column, a function or a type that is not there. */
const SCHEMA_FAULTS = ['42P01', '42703', '42883', '42704'];

declare module 'express-serve-static-core' {
  interface Locals {
    /** The SQLSTATE of class 53 for which a request was rejected: metrics read it here. */
    outOfResources?: string;
  }
}

/** Every error leaves as `{status, error}`. */
@Catch()
export class ErrorFilter implements ExceptionFilter {
  private readonly logger = new Logger('Request');
  /** By the kind of the rejection. */
  private readonly lastLoggedAt = new Map<string, number>();

  async catch(error: unknown, host: ArgumentsHost): Promise<void> {
    const http = host.switchToHttp();
    const request = http.getRequest<Request>();
    const response = http.getResponse<Response>();
    const isUnread = !request.complete && !response.headersSent && !response.shouldKeepAlive;
    // Closing the connection of a client that still sends would reset it, and lose the response.
    if (isUnread) await discardBody(request);
    // It was refused meanwhile, because its body was broken or did not arrive.
    if (response.writableEnded) return;
    const status = httpStatusOf(error, request.method);
    if (status === 503 && !(error instanceof HttpException)) this.logRefusal(request, error);
    else if (status >= 500 && status !== 503) this.logger.error({ requestId: request.id, ...describe(error) });
    if (response.headersSent) {
      response.destroy();
      return;
    }
    if (isOutOfResources(error)) response.locals.outOfResources = sqlState(error);
    const isRunning = error instanceof IdempotencyConflict && error.isRunning;
    if (status === 503 || isRunning) response.setHeader('Retry-After', '1');
    if (error instanceof InvalidRequest) nameFault(response, error.fault);
    const isExplained = [InvalidField, IdempotencyConflict, NotReplayable].some((type) => error instanceof type);
    const text = isExplained ? (error as Error).message : errorText(status);
    response.status(status).setHeader('Content-Type', JSON_TYPE);
    response.send(JSON.stringify(errorBody(status, text)));
  }

  private logRefusal({ id: requestId }: Request, error: unknown): void {
    const now = performance.now();
    // A full disk must not go unseen behind requests that wait for a lock.
    const kind = isOutOfResources(error) ? 'resources' : 'load';
    if (now - (this.lastLoggedAt.get(kind) ?? -Infinity) < LOG_INTERVAL_MS) return;
    this.lastLoggedAt.set(kind, now);
    this.logger.warn({ requestId, ...describe(error) });
  }
}

function httpStatusOf(error: unknown, method: string): number {
  if (error instanceof HttpException) return error.getStatus();
  if (error instanceof RowNotFound) return 404;
  if (error instanceof AnswerTooLarge) return 413;
  if (error instanceof IdempotencyConflict) return error.isRunning ? 409 : 422;
  if (isBadInput(error)) return 400;
  // Nothing was changed, and the same request may succeed soon.
  if (isOverload(error) || isUnreachable(error)) return 503;
  // A write whose connection was lost may be stored or not.
  return isConnectionFault(error) && SAFE_METHODS.includes(method) ? 503 : 500;
}

/**
 * What the log may hold of an error. A message of the database can quote the row at fault, which is personal data: of such
 * an error only codes and names are kept, and where it was thrown.
 */
function describe(error: unknown): Record<string, unknown> {
  if (!(error instanceof Error)) return { error: typeof error };
  const frames = error.stack?.split('\n').filter((line) => /^\s+at /.test(line));
  const { driverError } = error as { driverError?: unknown };
  const state = sqlState(error);
  if (!driverError && !state) return { error: error.constructor.name, message: error.message, frames };
  const { constraint, table, column, routine } = (driverError ?? error) as Record<string, unknown>;
  // Class 42 is a fault of the statement: its message names tables and columns, and quotes no value.
  const isHarmless = isOutOfResources(error) || SCHEMA_FAULTS.includes(state ?? '');
  const message = isHarmless ? causeOf(error).message : undefined;
  return { error: error.constructor.name, sqlState: state, message, constraint, table, column, routine, frames };
}
