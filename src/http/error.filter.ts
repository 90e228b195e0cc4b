import { ArgumentsHost, Catch, ExceptionFilter, HttpException, Logger } from '@nestjs/common';
import type { Request, Response } from 'express';
import { isBadInput, LOCK_NOT_AVAILABLE, QUERY_CANCELED, sqlState } from '../database/errors';
import { Overloaded } from '../database/turns';
import { errorBody, ErrorInWords, errorText, JSON_TYPE } from './errors';

/** Milliseconds in which the log is told of refusals once: it must not grow with them. */
const TOLD_EVERY = 10_000;

/** Every error of every origin leaves as `{status, error}`. */
@Catch()
export class ErrorFilter implements ExceptionFilter {
  private readonly logger = new Logger('Request');
  private told = -Infinity;

  catch(error: unknown, host: ArgumentsHost): void {
    const http = host.switchToHttp();
    const request = http.getRequest<Request>();
    const response = http.getResponse<Response>();
    // It was refused meanwhile, because its body turned out to be broken or did not come.
    if (response.writableEnded) return;
    const status = statusOf(error);
    if (isRefusal(error)) this.tell(request, error);
    else if (status >= 500 && status !== 503) this.logger.error({ requestId: request.id, ...describe(error) });
    if (response.headersSent) {
      response.destroy();
      return;
    }
    const text = error instanceof ErrorInWords ? error.message : errorText(status);
    if (status === 503) response.setHeader('Retry-After', '1');
    response.status(status).setHeader('Content-Type', JSON_TYPE);
    response.send(JSON.stringify(errorBody(status, text)));
  }

  private tell({ id: requestId }: Request, error: unknown): void {
    const now = performance.now();
    if (now - this.told < TOLD_EVERY) return;
    this.told = now;
    this.logger.warn({ requestId, ...describe(error) });
  }
}

/** Not done, because others do so much, or hold what it needs. Nothing is wrong with the request or the server. */
const isRefusal = (error: unknown): boolean =>
  error instanceof Overloaded || [LOCK_NOT_AVAILABLE, QUERY_CANCELED].includes(sqlState(error) ?? '');

function statusOf(error: unknown): number {
  if (error instanceof HttpException) return error.getStatus();
  if (isRefusal(error)) return 503;
  return isBadInput(error) ? 400 : 500;
}

/**
 * What the log may hold of an error. A database's message can quote the row at fault, which is somebody's personal
 * data: of such an error only codes and names are kept, and where it was thrown.
 */
function describe(error: unknown): Record<string, unknown> {
  if (!(error instanceof Error)) return { error: typeof error };
  const frames = error.stack?.split('\n').filter((line) => /^\s+at /.test(line));
  const { driverError } = error as { driverError?: unknown };
  const state = sqlState(error);
  if (!driverError && !state) return { error: error.name, message: error.message, frames };
  const { constraint, table, routine } = (driverError ?? error) as Record<string, unknown>;
  return { error: error.name, sqlState: state, constraint, table, routine, frames };
}
