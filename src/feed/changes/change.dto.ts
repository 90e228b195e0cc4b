import { field } from '../../fields/field-rules';
import { PageSize } from '../../fields/page-query';
import { QueryOneOf, QueryText } from '../../fields/parameters';
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
    { schema: { type: 'string' }, check: (names) => (Array.isArray(names) ? undefined : 'type'), convert: splitNames },
    { optional: true, description: resourcesDescription() },
  )
  resources?: string[];

  @PageSize(DEFAULT_CHANGES, MAX_CHANGES, 'Changes per page.')
  limit: number = DEFAULT_CHANGES;
}
