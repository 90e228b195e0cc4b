import { MAX_LENGTH } from '../api-schema/fields';

/** Characters that control a terminal or reorder its text; JSON leaves many of them unescaped. */
const CONTROLS = /[\p{Cc}\p{Bidi_Control}\u2028\u2029]/gu;

/** Foreign text, safe to show in one line. */
export const visible = (text: string): string =>
  text.replace(CONTROLS, (sign) => `\\u${sign.charCodeAt(0).toString(16).padStart(4, '0')}`);

/** A name from a file, safe to show: one line, in quotes, cut to the length that names have. */
export const quoted = (name: string): string => visible(JSON.stringify(name.slice(0, MAX_LENGTH.name)));
