import type { Attempt } from './attempt';
import { poison } from './noise';
import { Random } from './random';
import { World } from './world';

/** Bytes that are no HTTP, or HTTP of which two readers could make different requests. Each must be refused whole. */

type Made = { label: string; bytes: string | Buffer; statuses?: readonly number[]; ending?: Attempt['ending'] };

interface Tools {
  random: Random;
  /** the lines of a request with a valid key, without an end */
  head(method?: string, target?: string): string;
  /** a request that would be obeyed */
  hidden: string;
}
type Maker = (tools: Tools) => Made;

const JSON_TYPE = 'Content-Type: application/json\r\n';

const line: Maker = ({ random, head }) => {
  const rest = head().replace(/^.*\r\n/, '');
  const first = random.pick([
    ...['get /api/v0/leads HTTP/1.1', 'LEAD /api/v0/leads HTTP/1.1', 'GET /api/v0/leads HTTP/9.9'],
    ...[
      'GET\t/api/v0/leads HTTP/1.1',
      'GET /api/v0/leads HTTP/1.1x',
      'GET /api/v0/leads HTTP/2.0',
      'GET /api/v0/le ads HTTP/1.1',
    ],
    ...[
      'GET /api/v0/leads\0 HTTP/1.1',
      'GET api/v0/leads HTTP/1.1',
      'GET HTTP/1.1',
      'GET /api/v0/leads http/1.1',
      'GET',
    ],
    ...[
      'G\0ET / HTTP/1.1',
      ' GET / HTTP/1.1',
      'DELETE-X / HTTP/1.1',
      '"GET" / HTTP/1.1',
      'GET /\x7f HTTP/1.1',
      'HTTP/1.1 200 OK',
    ],
    ...[
      'GET /api/v0/leads',
      'GET /api/v0/leads HTTP/',
      'GET /api/v0/leads HTTP/11',
      'GET /api/v0/leads FTP/1.1',
      '{"method":"GET"}',
    ],
    `${'X'.repeat(9000)} / HTTP/1.1`,
  ]);
  return { label: 'HTTP: line', bytes: `${first}\r\n${rest}\r\n` };
};

const connect: Maker = ({ random, head }) => ({
  label: 'HTTP: CONNECT',
  bytes: `${head('CONNECT', random.pick(['evil.example:443', '127.0.0.1:5432', 'x:80', '*:0']))}\r\n`,
});

const header: Maker = ({ random, head, hidden }) => {
  const bad = random.pick([
    ...[
      'broken',
      ': x',
      ' : x',
      'A: b\r\n c',
      'A: b\r\n\tc',
      'A: b\0',
      'A\0: b',
      'A : b',
      'A b: c',
      'A: \x01',
      'A: \x7f',
      '\xff: x',
    ],
    ...[
      'A: b\rC: d',
      'A(b): c',
      '@: x',
      'A: b\n c',
      'Transfer-Encoding : chunked',
      'Content-Length : 5',
      '\t',
      'A: b\r\r\nC: d',
    ],
  ]);
  return { label: 'HTTP: header', bytes: `${head()}${bad}\r\n\r\n${hidden}` };
};

const tooLong: Maker = ({ random, head }) => {
  const letters = 'b'.repeat(random.pick([33_000, 40_000, 70_000]));
  const bytes = random.pick([
    `${head()}A: ${letters}\r\n\r\n`,
    `${head()}${letters}: x\r\n\r\n`,
    `${head('GET', `/api/v0/leads?q=${letters}`)}\r\n`,
    `${head('GET', `/${letters}`)}\r\n`,
    `${head()}${'a: b\r\n'.repeat(1500)}\r\n`,
    `${head('POST')}Transfer-Encoding: chunked\r\n\r\n1;${letters}\r\nx\r\n0\r\n\r\n`,
  ]);
  return { label: 'HTTP: too long', bytes, statuses: [431, 400, 413] };
};

const host: Maker = ({ random, head }) => {
  const [first = '', ...rest] = head().split('\r\n');
  const others = rest.filter((each) => !each.startsWith('Host')).join('\r\n');
  const hosts = random.pick(['', 'Host: a\r\nHost: b\r\n', 'Host: a\r\nhost: a\r\n']);
  return { label: 'HTTP: Host', bytes: `${first}\r\n${hosts}${others}\r\n` };
};

/** Two lengths, or one that can be read in two ways: a request hides where only one of the readings ends. */
const lengths: Maker = ({ random, head, hidden }) => {
  const size = hidden.length;
  const framing = random.pick([
    `Content-Length: 0\r\nContent-Length: ${size}\r\n`,
    `Content-Length: ${size}\r\nContent-Length: 0\r\n`,
    `Content-Length: ${size}\r\ncontent-length: ${size + 1}\r\n`,
    `Content-Length: 0, ${size}\r\n`,
    `Content-Length: +${size}\r\n`,
    `Content-Length: -${size}\r\n`,
    `Content-Length: 0x${size.toString(16)}\r\n`,
    `Content-Length: ${size}e0\r\n`,
    `Content-Length: ${size}.0\r\n`,
    `Content-Length: ${size} ${size}\r\n`,
    `Content-Length: "${size}"\r\n`,
    `Content-Length: \r\n`,
    `Content-Length: ${'9'.repeat(30)}\r\n`,
    `Content-Length: 18446744073709551616\r\n`,
    `Content-Length: ${size}\r\n ${size}\r\n`,
    `Content-Length: ${size}\0\r\n`,
    `Content-Length: _${size}\r\n`,
  ]);
  return { label: 'HTTP: two lengths', bytes: `${head('POST')}${JSON_TYPE}${framing}\r\n${hidden}` };
};

