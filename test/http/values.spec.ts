import { Transform } from 'class-transformer';
import { IsInt } from 'class-validator';
import fc from 'fast-check';
import { Email, EmailList, NumericId, ListOf, PreciseDateTime, Text, TimeOfDay } from '../../src/fields/fields';
import { firstError, toInstance } from '../../src/fields/field-rules';
import { isEmail } from 'class-validator';
import { isCalendarDay, isVisibleEmail, toUtc } from '../../src/fields/text';
import { countValues } from '../../src/http/pipeline/count-values';
import { RequestValidationPipe } from '../../src/http/pipeline/validation.pipe';

describe('a day of the calendar', () => {
  it.each([
    '2026-01-01',
    '2026-12-31',
    '2024-02-29',
    '2000-02-29',
    '0001-01-01',
    '0099-12-31',
    '9999-12-31',
    '1582-10-10',
  ])('may be %s', (value) => expect(isCalendarDay(value)).toBe(true));

  it.each([
    '2026-02-29',
    '1900-02-29',
    '2026-02-30',
    '2026-04-31',
    '2026-00-01',
    '2026-13-01',
    '2026-01-00',
    '2026-01-32',
    '0000-01-01',
    '',
    '2026',
    '2026-1-01',
    '2026-01-1',
    '02026-01-01',
    '2026-01-011',
    '20260101',
    '-2026-01-01',
    'x2026-01-01',
    '2026-01-01x',
    '2026-01-01\n',
    '2026/01/01',
    'aaaa-bb-cc',
    20260101,
    null,
    ['2026-01-01'],
  ])('may not be %j', (value) => expect(isCalendarDay(value)).toBe(false));
});

describe('a moment', () => {
  it.each([
    ['2026-03-01', '2026-03-01T00:00:00.000Z'],
    ['2026-03-01T09:30Z', '2026-03-01T09:30:00.000Z'],
    ['2026-03-01T09:30:15Z', '2026-03-01T09:30:15.000Z'],
    ['2026-03-01T23:59:59.9Z', '2026-03-01T23:59:59.900Z'],
    ['2026-03-01T09:30:15.123456789Z', '2026-03-01T09:30:15.123Z'],
    ['2026-03-01T09:30+02', '2026-03-01T07:30:00.000Z'],
    ['2026-03-01T09:30+0230', '2026-03-01T07:00:00.000Z'],
    ['2026-03-01T09:30-02:30', '2026-03-01T12:00:00.000Z'],
    ['2026-03-01T00:00+14:00', '2026-02-28T10:00:00.000Z'],
    ['2026-03-01T12:00-23:59', '2026-03-02T11:59:00.000Z'],
    ['2026-03-01T12:00+20:00', '2026-02-28T16:00:00.000Z'],
    ['0001-01-01T00:00Z', '0001-01-01T00:00:00.000Z'],
    ['9999-12-31T23:59:59.999Z', '9999-12-31T23:59:59.999Z'],
  ])('may be %s', (value, expected) => expect(toUtc(value)).toBe(expected));

  it.each([
    '',
    '2026',
    '2026-02-30',
    '2026-02-30T10:00Z',
    '2026-03-01T',
    '2026-03-01T09Z',
    '2026-03-01T09:30',
    '10:00Z',
    '2026-03-01 09:30Z',
    '2026-03-01T24:00Z',
    '2026-03-01T29:00Z',
    '2026-03-01T30:00Z',
    '2026-03-01T9:30Z',
    '2026-03-01T09:60Z',
    '2026-03-01T09:3Z',
    '2026-03-01T09:30:60Z',
    '2026-03-01T09:30:1Z',
    '2026-03-01T09:30:15.Z',
    '2026-03-01T09:30:15.1234567890Z',
    '2026-03-01T09:30+24:00',
    '2026-03-01T09:30+30:00',
    '2026-03-01T09:30+2:00',
    '2026-03-01T09:30+02:60',
    '2026-03-01T09:30+02:6',
    '2026-03-01T09:30+',
    '2026-03-01T09:30z',
    '2026-03-01Z',
    'x2026-03-01T09:30Z',
    '2026-03-01T09:30Zx',
    '2026-03-01T09:30Z\n',
    '2026-03-01+02:00',
    '2026-03-01T09:30.5Z',
    '2026-03-01T09:30:15,5Z',
    '2026-03-01Ta:30Z',
    '2026-03-01T09:aaZ',
    '2026-03-01T09:30 02:00',
    20260301,
    null,
    '0001-01-01T00:00+00:01',
    '9999-12-31T23:59-00:01',
    '+010000-01-01T00:00Z',
    ['2026-03-01'],
  ])('may not be %j', (value) => expect(toUtc(value)).toBeUndefined());
});

