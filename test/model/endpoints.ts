import type { operations } from '../../clients/typescript/src/schema';
import { ENDPOINTS as DESCRIBED } from '../support/endpoints';

/** The endpoints of openapi.json by their operationId, and of what kind the ids in their paths are. */
export type EndpointName = keyof operations;

export const ENDPOINTS = Object.fromEntries(
  DESCRIBED.map(({ operationId, method, path, slots }) => {
    const ids = slots.flatMap(({ where, kind }) => (where === 'path' ? [kind] : []));
    return [operationId, { method, path, ids }];
  }),
) as Record<EndpointName, { method: string; path: string; ids: string[] }>;

/** What is sent as a body: JSON, or something that is none. */
export type Payload = { json: unknown } | { text: string } | { otherType: unknown };

/** A request as it is sent. */
export interface Call {
  endpoint: EndpointName;
  /** the values of the x-api-key header */
  keys: string[];
  ids: string[];
  query: [name: string, value: string][];
  payload?: Payload;
}

export interface Answer {
  status: number;
  headers: Record<string, string | string[] | undefined>;
  body: unknown;
  /** unix milliseconds at which the request was sent, and at which the answer had come */
  sent: number;
  received: number;
}
