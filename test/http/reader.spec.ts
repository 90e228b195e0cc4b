import { plainToInstance } from 'class-transformer';
import { getMetadataStorage, validateSync } from 'class-validator';
import fc from 'fast-check';

import { EventAddLeadsV0Input, EventCreateV0Input, EventLeadInput } from '../../src/events/event.dto';
import { PageQuery } from '../../src/api-schema/parameters';
import { Class, firstFault, instantiate } from '../../src/http/reader';
import { IndustryEventsQuery, IndustryEventUpdateV0Input } from '../../src/industry-events/industry-event.dto';
import { ValidationPipe } from '../../src/http/validation.pipe';
import { LeadActivityEventsQuery } from '../../src/lead-activity-events/lead-activity-event.dto';
import { LeadCreateV0Input, LeadPatchV0Input, RemoteIdInput } from '../../src/leads/lead.dto';
import { LeadPhoneNumbers, PhoneNumber } from '../../src/leads/lead.response';
import { RECORDS } from '../../src/cli/import/dataset';

const OPTIONS = { whitelist: true, forbidUnknownValues: true };

/** What class-transformer and class-validator make of the same value. */
function byTheLibraries(type: Class, plain: object): { instance: object; fault: string | undefined } {
  const instance = plainToInstance(type, plain);
  const [fault] = validateSync(instance, OPTIONS);
  dropUndeclared(Object.values(instance));
  return { instance, fault: fault && `${fault.property}${Object.values(fault.constraints ?? {})[0] ?? ''}` };
}

/** class-validator takes away what is not declared from each object that it is given. */
function dropUndeclared(values: unknown[]): void {
  for (const value of values) {
    if (typeof value !== 'object' || value === null) continue;
    if (!Array.isArray(value) && value.constructor !== Object) validateSync(value, OPTIONS);
    dropUndeclared(Object.values(value));
  }
}

const classes: Class[] = [
  ...Object.values(RECORDS),
  ...[EventCreateV0Input, EventAddLeadsV0Input, EventLeadInput, IndustryEventUpdateV0Input],
  ...[LeadCreateV0Input, LeadPatchV0Input, RemoteIdInput, LeadPhoneNumbers, PhoneNumber],
  ...[PageQuery, IndustryEventsQuery, LeadActivityEventsQuery],
];

const namesOf = (type: Class): string[] =>
  getMetadataStorage()
    .getTargetValidationMetadatas(type, '', false, false)
    .map(({ propertyName }) => propertyName);

const UPPER = '0190A1B2-C3D4-7E5F-8A9B-0C1D2E3F4A5B';
/** Each field finds a value here that suits it, and many that do not. */
const VALUES: unknown[] = [
  ...['', ' ', 'Ada', 'a\0b', 'x'.repeat(256), '2026-02-30', '2026-03-01', '2026-03-01T10:00:00+02:00', '09:30:00'],
  ...['DRAFT', 'PUBLISHED', 'CONFERENCE', 'MOBILE', 'HUB_SPOT', 'SMS', '7', '-1', 'ada@lead.example', 'ada@'],
  ...[UPPER, UPPER.toLowerCase(), null, true, false, 0, 1, -1, 1.5, 2 ** 31, [], [null], ['Ada'], [UPPER], {}],
  ...[[{}], [[]], { name: 'Ada' }, { city: 7 }, [{ tagOptionId: UPPER }], [{ leadId: UPPER }, { leadId: 7 }]],
  ...[[{ number: '1', type: 'MOBILE', preferred: true }], { leadProvided: [{ number: '1', type: 'MOBILE' }] }],
  ...[{ id: 'a', integrationType: 'ZOHO' }, [{ id: 'a', integrationType: 'ZOHO' }], ['ada@lead.example']],
];

/** Mostly values that a field takes by itself: else the first field would hide the others. */
const likely = (type: Class, name: string): fc.Arbitrary<unknown> => {
  const taken = VALUES.filter((value) => {
    const faults = validateSync(plainToInstance(type, { [name]: value }));
    return !faults.some(({ property }) => property === name);
  });
  return taken.length === 0
    ? fc.constantFrom(...VALUES)
    : fc.oneof(
        { weight: 15, arbitrary: fc.constantFrom(...taken) },
        { weight: 1, arbitrary: fc.constantFrom(...VALUES) },
      );
};

describe.each(classes.map((type) => [type.name, type] as const))('reading a %s', (_, type) => {
  it('takes and refuses what class-transformer and class-validator do', () => {
    const fields = Object.fromEntries([...namesOf(type), 'unknown'].map((name) => [name, likely(type, name)]));
    const seen = { taken: 0, refused: 0 };
    fc.assert(
      fc.property(fc.oneof(fc.record(fields), fc.record(fields, { requiredKeys: [] })), (plain) => {
        const instance = instantiate<object>(type, plain);
        const expected = byTheLibraries(type, plain);
        expect(firstFault(instance)).toBe(expected.fault);
        if (expected.fault === undefined) expect(instance).toEqual(expected.instance);
        seen[expected.fault === undefined ? 'taken' : 'refused']++;
      }),
      { seed: 1, numRuns: 500 },
    );
    expect(Object.values(seen)).not.toContain(0);
  });
});

describe('reading', () => {
  const lead = { id: UPPER, createdAt: '2026-03-01T10:00:00+02:00', unknown: 1 };

  it('converts, keeps defaults and drops what is not declared', () => {
    const instance = instantiate<object>(RECORDS.leads, lead);
    expect(firstFault(instance)).toBeUndefined();
    expect({ ...instance }).toEqual({
      id: UPPER.toLowerCase(),
      createdAt: '2026-03-01T08:00:00.000Z',
      isEnriched: false,
      numberOfScans: 0,
      ...{ tags: [], activations: [], events: [], remoteIds: [] },
    });
  });

  it('drops what is not declared in nested objects too', () => {
    const phone = { number: '1', type: 'MOBILE', preferred: true };
    const instance = instantiate<object>(LeadPhoneNumbers, {
      leadProvided: [{ ...phone, unknown: 1 }],
      serviceProvided: [],
    });
    expect(firstFault(instance)).toBeUndefined();
    expect(JSON.parse(JSON.stringify(instance))).toEqual({ leadProvided: [phone], serviceProvided: [] });
  });

  it('names the first fault in the order of the fields, with its path', () => {
    const faulty = { ...lead, email: 7, tags: [{ tagOptionId: lead.id }, { tagOptionId: 'x' }] };
    expect(firstFault(instantiate<object>(RECORDS.leads, faulty))).toBe('email');
    expect(firstFault(instantiate<object>(RECORDS.leads, { ...faulty, email: null }))).toBe('tags[1].tagOptionId');
  });
});

describe('the pipe', () => {
  it.each(['body', 'query'] as const)('leaves a %s alone that is declared without a class', (type) => {
    const value = { a: 1 };
    expect(new ValidationPipe().transform(value, { type, metatype: Object })).toBe(value);
    expect(new ValidationPipe().transform(value, { type })).toBe(value);
  });

  it('leaves alone what is neither body nor query', () => {
    expect(new ValidationPipe().transform('x', { type: 'param', metatype: PageQuery })).toBe('x');
  });
});
