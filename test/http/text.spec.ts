import { decimal, hasAtMost, isCalendarDay, isStorableText, isUuid, toUtc } from '../../src/api-schema/text';

const UUID = '0190a1b2-c3d4-7e5f-8a9b-0c1d2e3f4a5b';

describe('a text that can be stored', () => {
  it.each(['', 'a', ' ', '😀', 'a\u0001', '\ufffd'])('may be %j', (value) => expect(isStorableText(value)).toBe(true));

  it.each(['\0', 'a\0b', '\ud800', 'a\udc00', '\udc00\ud800', 5, null, undefined, ['a']])('may not be %j', (value) =>
    expect(isStorableText(value)).toBe(false),
  );
});

describe('characters', () => {
  it.each([
    ['', 0, true],
    ['abc', 3, true],
    ['abcd', 3, false],
    ['😀😀😀', 3, true],
    ['😀😀a', 3, true],
    ['😀😀😀😀', 3, false],
    ['abcdefg', 3, false],
  ])('of %j are at most %i: %s', (value, max, expected) => expect(hasAtMost(value, max)).toBe(expected));
});

describe('a uuid', () => {
  it.each([UUID, UUID.toUpperCase(), '00000000-0000-0000-0000-000000000000', 'ffffffff-ffff-ffff-ffff-ffffffffffff'])(
    'may be %s',
    (value) => expect(isUuid(value)).toBe(true),
  );

  it.each([
    ...[
      '',
      `x${UUID}`,
      `${UUID}x`,
      `${UUID}\n`,
      `{${UUID}}`,
      UUID.replaceAll('-', ''),
      UUID.slice(1),
      UUID.slice(0, -1),
    ],
    ...[`0${UUID}`, `${UUID}0`, UUID.replace('c3d4', 'c3d'), UUID.replace('c3d4', 'c3d45'), UUID.replace('-c3d4', '')],
    ...[UUID.replace('-c3d4', '-c3d4-c3d4'), UUID.replace('0190', 'g190'), UUID.replace('c3d4', 'c3g4')],
    ...[UUID.replace('4a5b', '4a5g'), UUID.replace('-8a9b', 'x8a9b'), 5, null, undefined, [UUID]],
  ])('may not be %j', (value) => expect(isUuid(value)).toBe(false));
});

describe('a number in decimal decimal', () => {
  it.each([
    ['0', 0],
    ['7', 7],
    ['007', 7],
    ['1234567890', 1234567890],
  ])('is %j', (value, expected) => expect(decimal(value)).toBe(expected));

  it.each(['', ' 5', '5 ', '5\n', '-1', '+1', '1.5', '1e1', '0x10', 'x', 'x5', '5x', '٣', 'Infinity', 5, ['5'], null])(
    'is not %j',
    (value) => expect(decimal(value)).toBeNaN(),
  );
});

describe('a day of the calendar', () => {
  it.each([
    ...['2026-01-01', '2026-12-31', '2024-02-29', '2000-02-29', '0001-01-01', '0099-12-31', '9999-12-31', '1582-10-10'],
  ])('may be %s', (value) => expect(isCalendarDay(value)).toBe(true));

  it.each([
    ...['2026-02-29', '1900-02-29', '2026-02-30', '2026-04-31', '2026-00-01', '2026-13-01', '2026-01-00', '2026-01-32'],
    ...['0000-01-01', '', '2026', '2026-1-01', '2026-01-1', '02026-01-01', '2026-01-011', '20260101', '-2026-01-01'],
    ...['x2026-01-01', '2026-01-01x', '2026-01-01\n', '2026/01/01', 'aaaa-bb-cc', 20260101, null, ['2026-01-01']],
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
    ...['', '2026', '2026-02-30', '2026-02-30T10:00Z', '2026-03-01T', '2026-03-01T09Z', '2026-03-01T09:30', '10:00Z'],
    ...['2026-03-01 09:30Z', '2026-03-01T24:00Z', '2026-03-01T29:00Z', '2026-03-01T30:00Z', '2026-03-01T9:30Z'],
    ...[
      '2026-03-01T09:60Z',
      '2026-03-01T09:3Z',
      '2026-03-01T09:30:60Z',
      '2026-03-01T09:30:1Z',
      '2026-03-01T09:30:15.Z',
    ],
    ...['2026-03-01T09:30:15.1234567890Z', '2026-03-01T09:30+24:00', '2026-03-01T09:30+30:00', '2026-03-01T09:30+2:00'],
    ...['2026-03-01T09:30+02:60', '2026-03-01T09:30+02:6', '2026-03-01T09:30+', '2026-03-01T09:30z', '2026-03-01Z'],
    ...['x2026-03-01T09:30Z', '2026-03-01T09:30Zx', '2026-03-01T09:30Z\n', '2026-03-01+02:00', '2026-03-01T09:30.5Z'],
    ...['2026-03-01T09:30:15,5Z', '2026-03-01Ta:30Z', '2026-03-01T09:aaZ', '2026-03-01T09:30 02:00', 20260301, null],
    ...['0001-01-01T00:00+00:01', '9999-12-31T23:59-00:01', '+010000-01-01T00:00Z', ['2026-03-01']],
  ])('may not be %j', (value) => expect(toUtc(value)).toBeUndefined());
});
