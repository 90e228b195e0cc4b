const WHITE_SPACE = /[\t\n\r ]*/y;
/** A string up to its closing quotation mark, or up to the first byte that a string cannot have. */
// eslint-disable-next-line no-control-regex -- JSON forbids these characters in strings.
const OPEN_STRING = /"(?:[^"\\\x00-\x1f]|\\(?:["\\/bfnrt]|u[\da-fA-F]{4}))*/y;
const LITERALS = ['true', 'false', 'null'];
/** A number up to the first byte that it cannot have. It is complete if it ends with a digit. */
const OPEN_NUMBER = /-?(?:(?:0|[1-9]\d*)(?:\.(?:\d+(?:[eE][+-]?\d*)?)?|[eE][+-]?\d*)?)?/y;

const BYTE_ORDER_MARK = Buffer.from('\ufeff');

/** Thrown at the first byte that cannot continue the text. */
class Unexpected extends Error {
  constructor(readonly offset: number) {
    super();
  }
}

/**
 * Where text stops being JSON: `JSON.parse` does not say it for every error, and counts UTF-16 units instead of bytes.
 * @returns the zero-based offset in bytes; the length of the text where it ends too early
 */
export function jsonErrorOffset(bytes: Buffer): number {
  const encoded = Buffer.from(bytes.toString());
  const firstBroken = bytes.findIndex((byte, at) => byte !== encoded[at]);
  const end = firstBroken < 0 ? bytes.length : firstBroken;
  // Latin-1 makes one character of each byte.
  const text = bytes.toString('latin1', 0, end);
  const start = bytes.subarray(0, BYTE_ORDER_MARK.length).equals(BYTE_ORDER_MARK) ? BYTE_ORDER_MARK.length : 0;
  return jsonErrorIndex(text, start);
}

/** The index at which a text stops being JSON: its length where it ends too early. */
export function jsonErrorIndex(text: string, start = 0): number {
  try {
    return skip(WHITE_SPACE, text, endOfValue(text, start));
  } catch (error) {
    if (error instanceof Unexpected) return error.offset;
    throw error;
  }
}

/** @returns the end of what a pattern matches at a place, which is the place itself where it matches nothing */
function skip(pattern: RegExp, text: string, at: number): number {
  pattern.lastIndex = at;
  return pattern.test(text) ? pattern.lastIndex : at;
}

/** The nesting of a body is limited before, when its values are counted. */
function endOfValue(text: string, start: number): number {
  const at = skip(WHITE_SPACE, text, start);
  if (text[at] === '{') return endOfList(text, at, '}', endOfMember);
  if (text[at] === '[') return endOfList(text, at, ']', endOfValue);
  if (text[at] === '"') return endOfString(text, at);
  const literal = LITERALS.find(([first]) => first === text[at]);
  if (literal) return [...literal].reduce((place, character) => expect(character, text, place), at);
  const endOfNumber = skip(OPEN_NUMBER, text, at);
  if (endOfNumber === at || !/\d/.test(text.charAt(endOfNumber - 1))) throw new Unexpected(endOfNumber);
  return endOfNumber;
}

/** @returns the end of an array or object, whose entries are separated by commas */
function endOfList(text: string, open: number, close: string, endOfEntry: typeof endOfValue): number {
  let at = skip(WHITE_SPACE, text, open + 1);
  if (text[at] === close) return at + 1;
  for (;;) {
    at = skip(WHITE_SPACE, text, endOfEntry(text, at));
    if (text[at] === close) return at + 1;
    at = expect(',', text, at);
  }
}

function endOfMember(text: string, start: number): number {
  const nameEnd = endOfString(text, skip(WHITE_SPACE, text, start));
  return endOfValue(text, expect(':', text, skip(WHITE_SPACE, text, nameEnd)));
}

const endOfString = (text: string, at: number): number => expect('"', text, skip(OPEN_STRING, text, at));

/** @returns the place after the character */
function expect(character: string, text: string, at: number): number {
  if (text[at] !== character) throw new Unexpected(at);
  return at + 1;
}
