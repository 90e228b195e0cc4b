import { hash, randomBytes } from 'node:crypto';
import { crc32 } from 'node:zlib';

/**
 * A key is `lan_`, 43 base62 characters of 32 random bytes, and 6 base62 characters of their CRC-32. The checksum rejects a
 * mistyped key without a look-up and lets secret scanners recognize keys.
 */
const KEY_PATTERN = /^lan_([0-9A-Za-z]{43})([0-9A-Za-z]{6})$/;
const ALPHABET = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
/** How many characters of a key are stored for display. */
const PREFIX_LENGTH = 10;

export function generateKey(): string {
  const secret = base62(BigInt(`0x${randomBytes(32).toString('hex')}`), 43);
  return `lan_${secret}${checksum(secret)}`;
}

/** Whether the text has the form of a key, checksum included. */
export function hasKeyForm(text: string): boolean {
  const [, secret, sum] = KEY_PATTERN.exec(text) ?? [];
  return secret !== undefined && checksum(secret) === sum;
}

/**
 * Hashes a key for storage. A fast hash is enough: slow ones protect secrets that can be guessed, and a key has 256 random
 * bits.
 * @returns the SHA-256 in base64
 */
export const hashKey = (key: string): string => hash('sha256', key, 'base64');

export const keyPrefix = (key: string): string => key.slice(0, PREFIX_LENGTH);

const checksum = (secret: string): string => base62(BigInt(crc32(secret)), 6);

function base62(value: bigint, length: number): string {
  let text = '';
  for (let rest = value; text.length < length; rest /= 62n) text = ALPHABET[Number(rest % 62n)] + text;
  return text;
}
