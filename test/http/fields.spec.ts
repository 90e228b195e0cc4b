import { Email, EmailList, PreciseDateTime, TimeOfDay, Int64Id } from '../../src/api-schema/fields';
import { readRecord } from '../../src/dataset/read-record';

/** The kinds of field that datasets have and requests have not, and an e-mail address. */
class Kinds {
  @Int64Id({ optional: true }) id?: number;
  @PreciseDateTime({ optional: true }) moment?: string;
  @TimeOfDay({ optional: true }) time?: string;
  @Email({ optional: true }) email?: string;
  @EmailList({ optional: true, max: 2 }) emails?: string[];
}

const domain = `${`${'b'.repeat(60)}.`.repeat(3)}co`;
/** The 254 characters that an address may have, and one more. */
const LONGEST = `${'a'.repeat(64)}@${'c'.repeat(254 - 64 - 1 - domain.length - 1)}.${domain}`;
const TOO_LONG = LONGEST.replace('@c', '@cc');

function faultOf(field: string, value: unknown): string | undefined {
  const read = readRecord(Kinds, { [field]: value });
  return 'fault' in read ? read.fault : undefined;
}

describe('a field', () => {
  it.each<[string, unknown[]]>([
    ['id', [1, Number.MAX_SAFE_INTEGER]],
    ['moment', ['2026-03-01T09:30:00Z', '2026-03-01T09:30:00.123456Z', '2026-03-01T09:30Z']],
    ['time', ['00:00:00', '09:30:15', '19:59:59', '20:00:00', '23:59:59']],
    ['email', ['a@b.co', LONGEST]],
    ['emails', [[], ['a@b.co'], ['a@b.co', LONGEST]]],
  ])('%s takes these', (field, values) => {
    expect(LONGEST).toHaveLength(254);
    expect(values.filter((value) => faultOf(field, value) !== undefined)).toEqual([]);
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
    ['emails', ['a@b.co', {}, null, ['a@b.co', 'c@d.co', 'e@f.co']]],
  ])('%s refuses these', (field, values) => {
    expect(values.filter((value) => faultOf(field, value) !== field)).toEqual([]);
  });

  it.each([
    ['9999-12-31T23:59:59.999999999Z', '9999-12-31T23:59:59.999999Z'],
    ['2026-03-01T09:30:00.1234567Z', '2026-03-01T09:30:00.123456Z'],
    ['2026-03-01T09:30:00.123456Z', '2026-03-01T09:30:00.123456Z'],
  ])('of a moment to the microsecond is cut, and not rounded: %s', (given, kept) => {
    expect(readRecord(Kinds, { moment: given })).toEqual({ record: { moment: kept } });
  });

  it.each([5, null, 'a', TOO_LONG, 'a@b.co\0', ['a@b.co']])('of addresses names the one at fault: %j', (address) => {
    expect(faultOf('emails', ['a@b.co', address])).toBe('emails[1]');
  });
});
