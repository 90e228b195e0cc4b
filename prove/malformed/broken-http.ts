import type { Random } from '../support/random';
import { words } from './values';
import type { World } from './world';

/** Bytes that are no HTTP, or HTTP of which two readers could make different requests. Each must be refused whole. */

export interface Broken {
  label: string;
  bytes: Buffer;
  statuses: number[];
}

interface Tools {
  random: Random;
  /** a request with a valid key, up to its further headers */
  head(method?: string, target?: string): string;
  /** a request that would be obeyed, and must not be found */
  hidden: string;
}

type Maker = (tools: Tools) => [bytes: string | Buffer, statuses?: number[]];

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

const LINES = `get /api/v0/leads HTTP/1.1|LEAD /api/v0/leads HTTP/1.1|GET /api/v0/leads HTTP/9.9|GET\t/api/v0/leads HTTP/1.1
GET /api/v0/leads HTTP/1.1x|GET /api/v0/leads HTTP/2.0|GET /api/v0/le ads HTTP/1.1|GET /api/v0/leads\0 HTTP/1.1|GET
GET api/v0/leads HTTP/1.1|GET HTTP/1.1|GET /api/v0/leads http/1.1|G\0ET / HTTP/1.1| GET / HTTP/1.1|"GET" / HTTP/1.1
GET /\x7f HTTP/1.1|HTTP/1.1 200 OK|GET /api/v0/leads|GET /api/v0/leads HTTP/11|GET / FTP/1.1|{"method":"GET"}`;

const line: Maker = ({ random, head }) => [
  head().replace(/^.*\r\n/, `${random.pick(LINES.split(/[|\n]/))}\r\n`) + '\r\n',
];

const connect: Maker = ({ random, head }) => [
  `${head('CONNECT', random.pick(words('evil.example:443 127.0.0.1:5432 x:80 *:0')))}\r\n`,
];

const HEADERS = [
  ...['broken', ': x', ' : x', 'A: b\r\n c', 'A: b\0', 'A\0: b', 'A : b', 'A b: c', 'A: \x01', 'A: \x7f', '\xff: x'],
  ...['A: b\rC: d', 'A(b): c', '@: x', 'A: b\n c', 'Transfer-Encoding : chunked', 'Content-Length : 5', '\t'],
];

const header: Maker = ({ random, head, hidden }) => [`${head()}${random.pick(HEADERS)}\r\n\r\n${hidden}`];

const tooLong: Maker = ({ random, head }) => {
  const letters = 'b'.repeat(random.pick([33_000, 70_000]));
  const bytes = random.pick([
    `${head()}A: ${letters}\r\n\r\n`,
    `${head()}${letters}: x\r\n\r\n`,
    `${head('GET', `/api/v0/leads?q=${letters}`)}\r\n`,
    `${head()}${'a: b\r\n'.repeat(1500)}\r\n`,
    `${head('POST')}Transfer-Encoding: chunked\r\n\r\n1;${letters}\r\nx\r\n0\r\n\r\n`,
  ]);
  return [bytes, [431, 400, 413]];
};

const host: Maker = ({ random, head }) => [
  `${head().replace('Host: x\r\n', random.pick(['', 'Host: a\r\nHost: b\r\n', 'Host: a\r\nhost: a\r\n']))}\r\n`,
];

/** Two lengths, or one that can be read in two ways. */
const lengths: Maker = ({ random, head, hidden }) => {
  const size = String(hidden.length);
  const name = 'Content-Length';
  const doubled = [`0\r\n${name}: ${size}`, `${size}\r\n${name}: 0`, `0, ${size}`, `${size}\r\n ${size}`];
  const strange = [`+${size}`, `-${size}`, `0x${size}`, `${size}e0`, `${size}.0`, `"${size}"`, '', '9'.repeat(30)];
  const value = random.pick([...doubled, ...strange, `${size} ${size}`, `${size}\0`, `_${size}`]);
  return [`${head('POST')}Content-Type: application/json\r\n${name}: ${value}\r\n\r\n${hidden}`];
};

/** A length and chunks, or chunks that only some readers see. */
const codings: Maker = ({ random, head, hidden }) => {
  const chunk = `${hidden.length.toString(16)}\r\n${hidden}\r\n0\r\n\r\n`;
  const length = `Content-Length: ${hidden.length + 5}\r\n`;
  const values = words('identity xchunked chunked-x "chunked" chunk gzip chunked;x chunked\0');
  const strange = ['chunked, identity', 'chunked\r\nTransfer-Encoding: identity', '\r\n chunked', random.pick(values)];
  const [framing, body] = random.pick<[string, string]>([
    [`${length}Transfer-Encoding: chunked\r\n`, `0\r\n\r\n${hidden}`],
    [`Transfer-Encoding: chunked\r\n${length}`, `0\r\n\r\n${hidden}`],
    [`${length}Transfer-Encoding: x\r\n`, `0\r\n\r\n${hidden}`],
    ['Content-Length: 4\r\nTransfer-Encoding: chunked\r\n', chunk],
    ['Transfer-Encoding\t: chunked\r\n', chunk],
    ...strange.map((value): [string, string] => [`Transfer-Encoding: ${value}\r\n`, chunk]),
  ]);
  return [`${head('POST')}Content-Type: application/json\r\n${framing}\r\n${body}`];
};

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
];

const chunks: Maker = ({ random, head, hidden }) => {
  const size = hidden.length.toString(16);
  const body = random.pick([
    `${random.pick(CHUNKS)}\r\n0\r\n\r\n`,
    `${'f'.repeat(17)}\r\nx`,
    `1\nx\n0\n\n${hidden}`,
    `${size}\r\n${hidden}X\r\n0\r\n\r\n`,
    `1;x\ny\r\n${hidden}`,
    `1;\rx\r\n${hidden}`,
    `0\r\nContent-Length: 5\r\n\r\n${hidden}`,
    `0\r\nbroken\r\n\r\n${hidden}`,
    `0\r\nA: b\0\r\n\r\n${hidden}`,
  ]);
  // Also of a request that reads no body, and would be obeyed if its body was not broken.
  const isDelete = hidden.startsWith('DELETE') && random.chance(0.3);
  const start = isDelete ? hidden.slice(0, -2) : `${head('POST')}Content-Type: application/json\r\n`;
  return [`${start}Transfer-Encoding: chunked\r\n\r\n${body}`, [400, 413, 431]];
};

const garbage: Maker = ({ random }) => [
  random.pick<string | Buffer>([
    Buffer.concat([Buffer.from([random.between(128, 255)]), random.bytes(random.between(1, 300))]),
    Buffer.from('1603010200010001fc0303', 'hex'),
    'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n',
    '\0'.repeat(random.between(1, 100)),
    'SSH-2.0-x\r\n',
    '*1\r\n$4\r\nPING\r\n',
    'HELO x\r\nQUIT\r\n',
  ]),
];

const MAKERS = [line, connect, header, header, tooLong, host, lengths, lengths, codings, codings, chunks, garbage];

export function brokenHttp(random: Random, world: World): Broken {
  const head = (method = 'GET', target = '/api/v0/leads'): string =>
    `${method} ${target} HTTP/1.1\r\nHost: x\r\nx-api-key: ${world.keys.valid}\r\n`;
  const make = random.pick(MAKERS);
  const [bytes, statuses = [400]] = make({ random, head, hidden: poison(random, world) });
  return { label: `HTTP: ${make.name}`, bytes: Buffer.from(bytes as string, 'latin1'), statuses };
}
