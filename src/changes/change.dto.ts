import { field } from '../fields/field-rules';
import { QueryOneOf, QueryText } from '../fields/parameters';
import { parseDecimal } from '../fields/text';
import { MAX_CHANGES } from './changes.sql';
import { MAX_CURSOR_LENGTH } from './cursor';

export const DEFAULT_CHANGES = 100;

/** A parameter that is sent twice arrives as an array, and is invalid. */
const splitNames = (value: unknown): string[] | null => (typeof value === 'string' ? value.split(',') : null);

/** @param names the resources of this server, which are known when it describes itself */
export const resourcesDescription = (names: readonly string[] = []): string => {
  const list = names.map((name) => `\`${name}\``).join(', ');
  return (
    `Resources to follow, separated by commas${list && `: ${list}`}. All of them by default. A cursor keeps the ` +
    'resources it was created with; passing different ones is an error.'
  );
};

export class ChangesQuery {
  @QueryText('The `cursor` of the previous page. Without it, a snapshot begins.', {
    max: MAX_CURSOR_LENGTH,
    blank: false,
  })
  cursor?: string;

  @QueryOneOf(['now'], 'ChangesSince', 'Skips the snapshot. Cannot be combined with `cursor`.')
  since?: 'now';

  /** The service checks the names, because it knows the resources of this server. */
  @field(
    { schema: { type: 'string' }, check: Array.isArray, convert: splitNames },
    { optional: true, description: resourcesDescription() },
  )
  resources?: string[];

  @field(
    {
      schema: { type: 'integer', minimum: 1, default: DEFAULT_CHANGES },
      check: (value) => (value as number) >= 1,
      convert: (value) => Math.min(parseDecimal(value), MAX_CHANGES),
    },
    { optional: true, description: `Changes per page. Values above ${MAX_CHANGES} count as ${MAX_CHANGES}.` },
  )
  limit: number = DEFAULT_CHANGES;
}
