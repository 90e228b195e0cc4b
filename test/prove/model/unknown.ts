import { description } from '../../support/description';
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
 * @param unknown is given their names
 */
export function knownPart(answer: unknown, expected: unknown, unknown: Set<string>): unknown {
  if (Array.isArray(answer) && Array.isArray(expected)) {
    return answer.map((each, n) => knownPart(each, expected[n], unknown));
  }
  if (!isFields(answer) || !isFields(expected) || Object.keys(expected).length === 0) return answer;
  const isUnknown = (name: string): boolean => !(name in expected) && DESCRIBED.has(name);
  for (const name of Object.keys(answer).filter(isUnknown)) unknown.add(name);
  const known = Object.entries(answer).filter(([name]) => !isUnknown(name));
  return Object.fromEntries(known.map(([name, value]) => [name, knownPart(value, expected[name], unknown)]));
}

/** One phrase, or nothing when the model knows all. */
export function unknownTo(operations: string[], fields: string[]): string {
  const said = [
    ...(operations.length > 0 ? [`${operations.length} operations (${operations.join(', ')})`] : []),
    ...(fields.length > 0
      ? [`${fields.length} ${fields.length === 1 ? 'field' : 'fields'} (${fields.join(', ')})`]
      : []),
  ];
  return said.length > 0 ? `the model does not know ${said.join(' and ')}` : '';
}
