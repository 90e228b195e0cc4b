import type { EndpointName, Payload } from './endpoints';
import type { Dataset } from './import';
import type { Reference } from './references';

/** Whose key a request carries. */
type KeyChoice =
  /** that of an organization, which is never revoked */
  | { organization: number }
  /** one of those that were issued and revoked during the run; the newest is 0 */
  | { extra: number }
  /** values of the header, for which no key was issued */
  | { values: string[] };

/** A request, by what it means. */
export interface SymbolicCall {
  endpoint: EndpointName;
  key: KeyChoice;
  ids: Reference[];
  query: [name: string, value: string | Reference][];
  payload?: Payload;
}

/** What the operator does. Organizations and keys are counted as in KeyChoice. */
export type Command =
  | { command: 'createOrganization' }
  | { command: 'issueKey'; organization: number; maxTokens: number; refillRate: number; expired: boolean }
  | { command: 'revokeKey'; key: number }
  | { command: 'import'; organization: number; dataset: Dataset };

/** Requests that are made at once (most often one), or a command. */
export type Step = { calls: SymbolicCall[] } | Command;
