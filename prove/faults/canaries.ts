import { randomBytes, randomInt } from 'node:crypto';
import { readFileSync } from 'node:fs';

/** Characters that a canary has at least: nothing else in a log looks like it by chance. */
const LENGTH = 20;
const LETTERS = 'bcdfghjkmnpqrstvwxz';

/**
 * What stands in every value that a fault's load sends. All of one run hold the same word, or the same digits, so that
 * one search finds each of them; letters and digits alone, so that they look alike in JSON, in a URL and in SQL.
 */
export class Canaries {
  readonly word = Array.from(randomBytes(LENGTH), (byte) => LETTERS[byte % LETTERS.length]).join('');
  readonly digits = Array.from({ length: LENGTH }, () => randomInt(10)).join('');
  private readonly keys = new Set<string>();
  private count = 0;

  /** A value that nothing else has, with characters that encodings change. */
  text(what = ''): string {
    return `Zoë ${this.marker()} “${what}” 100 % & more`;
  }

  /** A value that nothing else has, in letters and digits. */
  marker(): string {
    return `${this.word}${this.count++}`;
  }

  email(marker = this.marker()): string {
    return `${marker}@example.org`;
  }

  url(marker = this.marker()): string {
    return `https://example.org/${marker}?of=${this.word}`;
  }

  phone(): string {
    return `+${this.digits}${this.count++}`;
  }

  /** An API key of well-formed shape, which nobody issued, or one that somebody did. */
  watch(key: string): string {
    this.keys.add(key);
    return key;
  }

  /** Everything to search for: as sent, and as hexadecimal digits and base64 would show it. */
  private needles(): string[] {
    const secrets = [this.word, this.digits, ...[...this.keys].map((key) => key.replace(/^lan_/, ''))];
    return secrets.flatMap((secret) => [secret, Buffer.from(secret).toString('hex'), ...base64sOf(secret)]);
  }

  /** @returns the lines in which a canary stands, shortened */
  foundIn(text: string): string[] {
    const needles = this.needles();
    if (!needles.some((needle) => text.includes(needle))) return [];
    const lines = text.split('\n').filter((line) => needles.some((needle) => line.includes(needle)));
    return lines.map((line) => line.slice(0, 200));
  }

  foundInFiles(files: string[]): string[] {
    return files.flatMap((file) => this.foundIn(readFileSync(file, 'utf8')));
  }
}

/** What base64 shows of a text wherever it begins: the characters that depend on neighbours are left out. */
function base64sOf(secret: string): string[] {
  return [0, 1, 2].map((before) => {
    const encoded = Buffer.from('\0'.repeat(before) + secret).toString('base64');
    return encoded.slice(before === 0 ? 0 : 4, encoded.length - 4);
  });
}
