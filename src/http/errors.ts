import { type ServerResponse, STATUS_CODES } from 'node:http';
import { BadRequestException } from '@nestjs/common';

/** 400 that names the invalid field of the body by its path, such as `phoneNumbers[0].type`. */
export class InvalidField extends BadRequestException {
  constructor(path: string) {
    super(`Missing or invalid '${path}'`);
  }
}

/** The content type of every response of the API. */
export const JSON_TYPE = 'application/json; charset=utf-8';

/** The name of an HTTP status. */
export const errorText = (status: number): string => STATUS_CODES[status] ?? 'Error';

/** The body of every error. */
export const errorBody = (status: number, error = errorText(status)) => ({ status, error });

/** Answers a request outside Nest. */
export function refuse(response: ServerResponse, status: number): void {
  const body = JSON.stringify(errorBody(status));
  response.writeHead(status, { 'Content-Type': JSON_TYPE, 'Content-Length': Buffer.byteLength(body) });
  response.end(body);
}
