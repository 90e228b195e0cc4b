import { MAX_LENGTH } from '../../api-schema/fields';

/** Characters that control a terminal or reorder its text; JSON leaves many of them unescaped. */
const CONTROLS = /[\p{Cc}\p{Bidi_Control}\u2028\u2029]/gu;

/** Foreign text, safe to show in one line. */
export const visible = (text: string): string =>
  text.replace(CONTROLS, (sign) => `\\u${sign.charCodeAt(0).toString(16).padStart(4, '0')}`);

/** A name from a file, safe to show: one line, in quotes, no longer than names are. */
export function quoted(name: string): string {
  const characters = [...name.slice(0, 2 * MAX_LENGTH.name + 2)];
  const isLong = characters.length > MAX_LENGTH.name;
  return visible(JSON.stringify(isLong ? `${characters.slice(0, MAX_LENGTH.name).join('')}…` : name));
}