/** The kinds of field that datasets have and requests have not, and an e-mail address. */
class Kinds {
  @NumericId({ optional: true }) id?: number;
  @PreciseDateTime({ optional: true }) moment?: string;
  @TimeOfDay({ optional: true }) time?: string;
  @Email({ optional: true }) email?: string;
  @EmailList({ optional: true, max: 2 }) emails?: string[];
}

const domain = `${`${'b'.repeat(60)}.`.repeat(3)}co`;
/** The 254 characters that an address may have, and one more. */
const LONGEST = `${'a'.repeat(64)}@${'c'.repeat(254 - 64 - 1 - domain.length - 1)}.${domain}`;
const TOO_LONG = LONGEST.replace('@c', '@cc');

/** Of each kind: format characters (one beyond the basic plane too), controls, spaces, and separators of lines and paragraphs. */
const INVISIBLE = [
  '\u00ad',
  '\u200b',
  '\u200d',
  '\u202e',
  '\u2060',
  '\ufeff',
  '\u{e0041}',
  '\t',
  '\n',
  '\r',
  '\x1f',
  '\x7f',
  '\x85',
  ' ',
  '\u00a0',
  '\u1680',
  '\u2003',
  '\u202f',
  '\u3000',
  '\u2028',
  '\u2029',
];

const faultIn = (field: string, value: unknown): string | undefined =>
  firstError(toInstance(Kinds, { [field]: value }))?.path;

describe('a field', () => {
  it.each<[string, unknown[]]>([
    ['id', [1, Number.MAX_SAFE_INTEGER]],
    ['moment', ['2026-03-01T09:30:00Z', '2026-03-01T09:30:00.123456Z', '2026-03-01T09:30Z']],
    ['time', ['00:00:00', '09:30:15', '19:59:59', '20:00:00', '23:59:59']],
    ['email', ['a@b.co', LONGEST, 'jürgen@bücher.example', '"ada rowe"@b.co', '"ada\u2003rowe"@b.co']],
    ['emails', [[], ['a@b.co'], ['a@b.co', LONGEST]]],
  ])('%s takes these', (field, values) => {
    expect(LONGEST).toHaveLength(254);
    expect(values.filter((value) => faultIn(field, value) !== undefined)).toEqual([]);
  });

  it.each<[string, unknown[]]>([
    ['id', [0, -1, 1.5, 2 ** 53, '1', NaN, Infinity, true, [1], null]],
    [
      'moment',
      ['2026-03-01', '2026-03-01T09:30:00+00:00', 'Z', 'Z2026-03-01', '2026-02-30T09:30:00Z', '', 5, true, null],
    ],
    ['moment', [['2026-03-01T09:30:00Z'], { endsWith: 1 }]],
    [
      'time',
      ['24:00:00', '29:00:00', '9:30:00', '09:60:00', '09:30:60', '09:30', '09:30:00Z', ' 09:30:00', '', 5, null],
    ],
    ['time', [['09:30:00'], '30:00:00', '009:30:00', '09:30:000']],
    ['email', ['a', '', TOO_LONG, 5, null, ['a@b.co'], 'a@b.co\0']],
    ['email', INVISIBLE.flatMap((sign) => [`a${sign}b@c.co`, `a@b${sign}c.co`, `${sign}a@b.co`, `a@b.co${sign}`])],
    ['email', ['"a\u200bb"@c.co', '"a\tb"@c.co', '"a b"@c\u3000d.co', '"a b"@c.co\u2028']],
    ['emails', [['a@b\u00ad.co'], ['a@b.co', 'c\u2009d@e.co']].flat()],
    ['emails', ['a@b.co', {}, null, ['a@b.co', 'c@d.co', 'e@f.co']]],
  ])('%s refuses these', (field, values) => {
    expect(values.filter((value) => faultIn(field, value) !== field)).toEqual([]);
  });

  it.each([
    ['9999-12-31T23:59:59.999999999Z', '9999-12-31T23:59:59.999999Z'],
    ['2026-03-01T09:30:00.1234567Z', '2026-03-01T09:30:00.123456Z'],
    ['2026-03-01T09:30:00.123456Z', '2026-03-01T09:30:00.123456Z'],
  ])('of a moment to the microsecond is cut, and not rounded: %s', (given, kept) => {
    const record = toInstance(Kinds, { moment: given });
    expect(record).toEqual({ moment: kept });
    expect(firstError(record)).toBeUndefined();
  });
});

