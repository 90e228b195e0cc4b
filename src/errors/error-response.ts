import { type ServerResponse, STATUS_CODES } from 'node:http';

/** The response header that names the part of a request for which it is a 400; the log reads it there. */
export const FAULT_HEADER = 'Lanyard-Fault';

/** Fields of plain Nest modules may have names with characters that a header cannot hold. */
export const setFaultHeader = (response: ServerResponse, fault: string): unknown =>
  response.setHeader(FAULT_HEADER, fault.replace(/[^ -~]+/g, encodeURIComponent));

/** The content type of every response of the API. */
export const JSON_TYPE = 'application/json; charset=utf-8';

/** The name of an HTTP status. */
export const errorText = (status: number): string => STATUS_CODES[status] ?? 'Error';

/** The body of every error. */
export const errorBody = (status: number, error = errorText(status)) => ({ status, error });

/** Sends an error outside Nest. */
export function sendError(response: ServerResponse, status: number, fault?: string): void {
  if (fault !== undefined) setFaultHeader(response, fault);
  const body = JSON.stringify(errorBody(status));
  response.writeHead(status, { 'Content-Type': JSON_TYPE, 'Content-Length': Buffer.byteLength(body) });
  response.end(body);
}
