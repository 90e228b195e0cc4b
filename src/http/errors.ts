import { type ServerResponse, STATUS_CODES } from 'node:http';
import { HttpException } from '@nestjs/common';

/** An error that tells the client more than its status does. */
export class ErrorInWords extends HttpException {
  constructor(status: number, text: string) {
    super(text, status);
  }
}

/** 400 that names the field of the body at fault, a nested one by its path: `phoneNumbers[0].type`. */
export class InvalidField extends ErrorInWords {
  constructor(path: string) {
    super(400, `Missing or invalid '${path}'`);
  }
}

/** The content type of every answer of the API. */
export const JSON_TYPE = 'application/json; charset=utf-8';

/** The text of an error that needs no words of its own: the name of its HTTP status. */
export const errorText = (status: number): string => STATUS_CODES[status] ?? 'Error';

/** The one form of every error. */
export const errorBody = (status: number, error = errorText(status)) => ({ status, error });

/** Answers a request of which nothing more is read: its connection is closed. */
export function refuse(response: ServerResponse, status: number): void {
  const body = JSON.stringify(errorBody(status));
  response.writeHead(status, {
    'Content-Type': JSON_TYPE,
    'Content-Length': Buffer.byteLength(body),
    Connection: 'close',
  });
  response.end(body);
}
