import { crc32 } from 'node:zlib';
import { hashOf, hasKeyForm, newKey, prefixOf } from '../../src/access/key-format';

const SECRET = '0123456789abcdefghijklmnopqrstuvwxyzABCDEFG';
/** The CRC-32 of the secret in base62, worked out apart from the code under test. */
const SUM = '32L9Jw';
const KEY = `lan_${SECRET}${SUM}`;

describe('the form of a key', () => {
  it('has the checksum of its secret', () => {
    const digits = [...SUM].map((digit) =>
      BigInt('0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'.indexOf(digit)),
    );
    expect(digits.reduce((sum, digit) => sum * 62n + digit, 0n)).toBe(BigInt(crc32(SECRET)));
    expect(hasKeyForm(KEY)).toBe(true);
  });

  it.each([
    ['', ''],
    ['without its prefix', KEY.slice(4)],
    ['with another prefix', KEY.replace('lan', 'lon')],
    ['with something before it', ` ${KEY}`],
    ['with something behind it', `${KEY}\n`],
    ['with another checksum', `${KEY.slice(0, -1)}0`],
    ['with the checksum of another secret', KEY.replace('0123', '0124')],
    ['too short', `lan_${SECRET.slice(1)}${SUM}`],
    ['with a character that base62 lacks', KEY.replace('abc', 'a-c')],
    ['with a checksum of such', `${KEY.slice(0, -1)}-`],
    ['twice', KEY + KEY],
  ])('is not that of a text %s', (_, text) => expect(hasKeyForm(text)).toBe(false));

  it('is that of new keys, of which no two are alike and all characters are used', () => {
    const keys = Array.from({ length: 200 }, newKey);
    expect(keys.filter((key) => !/^lan_[0-9A-Za-z]{49}$/.test(key) || !hasKeyForm(key))).toEqual([]);
    expect(new Set(keys).size).toBe(200);
    const used = new Set(keys.flatMap((key) => [...key.slice(4)]));
    expect([...used].sort().join('')).toBe('0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz');
    // 62^43 is larger than 2^256: the first character cannot be any, the others can
    expect(new Set(keys.map((key) => key[5])).size).toBeGreaterThan(30);
  });

  it('shows no more than ten characters, and stores a SHA-256', () => {
    expect(prefixOf(KEY)).toBe('lan_012345');
    // printf lan_ | openssl dgst -sha256 -binary | base64
    expect(hashOf('lan_')).toBe('B53mdZ11OnfjUV/dI7Q2VNSLKoKs7f/ppqcvMPgjN50=');
  });
});
