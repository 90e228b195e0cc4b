import { MAX_LENGTH } from '../../api-schema/fields';
import { hasAtMost } from '../../api-schema/text';

/** What a terminal obeys, or orders anew: JSON leaves many of them as they are. */
const UNSEEN = /[\p{Cc}\p{Bidi_Control}\u2028\u2029]/gu;

/** A text that somebody gave, to be shown in one line. */
export const visible = (text: string): string =>
  text.replace(UNSEEN, (sign) => `\\u${sign.charCodeAt(0).toString(16).padStart(4, '0')}`);

/** A name that stands in a file, to be shown: in one line, in quotes, and no longer than names are. */
export function quoted(name: string): string {
  const shown = hasAtMost(name, MAX_LENGTH.name) ? name : `${firstOf(name, MAX_LENGTH.name)}…`;
  return visible(JSON.stringify(shown));
}

const firstOf = (text: string, count: number): string => [...text.slice(0, 2 * count)].slice(0, count).join('');
