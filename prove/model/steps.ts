import type { EndpointName, Payload } from './endpoints';
import type { Dataset } from './import';
import type { Reference } from './references';

/** Whose key a request carries. */
export type KeyChoice =
  /** the key of an organization, which is never taken away */
  | { organization: number }
  /** one of the keys that were issued, limited, rotated and revoked during the run; the newest is 0 */
  | { extra: number }
  /** values of the header as they are, for which no key was issued; none is a header that is missing */
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
  | { command: 'setLimits'; key: number; maxTokens: number }
  | { command: 'rotateKey'; key: number; overlap: number }
  | { command: 'revokeKey'; key: number }
  | { command: 'import'; organization: number; dataset: Dataset }
  | { command: 'exportAndImport'; organization: number };

/** A step of a run: requests that are made at once (most often one), or a command. */
export type Step = { calls: SymbolicCall[] } | Command;

/** How many operations a step counts for. */
export const operationsOf = (step: Step): number => ('calls' in step ? step.calls.length : 1);
