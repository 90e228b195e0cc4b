import type { Call } from './endpoints';

/** Values of random requests: mostly valid ones, some at their limits, some invalid. */
export const TEXTS = ['Ada', 'Łódź', 'a', 'x y', '東京 🙂', "O'Hara", '"\\', '<b>&amp;</b>', ' lead ', '\t'];
export const FILLED = ['Ada', 'Łódź', 'Cobalt Systems', '東京 🙂', "O'Hara", '%_\\', '-', '{}'];
export const EMAILS = ['ada@example.com', 'A.B+c@Example.CO', 'o_k-1@a.b.example.org'];
/** By which batches meet each other and what else is there. */
export const MATCHED_EMAILS = [
  'ADA@example.com',
  'a.b+C@example.co',
  ...[1, 2, 3, 4].map((n) => `lead${n}@example.com`),
];
export const MATCHED_IDS = ['WEBHOOK', 'HUB_SPOT', 'ZOHO'].flatMap((integrationType) =>
  ['w-1', 'h-1', 'Łódź'].map((id) => ({ id, integrationType })),
);
export const MOMENTS = [
  '2026-05-04',
  '2026-05-04T09:00:00Z',
  '2026-05-04T09:00:00.123456Z',
  '2026-05-04T00:30:00+02:00',
  '2026-05-05',
  '2026-05-05T23:59:59.999-11:00',
  '2026-05-04T09:00Z',
  null,
];
export const LAST_MOMENTS = ['2026-05-06', '2026-05-05T00:00:00Z', '2026-05-04T12:00:00Z', null];
/** Words that no stemmer changes and no other text has. */
export const WORDS = ['zbcdf', 'zghjk', 'zlmnp', 'zqrtv', 'zwxcv'];

/** What stands in the place of a field that is wrong, or at its edge; undefined leaves it out. */
export const ODD: unknown[] = [
  undefined,
  undefined,
  null,
  null,
  '',
  ' ',
  '\t\n',
  0,
  5,
  -1,
  1.5,
  2_147_483_647,
  2_147_483_648,
  true,
  'true',
  [],
  {},
  [[]],
  [null],
  ['a', 5],
  [{}],
  [{ number: '1' }],
  { id: null },
  'nobody',
  'a@b',
  'NOTE',
  'event',
  'nul \0',
  '\ud800 lone',
  ...[255, 256, 2048, 2049, 65_536].map((n) => 'x'.repeat(n)),
  '🙂'.repeat(255),
  '2026-02-30',
  '2026-1-1',
  '2024-W05',
  '2026-05-04T09:00:00',
  '0000-01-01',
  '2000-02-29',
  '9999-12-31',
  ['a', 'x'.repeat(256)],
  Array<string>(101).fill('k'),
  Array<object>(51).fill({}),
];

export const MALFORMED_IDS = {
  event: ['0', '-1', '1.5', '0x10', '9007199254740992', 'abc', '1e3', ' 1', '1\0'],
  other: ['abc', '1', '00000000-0000-4000-8000-00000000000', '{00000000-0000-4000-8000-000000000000}', '\0', "'"],
};
export const WRONG_KEYS = [[], [''], [' '], ['lan_unknown'], [`lan_${'0'.repeat(49)}`], ['a', 'b']];
export const WRONG_NUMBERS = ['', '-1', '1.5', 'x', ' 5', '1e1', '0x10', '+1', '٣', '9'.repeat(30), '2147483648'];
export const WRONG_PLACES = Object.entries({
  cursor: ['', ' ', 'x', '\0', 'x'.repeat(1025)],
  resources: ['', 'leads,leads', 'users', 'leads,', 'LEADS'],
  since: ['', 'NOW'],
}).flatMap(([name, values]) => values.map((value): Call['query'][number] => [name, value]));
export const NO_OBJECTS = ['', '{', '[]', 'null', '"text"', '5', '{"a":1}}', '[{}]'];
