import { MAX_LENGTH } from '../../fields/fields';
import { escapeInvisible } from '../../fields/invisible';

/** A name from a file in quotes, safe to print, and cut to the length that names may have. */
export const quote = (name: string): string => escapeInvisible(JSON.stringify(name.slice(0, MAX_LENGTH.name)));

/** How many characters of a value a message shows. */
const MAX_SHOWN = 60;

/** A value from a file, safe to print, in quotes if it is a text. */
export function quoteShortened(value: unknown): string {
  const text = typeof value === 'string' ? value : JSON.stringify(value ?? null);
  // A character has at most two code units, so the first ones are enough to cut a long value.
  const characters = [...text.slice(0, 2 * MAX_SHOWN + 2)];
  const shortened = characters.length > MAX_SHOWN ? `${characters.slice(0, MAX_SHOWN).join('')}…` : text;
  return escapeInvisible(typeof value === 'string' ? JSON.stringify(shortened) : shortened);
}
