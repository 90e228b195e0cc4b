import { field } from '../api/field-rules';
import { QueryOneOf, QueryText } from '../api/parameters';
import { parseDecimal } from '../api/text';
import { MAX_CURSOR } from './cursor';
import { MAX_CHANGES } from './changes.sql';
import { areFollowed, FOLLOWED_NAMES } from './followed';

export const DEFAULT_CHANGES = 100;

/** A parameter that is sent twice names nothing. */
const namesOf = (value: unknown): string[] | null => (typeof value === 'string' ? value.split(',') : null);

export class ChangesQuery {
  @QueryText('Where the last page ended. Without it the first reading begins.', { max: MAX_CURSOR, blank: false })
  cursor?: string;

  @QueryOneOf(['now'], 'ChangesSince', 'Skips the first reading. Not together with `cursor`.')
  since?: 'now';

  @field(
    {
      schema: { type: 'string', maxLength: FOLLOWED_NAMES.join().length },
      check: (value) => Array.isArray(value) && areFollowed(value as string[]),
      convert: namesOf,
    },
    {
      optional: true,
      description:
        `Resources to follow, separated by commas: ${FOLLOWED_NAMES.map((name) => `\`${name}\``).join(', ')}. All of ` +
        'them by default. A cursor goes on with those that it began with; others beside it are a fault.',
    },
  )
  resources?: string[];

  @field(
    {
      schema: { type: 'integer', minimum: 1, default: DEFAULT_CHANGES },
      check: (value) => (value as number) >= 1,
      convert: (value) => Math.min(parseDecimal(value), MAX_CHANGES),
    },
    { optional: true, description: `Changes a page. Values above ${MAX_CHANGES} count as ${MAX_CHANGES}.` },
  )
  limit: number = DEFAULT_CHANGES;
}
