import { PayloadTooLargeException } from '@nestjs/common';
import { InvalidRequest } from '../../errors/exceptions';

/** Values in a body: objects, arrays, strings, numbers and literals, at any depth. */
const MAX_VALUES = 20_000;
/** Deeper nesting could exhaust the stack of code that walks a body. */
const MAX_DEPTH = 32;

const [QUOTE, BACKSLASH, COMMA, OPEN_ARRAY, CLOSE_ARRAY, OPEN_OBJECT, CLOSE_OBJECT] = Buffer.from('"\\,[]{}');

/**
 * Counts the values of JSON in its bytes, before anything is built of them: 1 KiB of gzip can hold 500,000 values, which
 * take a hundred times the memory of their text.
 * @throws PayloadTooLargeException above 20,000 values, InvalidRequest below 32 levels
 */
export function countValues(json: Buffer): number {
  let values = 1;
  let depth = 0;
  /** The state right after the start of an array or object, which may be empty. */
  let isFirst = false;
  for (let at = 0; at < json.length; at++) {
    const byte = json[at] as number;
    if (byte <= 0x20) continue; // white space
    const isClosing = byte === CLOSE_ARRAY || byte === CLOSE_OBJECT;
    if ((byte === COMMA || (isFirst && !isClosing)) && ++values > MAX_VALUES) throw new PayloadTooLargeException();
    isFirst = byte === OPEN_ARRAY || byte === OPEN_OBJECT;
    if (isFirst && ++depth > MAX_DEPTH) throw new InvalidRequest('body', 'range');
    if (isClosing) depth--;
    if (byte === QUOTE) at = endOfString(json, at);
  }
  return values;
}

/** @returns where the string that begins at `start` ends */
function endOfString(json: Buffer, start: number): number {
  let at = start + 1;
  while (at < json.length && json[at] !== QUOTE) at += json[at] === BACKSLASH ? 2 : 1;
  return at;
}
