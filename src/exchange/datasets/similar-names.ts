import { MAX_LENGTH } from '../../fields/fields';

/**
 * The letters and digits of a name in lower case, so that `First name` equals `firstName`. A name without any stays as it
 * is, and so does one that is longer than the name of any field, because `normalize()` takes quadratic time over a run of
 * combining marks.
 */
export function normalizedName(name: string): string {
  if (name.length > MAX_LENGTH.name) return name.trim();
  const lowerCase = name.normalize('NFKD').toLowerCase();
  return lowerCase.replace(/[^\p{L}\p{N}]/gu, '') || name.trim();
}

/** The words of a text in lower case. */
export const wordsOf = (text: string): string[] => text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [];

/** Whether two names differ by one letter that was added, removed or replaced, or by two neighbors that were swapped. */
export function isTypingError(name: string, other: string): boolean {
  let [one, two] = [name, other];
  while (one !== '' && one[0] === two[0]) [one, two] = [one.slice(1), two.slice(1)];
  while (one !== '' && one.at(-1) === two.at(-1)) [one, two] = [one.slice(0, -1), two.slice(0, -1)];
  const areSwapped = one.length === 2 && two.length === 2 && one === `${two[1]}${two[0]}`;
  return areSwapped || (one.length < 2 && two.length < 2);
}
