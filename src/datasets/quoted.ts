import { MAX_LENGTH } from '../api/fields';

/** Characters that cannot be seen, control a terminal or reorder its text; JSON leaves many of them unescaped. */
const INVISIBLE = /(?! )[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Zs}]/gu;

/** Foreign text, safe to show in one line. */
export const visible = (text: string): string =>
  text.replace(INVISIBLE, (sign) =>
    [...Array(sign.length).keys()].map((at) => `\\u${sign.charCodeAt(at).toString(16).padStart(4, '0')}`).join(''),
  );

/** A name from a file, safe to show: one line, in quotes, cut to the length that names have. */
export const quoted = (name: string): string => visible(JSON.stringify(name.slice(0, MAX_LENGTH.name)));

/** Characters of a value that a message has room for. */
const MAX_SHOWN = 60;

/** A value from a file, safe to show, in quotes where it is a text. */
export function shortened(value: unknown): string {
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  const characters = [...text.slice(0, 2 * MAX_SHOWN + 2)];
  const cut = characters.length > MAX_SHOWN ? `${characters.slice(0, MAX_SHOWN).join('')}…` : text;
  return visible(typeof value === 'string' ? JSON.stringify(cut) : cut);
}
