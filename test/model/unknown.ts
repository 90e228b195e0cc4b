import { description } from '../support/description';
import type { Fields } from './records';

/** What openapi.json has and the model does not know: of other resources, and newer than the model. */

const { schemas } = description.components;
const DESCRIBED = new Set(Object.values(schemas).flatMap(({ properties }) => Object.keys(properties ?? {})));
/** Of the envelope, which the model knows. */
for (const name of ['status', 'error', 'pagination', 'results', 'total']) DESCRIBED.delete(name);

const isFields = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/**
 * An answer without the fields that openapi.json describes and the model's records lack: the suites compare these with
 * their description.
 */
export function knownPart(answer: unknown, expected: unknown): unknown {
  if (Array.isArray(answer) && Array.isArray(expected)) {
    return answer.map((each, n) => knownPart(each, expected[n]));
  }
  if (!isFields(answer) || !isFields(expected) || Object.keys(expected).length === 0) return answer;
  const isUnknown = (name: string): boolean => !(name in expected) && DESCRIBED.has(name);
  const known = Object.entries(answer).filter(([name]) => !isUnknown(name));
  return Object.fromEntries(known.map(([name, value]) => [name, knownPart(value, expected[name])]));
}
