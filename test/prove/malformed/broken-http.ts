import type { Random } from '../support/random';
import { words } from './values';
import type { World } from './world';

/** Bytes that are no HTTP, or HTTP of which two readers could make different requests. Each must be refused whole. */

const TARGET = 'GET /api/v0/leads HTTP/1.1';
const cases = (text: string): string[] => text.trim().split('\n');

const LINES = cases(`get /api/v0/leads HTTP/1.1
LEAD /api/v0/leads HTTP/1.1
GET /api/v0/leads HTTP/9.9
GET\t/api/v0/leads HTTP/1.1
GET /api/v0/leads HTTP/1.1x
GET /api/v0/leads HTTP/2.0
GET /api/v0/le ads HTTP/1.1
GET /api/v0/leads\0 HTTP/1.1
GET api/v0/leads HTTP/1.1
GET /api/v0/leads http/1.1
GET /\x7f HTTP/1.1
"GET" / HTTP/1.1
G\0ET / HTTP/1.1
GET /api/v0/leads
HTTP/1.1 200 OK
CONNECT evil.example:443 HTTP/1.1`);

const HEADERS = [
  'broken',
  ': x',
  ' : x',
  'A: b\r\n c',
  'A: b\0',
  'A\0: b',
  'A : b',
  'A b: c',
  'A: \x01',
  'A: \x7f',
  '\xff: x',
  'A: b\rC: d',
  'A(b): c',
  '@: x',
  'A: b\n c',
  'Transfer-Encoding : chunked',
  'Content-Length : 5',
  '\t',
  'Host: b',
];

/** Values of Content-Length, of which the second one counts the hidden request, and of Transfer-Encoding. */
const LENGTHS = [
  '0\r\nContent-Length: N',
  'N\r\nContent-Length: 0',
  '0, N',
  'N\r\n N',
  '9'.repeat(30),
  'N N',
  'N\0',
  '',
];
const STRANGE_LENGTHS = words('+N -N 0xN Ne0 N.0 "N" _N');
const CODINGS = words('identity xchunked chunked-x "chunked" chunk gzip chunked;x chunked\0 chunked,identity');

/** Chunks, in which H stands for the hidden request. */
const CHUNKS = [
  'zz\r\nx',
  '-1\r\nx',
  '0x1\r\nx',
  '+1\r\nx',
  '',
  '1\r\nxy',
  ';x\r\nx',
  '1 1\r\nx',
  '1\0\r\nx',
  '１\r\nx',
  `${'f'.repeat(17)}\r\nx`,
  '1\nx\n0\n\nH',
  '1;x\ny\r\nH',
  '1;\rx\r\nH',
  '0\r\nContent-Length: 5\r\n\r\nH',
  '0\r\nbroken\r\n\r\nH',
  '0\r\nA: b\0\r\n\r\nH',
];

/** A request that would be obeyed. */
function poison(random: Random, { keys, ids }: World): string {
  const head = `Host: x\r\nx-api-key: ${keys.valid}\r\n`;
  const lead = '{"createdByEmail":"a@b.example","firstName":"Smuggled","lastName":"x","companyName":"x"}';
  const framing = `Content-Type: application/json\r\nContent-Length: ${lead.length}\r\n`;
  return random.pick([
    `DELETE /api/v0/leads/${random.pick(ids.leadId ?? [])} HTTP/1.1\r\n${head}\r\n`,
    `POST /api/v0/leads HTTP/1.1\r\n${head}${framing}\r\n${lead}`,
  ]);
}

export function brokenHttp(random: Random, world: World): { label: string; bytes: Buffer; statuses: number[] } {
  const hidden = poison(random, world);
  const head = `Host: x\r\nx-api-key: ${world.keys.valid}\r\n`;
  const post = `POST /api/v0/leads HTTP/1.1\r\n${head}Content-Type: application/json\r\n`;
  const size = String(hidden.length);
  const chunk = `${hidden.length.toString(16)}\r\n${hidden}\r\n0\r\n\r\n`;
  const both = [`Content-Length: ${hidden.length + 5}\r\n`, 'Transfer-Encoding: chunked\r\n'];
  const letters = 'b'.repeat(random.pick([33_000, 70_000]));
  // Also of a request that reads no body, and would be obeyed if its body was not broken.
  const start = hidden.startsWith('DELETE') && random.chance(0.3) ? hidden.slice(0, -2) : post;
  const makers: Record<string, () => string> = {
    line: () => `${random.pick(LINES)}\r\n${head}\r\n`,
    header: () => `${TARGET}\r\n${head}${random.pick(HEADERS)}\r\n\r\n${hidden}`,
    length: () => {
      const value = random.pick([...LENGTHS, ...STRANGE_LENGTHS]).replaceAll('N', size);
      return `${post}Content-Length: ${value}\r\n\r\n${hidden}`;
    },
    coding: () => `${post}Transfer-Encoding: ${random.pick(CODINGS)}\r\n\r\n${chunk}`,
    'length and coding': () => `${post}${random.some(both).join('')}\r\n0\r\n\r\n${hidden}`,
    chunks: () => `${start}${both[1]}\r\n${random.pick(CHUNKS).replace('H', hidden)}\r\n0\r\n\r\n`,
    'long header': () => `${TARGET}\r\n${head}A: ${letters}\r\n\r\n`,
    'long name': () => `${TARGET}\r\n${head}${letters}: x\r\n\r\n`,
    'long target': () => `GET /${letters} HTTP/1.1\r\n${head}\r\n`,
    'many headers': () => `${TARGET}\r\n${head}${'a: b\r\n'.repeat(1500)}\r\n`,
    'long extension': () => `${post}${both[1]}\r\n1;${letters}\r\nx\r\n0\r\n\r\n`,
    bytes: () =>
      String.fromCharCode(random.between(128, 255)) + random.bytes(random.between(1, 300)).toString('latin1'),
    'another protocol': () =>
      random.pick(['\x16\x03\x01\x02\0\x01', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n', 'SSH-2.0-x\r\n']),
  };
  const name = random.pick(Object.keys(makers));
  const isLong = name.startsWith('long') || name === 'many headers' || name === 'chunks';
  const bytes = Buffer.from(makers[name]?.() ?? '', 'latin1');
  return { label: `HTTP: ${name}`, bytes, statuses: isLong ? [400, 413, 431] : [400] };
}
