import { type ServerResponse, STATUS_CODES } from 'node:http';
import { BadRequestException } from '@nestjs/common';

/** 400 for one part of a request. */
export class InvalidRequest extends BadRequestException {
  /**
   * @param fault names the part for the log and for `Lanyard-Fault`: `query limit`, `path leadId`, `header Host`, `body`. It
   * never holds a value, which may be personal data.
   */
  constructor(
    readonly fault: string,
    message?: string,
  ) {
    super(message);
  }
}

/** 400 that names the invalid field of the body by its path, such as `phoneNumbers[0].type`, in its text too. */
export class InvalidField extends InvalidRequest {
  constructor(path: string, fault = `body ${path}`) {
    super(fault, `Missing or invalid '${path}'`);
  }
}

/** 400 for an Idempotency-Key where the response cannot be stored, and so not be given again. */
export class NotReplayable extends InvalidRequest {
  constructor() {
    super('header Idempotency-Key', NotReplayable.MESSAGE);
  }

  static readonly MESSAGE = 'The response of this route cannot be replayed: send the request without Idempotency-Key';
}

/** The response header that names the part of a request for which it is a 400; the log reads it there. */
export const FAULT = 'Lanyard-Fault';

/** Names of fields of plain Nest modules may have letters that a header has not. */
export const nameFault = (response: ServerResponse, fault: string): unknown =>
  response.setHeader(FAULT, fault.replace(/[^ -~]+/g, encodeURIComponent));

/** The content type of every response of the API. */
export const JSON_TYPE = 'application/json; charset=utf-8';

/** The name of an HTTP status. */
export const errorText = (status: number): string => STATUS_CODES[status] ?? 'Error';

/** The body of every error. */
export const errorBody = (status: number, error = errorText(status)) => ({ status, error });

/** Answers a request outside Nest. */
export function refuse(response: ServerResponse, status: number, fault?: string): void {
  if (fault !== undefined) nameFault(response, fault);
  const body = JSON.stringify(errorBody(status));
  response.writeHead(status, { 'Content-Type': JSON_TYPE, 'Content-Length': Buffer.byteLength(body) });
  response.end(body);
}
