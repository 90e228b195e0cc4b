import { type ArgumentsHost, Catch, type ExceptionFilter, HttpException, Logger, Optional } from '@nestjs/common';
import type { Request, Response } from 'express';
import { DatabaseError } from 'pg';
import { BrokenConstraints } from '../../data/database/broken-constraints';
import {
  hasSqlState,
  isConnectionError,
  isOutOfResources,
  isUnreachable,
  loggableMessage,
  sqlState,
} from '../../data/database/errors';
import { ERROR_ROWS, type ErrorRow, ERRORS } from '../../errors/error-table';
import { MissingApiKey, RowNotFound, TransactionRolledBack } from '../../errors/exceptions';
import { type Fault, isFault } from '../../errors/faults';
import { errorBody, errorText, JSON_TYPE, setFaultHeaders } from '../../errors/error-response';
import { discardBody } from '../server/request';
import { exceptionText } from './exception-text';

/** Rejections of one kind are logged once in this time, so that the log does not grow with them. */
const LOG_INTERVAL_MS = 10_000;

/** A 401 must have a challenge (RFC 9110), and no registered scheme has a header of its own. */
export const CHALLENGE = 'ApiKey realm="Lanyard", header="x-api-key"';

const SAFE_METHODS = ['GET', 'HEAD', 'OPTIONS'];

declare global {
  namespace Express {
    interface Locals {
      /** The SQLSTATE of class 53 for which a request was rejected: metrics read it here. */
      outOfResources?: string;
      /** The text that a module gave its exception: the log has it. */
      error?: string;
    }
  }
}

/** Every error leaves as `{status, error}`, as the table of errors says. */
@Catch()
export class ErrorFilter implements ExceptionFilter {
  private readonly logger = new Logger('Request');
  /** By the kind of the rejection. */
  private readonly lastLoggedAt = new Map<string, number>();

  constructor(@Optional() private readonly constraints?: BrokenConstraints) {}

  async catch(error: unknown, host: ArgumentsHost): Promise<unknown> {
    if (host.getType() !== 'http') return this.errorOutsideHttp(error);
    return this.sendError(error, host);
  }

  /** The error of a resolver or a gateway, which its library sends. It says no more than a response of the API would. */
  private errorOutsideHttp(error: unknown): HttpException {
    const { status, sendsMessage, text = errorText(status) } = findRow(error, { method: '', originalUrl: '' });
    if (status >= 500) this.logger.error(describeException(error));
    return new HttpException(sendsMessage ? (error as Error).message : text, status);
  }

  private async sendError(thrown: unknown, host: ArgumentsHost): Promise<void> {
    const http = host.switchToHttp();
    const request = http.getRequest<Request>();
    const response = http.getResponse<Response>();
    const isConstraint = this.constraints?.isBroken(thrown);
    const error = isConstraint ? await this.constraints?.explain(thrown, request.body) : thrown;
    // The response does not name the constraint.
    if (isConstraint) response.locals.error = loggableMessage(thrown);
    const isUnread = !request.complete && !response.headersSent && !response.shouldKeepAlive;
    // Closing the connection of a client that still sends would reset it, and lose the response.
    if (isUnread) await discardBody(request);
    // It was refused meanwhile, because its body was broken or did not arrive.
    if (response.writableEnded) return;
    const { status, retryAfter, ...row } = findRow(error, request);
    if (status === 503 && !(error instanceof HttpException)) this.logRefusal(request, error);
    else if (status >= 500 && status !== 503) this.logger.error({ requestId: request.id, ...describeException(error) });
    if (response.headersSent) {
      response.destroy();
      return;
    }
    if (isOutOfResources(error)) response.locals.outOfResources = sqlState(error);
    if (typeof retryAfter === 'number') response.setHeader('Retry-After', String(retryAfter));
    if (error instanceof MissingApiKey) response.setHeader('WWW-Authenticate', CHALLENGE);
    const fault = faultOf(error, request);
    if (fault) setFaultHeaders(response, fault);
    const text = row.sendsMessage ? (error as Error).message : (row.text ?? errorText(status));
    if (row.isFromModule) response.locals.error = text;
    response.status(status).setHeader('Content-Type', JSON_TYPE);
    response.send(JSON.stringify(errorBody(status, text)));
  }

  private logRefusal({ id: requestId }: Request, error: unknown): void {
    const now = performance.now();
    // A full disk must not go unseen behind requests that wait for a lock.
    const kind = isOutOfResources(error) ? 'resources' : 'load';
    if (now - (this.lastLoggedAt.get(kind) ?? -Infinity) < LOG_INTERVAL_MS) return;
    this.lastLoggedAt.set(kind, now);
    this.logger.warn({ requestId, ...describeException(error) });
  }
}

/** The part of the request that an error is about, where it is about one. */
function faultOf(error: unknown, request: Request): Fault | undefined {
  if (error instanceof RowNotFound) {
    const parameter = Object.keys(request.params).at(-1);
    const fault = error.fault ?? (parameter && `path ${parameter}`);
    return fault === undefined ? undefined : { fault, reason: error.reason };
  }
  if (!isFault(error)) return undefined;
  // The field is there, but in a body that was not read.
  const isOfIgnoredBody = request.hasIgnoredBody && error.fault.startsWith('body');
  return isOfIgnoredBody ? { fault: 'header Content-Type', reason: 'unsupported' } : error;
}

/** How an error is sent. */
interface SentError extends ErrorRow {
  /** Whether the text is that of a module's exception. */
  isFromModule?: boolean;
}

/**
 * The row of the table for an error. An exception of Nest without a row is sent with its own status and, below 500, with the
 * text that its module gave it.
 */
function findRow(error: unknown, { method, originalUrl }: Pick<Request, 'method' | 'originalUrl'>): SentError {
  const row = ERROR_ROWS.find(({ type, sqlStates = [] }) => {
    return (type !== undefined && error instanceof type) || hasSqlState(error, sqlStates);
  });
  if (row) return row;
  if (error instanceof HttpException) {
    const status = error.getStatus();
    const found = ERROR_ROWS.find((each) => each.status === status && !each.type && !each.sqlStates) ?? { status };
    const text = status < 500 ? exceptionText(error) : undefined;
    // Nest's own exception for an unknown path repeats the path.
    if (text === undefined || text === `Cannot ${method} ${originalUrl}`) return found;
    return { ...found, text, isFromModule: true };
  }
  // A write whose connection was lost may be stored or not.
  const isUnchanged = isUnreachable(error) || (isConnectionError(error) && SAFE_METHODS.includes(method));
  return isUnchanged ? ERRORS.databaseUnreachable : ERRORS.serverError;
}

/**
 * What the log may hold of an error. A message of the database can quote the row at fault, which is personal data: of such
 * an error only codes and names are kept, and where it was thrown.
 */
export function describeException(error: unknown): Record<string, unknown> {
  if (!(error instanceof Error)) return { error: typeof error };
  const frames = error.stack?.split('\n').filter((line) => /^\s+at /.test(line));
  // A module may have a connection to another database, whose errors can quote a row as well.
  const databaseError = error instanceof DatabaseError ? error : (error as { driverError?: unknown }).driverError;
  const state = sqlState(error);
  if (error instanceof TransactionRolledBack) {
    return { error: error.constructor.name, message: error.message, frames, cause: describeException(error.cause) };
  }
  if (!databaseError) return { error: error.constructor.name, message: error.message, frames };
  const { constraint, table, column, routine } = databaseError as Record<string, unknown>;
  const message = loggableMessage(error);
  return { error: error.constructor.name, sqlState: state, message, constraint, table, column, routine, frames };
}
