import { randomBytes, randomInt } from 'node:crypto';
import { readFileSync } from 'node:fs';

/** Long enough that nothing else in a log looks like it by chance. */
const LENGTH = 20;
const LETTERS = 'bcdfghjkmnpqrstvwxz';

/**
 * Stand in every value that a fault's load sends. All of one run hold the same word, or the same digits, so that one
 * search finds each of them; only letters and digits, which look alike in JSON, in a URL and in SQL.
 */
export class Canaries {
  readonly word = Array.from(randomBytes(LENGTH), (byte) => LETTERS[byte % LETTERS.length]).join('');
  readonly digits = Array.from({ length: LENGTH }, () => randomInt(10)).join('');
  private readonly keys = new Set<string>();
  private count = 0;

  /** A unique value with characters that encodings change. */
  text(): string {
    return `Zoë ${this.marker()} “Łódź” 100 % & more`;
  }

  /** A unique value of letters and digits. */
  marker(): string {
    return `${this.word}${this.count++}`;
  }

  email(marker = this.marker()): string {
    return `${marker}@example.org`;
  }

  url(marker = this.marker()): string {
    return `https://example.org/${marker}?of=${this.word}`;
  }

  /** Takes an API key for a canary, too. */
  watch(key: string): string {
    this.keys.add(key);
    return key;
  }

  /** @returns the lines that hold a canary: as it was sent, or in hexadecimal digits */
  foundIn(text: string): string[] {
    const secrets = [this.word, this.digits, ...[...this.keys].map((key) => key.replace(/^lan_/, ''))];
    const needles = secrets.flatMap((secret) => [secret, Buffer.from(secret).toString('hex')]);
    if (!needles.some((needle) => text.includes(needle))) return [];
    return text.split('\n').filter((line) => needles.some((needle) => line.includes(needle)));
  }

  foundInFiles(files: string[]): string[] {
    return files.flatMap((file) => this.foundIn(readFileSync(file, 'utf8')));
  }
}
