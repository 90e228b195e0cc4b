/** Characters that cannot be seen, control a terminal or reorder its text. JSON leaves many of them unescaped. */
const INVISIBLE = /(?! )[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Zs}]/gu;

const escapeCodeUnit = (unit: string): string => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`;

/** Escapes invisible characters, so that text from elsewhere is safe to print on one line. */
export const escapeInvisible = (text: string): string =>
  text.replace(INVISIBLE, (character) => character.split('').map(escapeCodeUnit).join(''));