/** Values as JSON.parse sees them. */
const valuesIn = (value: unknown): number =>
  typeof value === 'object' && value !== null
    ? Object.values(value).reduce((sum: number, inner) => sum + valuesIn(inner), 1)
    : 1;

describe('the counter of values', () => {
  it('counts what JSON.parse would build', () => {
    const text = fc.json({ maxDepth: 6 }).map((json) => Buffer.from(json));
    fc.assert(
      fc.property(text, (bytes) => expect(countValues(bytes)).toBe(valuesIn(JSON.parse(bytes.toString())))),
      { seed: 1, numRuns: 2000 },
    );
  });
});

/** Throws when it is looked at. */
const unread = (): never => {
  throw new Error('looked at');
};

describe('unknown fields', () => {
  class Entry {
    @Text() name: string;
  }
  class Known {
    @ListOf(() => Entry, { optional: true }) entries?: Entry[];
    @Text({ optional: true }) text?: string;
  }
  class Plain {
    @IsInt() size: number;
  }
  const watched = (fields: object) => Object.defineProperty(fields, 'unknown', { enumerable: true, get: unread });

  it.each([
    ['of a body', 'body', Known, watched({ text: 'x' }), { text: 'x' }],
    ['of a query', 'query', Known, watched({ text: 'x' }), { text: 'x' }],
    ['of an entry', 'body', Known, { entries: [watched({ name: 'x' })] }, { entries: [{ name: 'x' }] }],
    ["of a class with Nest's decorators", 'body', Plain, watched({ size: 1 }), { size: 1 }],
  ] as const)('%s are never looked at', async (_, type, metatype, sent, read) => {
    expect(await new RequestValidationPipe().transform(sent, { type, metatype })).toEqual(read);
  });
});

describe('a body with decorators of our own and of others', () => {
  class Entry {
    @Text() name: string;
  }
  class Body {
    @ListOf(() => Entry) entries: Entry[];
    @IsInt() @Transform(({ value }) => Number(value)) size: number;
  }
  const read = (body: object) => new RequestValidationPipe().transform(body, { type: 'body', metatype: Body });

  it('is converted and checked by all of them', async () => {
    const entries = [{ name: 'x', more: 1 }];
    expect(await read({ entries, size: '3', more: 2 })).toEqual({ entries: [{ name: 'x' }], size: 3 });
    await expect(read({ entries, size: '3.5' })).rejects.toThrow("'size'");
    await expect(read({ entries: [...entries, {}], size: '3' })).rejects.toThrow("'entries[1].name'");
  });
});

describe('an address of ASCII characters', () => {
  const part = (characters: string, maxLength: number) =>
    fc.string({ unit: fc.constantFrom(...characters), minLength: 1, maxLength });
  const label = part('az09-_', 24);
  const address = fc
    .tuple(
      fc.array(part('aZ09_+-.', 40), { minLength: 1, maxLength: 3 }),
      fc.array(label, { minLength: 1, maxLength: 5 }),
    )
    .map(([local, domain]) => `${local.join('.')}@${domain.join('.')}.${domain.length > 3 ? 'example' : 'com'}`);

  it('is valid where the library says so', () =>
    fc.assert(
      fc.property(address, (each) => expect(isVisibleEmail(each)).toBe(isEmail(each))),
      { numRuns: 2000 },
    ));
});