/** A length and chunks, or chunks that only some would see. */
const codings: Maker = ({ random, head, hidden }) => {
  const size = hidden.length;
  const chunk = `${size.toString(16)}\r\n${hidden}\r\n0\r\n\r\n`;
  const [framing, body] = random.pick<[string, string]>([
    [`Content-Length: ${size + 5}\r\nTransfer-Encoding: chunked\r\n`, `0\r\n\r\n${hidden}`],
    [`Transfer-Encoding: chunked\r\nContent-Length: ${size + 5}\r\n`, `0\r\n\r\n${hidden}`],
    ['Content-Length: 4\r\nTransfer-Encoding: chunked\r\n', chunk],
    ['Transfer-Encoding: chunked, identity\r\n', chunk],
    ['Transfer-Encoding: identity\r\n', chunk],
    ['Transfer-Encoding: xchunked\r\n', chunk],
    ['Transfer-Encoding: chunked-x\r\n', chunk],
    ['Transfer-Encoding: "chunked"\r\n', chunk],
    ['Transfer-Encoding: chunk\r\n', chunk],
    ['Transfer-Encoding: gzip\r\n', chunk],
    ['Transfer-Encoding: chunked;x\r\n', chunk],
    ['Transfer-Encoding: chunked\0\r\n', chunk],
    ['Transfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n', chunk],
    ['Transfer-Encoding:\r\n chunked\r\n', chunk],
    ['Transfer-Encoding\t: chunked\r\n', chunk],
    [`Content-Length: ${size + 5}\r\nTransfer-Encoding: x\r\n`, `0\r\n\r\n${hidden}`],
  ]);
  return { label: 'HTTP: length and chunks', bytes: `${head('POST')}${JSON_TYPE}${framing}\r\n${body}` };
};

const chunks: Maker = ({ random, head, hidden }) => {
  const size = hidden.length.toString(16);
  const body = random.pick([
    ...[
      'zz\r\nx\r\n0\r\n\r\n',
      '-1\r\nx\r\n0\r\n\r\n',
      `${'f'.repeat(17)}\r\nx`,
      '0x1\r\nx\r\n0\r\n\r\n',
      '+1\r\nx\r\n0\r\n\r\n',
    ],
    ...[
      '\r\n\r\n',
      '1\r\nxy\r\n0\r\n\r\n',
      '1\r\nxx\r\n',
      ';x\r\nx\r\n0\r\n\r\n',
      '1 1\r\nx\r\n0\r\n\r\n',
      '1\0\r\nx\r\n0\r\n\r\n',
      '１\r\nx\r\n',
    ],
    `1\nx\n0\n\n${hidden}`,
    `${size}\r\n${hidden}X\r\n0\r\n\r\n`,
    `1;x\ny\r\n${hidden}`,
    `1;\rx\r\n${hidden}`,
    `0\r\nContent-Length: 5\r\n\r\n${hidden}`,
    `0\r\nbroken\r\n\r\n${hidden}`,
    `0\r\nA : b\r\n\r\n${hidden}`,
    `0\r\nA: b\0\r\n\r\n${hidden}`,
    `0\r\nA: ${'b'.repeat(40_000)}\r\n\r\n`,
  ]);
  // Also of an operation that reads no body, and would be obeyed if its body was not broken.
  const first = random.chance(0.3) ? hidden.split('\r\n\r\n')[0]?.replace(/Content-L.*$/, '') : undefined;
  const start = first?.startsWith('DELETE') ? `${first}\r\n` : `${head('POST')}${JSON_TYPE}`;
  const bytes = `${start}Transfer-Encoding: chunked\r\n\r\n${body}`;
  return { label: 'HTTP: chunks', bytes, statuses: [400, 413, 431] };
};

const garbage: Maker = ({ random }) => {
  const bytes = random.pick([
    () => Buffer.concat([Buffer.from([random.between(128, 255)]), random.bytes(random.between(1, 300))]),
    () => Buffer.from('16030102000100 01fc0303'.replace(' ', ''), 'hex'),
    () => 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n',
    () => Buffer.from('0501000000', 'hex'),
    () => '\0'.repeat(random.between(1, 100)),
    () => 'SSH-2.0-x\r\n',
    () => '*1\r\n$4\r\nPING\r\n',
    () => 'HELO x\r\nQUIT\r\n',
    () => `<?xml version="1.0"?>\r\n\r\n`,
    () => '%s%n%x'.repeat(10),
  ])();
  return { label: 'not HTTP', bytes, ending: 'ended' };
};

const MAKERS: Maker[] = [
  line,
  connect,
  header,
  header,
  tooLong,
  host,
  lengths,
  lengths,
  codings,
  codings,
  chunks,
  chunks,
  garbage,
];

export function broken(random: Random, { keys, ids }: World): Omit<Attempt, 'index'> {
  const head = (method = 'GET', target = '/api/v0/leads'): string =>
    `${method} ${target} HTTP/1.1\r\nHost: x\r\nx-api-key: ${keys.valid}\r\n`;
  const made = random.pick(MAKERS)({ random, head, hidden: poison(random, keys.valid, ids.leadId ?? []) });
  const { label, bytes, statuses = [400], ending = 'closed' } = made;
  const written = typeof bytes === 'string' ? Buffer.from(bytes, 'latin1') : bytes;
  return {
    labels: [label],
    pieces: [written],
    answers: [{ statuses, mayRead: false, isHead: false, isRead: false }],
    ending,
  };
}
