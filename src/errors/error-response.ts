import { type ServerResponse, STATUS_CODES } from 'node:http';
import type { Fault } from './faults';

/** The response header that names the part of a request for which it was rejected. The log reads it there. */
export const FAULT_HEADER = 'Lanyard-Fault';
/** The response header with the reason, one word of a closed list. The log reads it there. */
export const FAULT_REASON_HEADER = 'Lanyard-Fault-Reason';
/** The response header that says where to look. */
export const FAULT_DETAIL_HEADER = 'Lanyard-Fault-Detail';

/** Fields of plain Nest modules may have names with characters that a header cannot hold. */
const toHeaderText = (text: string): string => text.replace(/[^ -~]+/g, encodeURIComponent);

export function setFaultHeaders(response: ServerResponse, { fault, reason, detail }: Fault): void {
  response.setHeader(FAULT_HEADER, toHeaderText(fault));
  response.setHeader(FAULT_REASON_HEADER, reason);
  if (detail !== undefined) response.setHeader(FAULT_DETAIL_HEADER, toHeaderText(detail));
}

/** The content type of every response of the API. */
export const JSON_TYPE = 'application/json; charset=utf-8';

/** The name of an HTTP status. */
export const errorText = (status: number): string => STATUS_CODES[status] ?? 'Error';

/** The body of every error. */
export const errorBody = (status: number, error = errorText(status)) => ({ status, error });

/** Sends an error outside Nest. */
export function sendError(response: ServerResponse, status: number, fault?: Fault): void {
  if (fault) setFaultHeaders(response, fault);
  const body = JSON.stringify(errorBody(status));
  response.writeHead(status, { 'Content-Type': JSON_TYPE, 'Content-Length': Buffer.byteLength(body) });
  response.end(body);
}
