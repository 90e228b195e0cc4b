import { BadRequestException, PayloadTooLargeException } from '@nestjs/common';

/** Values in a body: objects, arrays, strings, numbers and literals, at any depth. */
const MAX_VALUES = 20_000;
/** Deeper nesting could exhaust the stack of code that walks a body. */
const MAX_DEPTH = 32;

const [QUOTE, BACKSLASH, COMMA, OPEN_ARRAY, CLOSE_ARRAY, OPEN_OBJECT, CLOSE_OBJECT] = Buffer.from('"\\,[]{}');

/**
 * Counts the values of JSON in its bytes, before anything is built of them: 1 KiB of gzip can hold 500,000 values, which
 * take a hundred times the memory of their text.
 */
export class ValueCounter {
  values = 1;
  private depth = 0;
  private isInString = false;
  private isEscaped = false;
  /** right after the opening of an array or object, which may hold nothing */
  private isFirst = false;

  /**
   * @param bytes the next part of the text
   * @throws PayloadTooLargeException above 20,000 values, BadRequestException below 32 levels
   */
  add(bytes: Buffer): void {
    for (const byte of bytes) {
      if (this.isInString) this.addToString(byte);
      else this.addOutside(byte);
    }
  }

  private addToString(byte: number): void {
    if (this.isEscaped) this.isEscaped = false;
    else if (byte === BACKSLASH) this.isEscaped = true;
    else if (byte === QUOTE) this.isInString = false;
  }

  private addOutside(byte: number): void {
    if (byte <= 0x20) return; // white space
    const isClosing = byte === CLOSE_ARRAY || byte === CLOSE_OBJECT;
    if (byte === COMMA || (this.isFirst && !isClosing)) this.count();
    this.isFirst = byte === OPEN_ARRAY || byte === OPEN_OBJECT;
    if (this.isFirst && ++this.depth > MAX_DEPTH) throw new BadRequestException();
    if (isClosing) this.depth--;
    this.isInString = byte === QUOTE;
  }

  private count(): void {
    if (++this.values > MAX_VALUES) throw new PayloadTooLargeException();
  }
}
