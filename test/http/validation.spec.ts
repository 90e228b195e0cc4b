import { BadRequestException } from '@nestjs/common';
import fc from 'fast-check';
import { PageQuery } from '../../src/api-schema/parameters';
import { EventAddLeadsV0Input, EventCreateV0Input } from '../../src/events/event.dto';
import { ValueCounter } from '../../src/http/value-counter';
import { RequestValidationPipe } from '../../src/http/validation.pipe';
import { LeadActivityEventsQuery } from '../../src/lead-activity-events/lead-activity-event.dto';
import { LeadPatchV0Input } from '../../src/leads/lead.dto';
import { phone } from '../support/builders';

const UPPER = '0190A1B2-C3D4-7E5F-8A9B-0C1D2E3F4A5B';

const read = (metatype: new () => object, value: unknown, type: 'body' | 'query' = 'body') =>
  new RequestValidationPipe().transform(value, { type, metatype });
const faultOf = async (metatype: new () => object, value: unknown): Promise<string> => {
  const fault = await read(metatype, value).then(
    () => undefined,
    (error: Error) => error.message,
  );
  return /^Missing or invalid '(.*)'$/.exec(fault ?? '')?.[1] ?? '';
};

describe('validation', () => {
  it('converts values, and drops fields that the class does not have, in nested objects too', async () => {
    const body = { phoneNumbers: [{ ...phone(), unknown: 1 }], unknown: { a: 1 } };
    const instance = await read(LeadPatchV0Input, body);
    expect(JSON.parse(JSON.stringify(instance))).toEqual({ phoneNumbers: [phone()] });
    const query = await read(LeadActivityEventsQuery, { leadId: UPPER }, 'query');
    expect(query).toMatchObject({ leadId: UPPER.toLowerCase() });
  });

  it.each<[string, new () => object, object, string]>([
    ['the first in the order of the fields', EventCreateV0Input, { endDate: 1, eventName: '' }, 'eventName'],
    [
      'a nested one by its path',
      LeadPatchV0Input,
      { phoneNumbers: [phone(), phone({ type: 'X' })] },
      'phoneNumbers[1].type',
    ],
    ['an entry that is null', LeadPatchV0Input, { phoneNumbers: [phone(), null] }, 'phoneNumbers[1]'],
    ['an entry that is an array', LeadPatchV0Input, { phoneNumbers: [[]] }, 'phoneNumbers[0]'],
    ['an entry that is an array of objects', LeadPatchV0Input, { phoneNumbers: [[phone()]] }, 'phoneNumbers[0]'],
    ['an entry that is text', LeadPatchV0Input, { phoneNumbers: [phone(), 'x'] }, 'phoneNumbers[1]'],
    ['the first entry at fault', LeadPatchV0Input, { phoneNumbers: [{}, 'x'] }, 'phoneNumbers[0].number'],
    ['an entry of a flat list that is null', EventAddLeadsV0Input, { eventLeads: [null] }, 'eventLeads[0]'],
    ['an entry of a flat list that is an array', EventAddLeadsV0Input, { eventLeads: [[]] }, 'eventLeads[0]'],
    ['a field of a flat list', EventAddLeadsV0Input, { eventLeads: [{ leadId: UPPER }, {}] }, 'eventLeads[1].leadId'],
    [
      'a flag of a flat list that is null',
      EventAddLeadsV0Input,
      { eventLeads: [{ leadId: UPPER, registered: null }] },
      'eventLeads[0].registered',
    ],
    ['a list that is an object', LeadPatchV0Input, { phoneNumbers: { number: '1' } }, 'phoneNumbers'],
    ['a list that is too long', LeadPatchV0Input, { phoneNumbers: Array(51).fill(phone()) }, 'phoneNumbers'],
    ['an object that is an array', LeadPatchV0Input, { remoteId: [{ id: '1', integrationType: 'ZOHO' }] }, 'remoteId'],
    ['an object that is null', LeadPatchV0Input, { remoteId: null }, 'remoteId'],
    ['a field of an object', LeadPatchV0Input, { remoteId: { id: '1' } }, 'remoteId.integrationType'],
    [
      'a date before another',
      EventCreateV0Input,
      { eventName: 'a', eventType: 'EVENT', startDate: '2026-05-02', endDate: '2026-05-01' },
      'endDate',
    ],
  ])('names %s', async (_, type, body, path) => {
    expect(await faultOf(type, body)).toBe(path);
  });

  it.each([null, []])('takes %j for a list that may be null', async (phoneNumbers) => {
    expect(await read(LeadPatchV0Input, { phoneNumbers })).toEqual({ phoneNumbers });
  });

  it('does not name a parameter of the query', async () => {
    await expect(read(PageQuery, { limit: 'x' }, 'query')).rejects.toEqual(new BadRequestException());
    expect(await read(PageQuery, { limit: '99' }, 'query')).toEqual({ limit: 50, offset: 0 });
  });

  it('leaves path parameters to their own pipes', async () => {
    expect(await new RequestValidationPipe().transform('0x10', { type: 'param', metatype: Number })).toBe('0x10');
  });
});

/** Values as JSON.parse sees them. */
const valuesIn = (value: unknown): number =>
  typeof value === 'object' && value !== null
    ? Object.values(value).reduce((sum: number, inner) => sum + valuesIn(inner), 1)
    : 1;

describe('the counter of values', () => {
  const count = (pieces: Buffer[]): ValueCounter => {
    const counter = new ValueCounter();
    for (const piece of pieces) counter.add(piece);
    return counter;
  };

  it('counts what JSON.parse would build, however the text is cut into pieces', () => {
    const text = fc.json({ maxDepth: 6 }).map((json) => Buffer.from(json));
    fc.assert(
      fc.property(text, fc.nat(), (bytes, cut) => {
        const at = cut % (bytes.length + 1);
        const counter = count([bytes.subarray(0, at), bytes.subarray(at)]);
        expect(counter.values).toBe(valuesIn(JSON.parse(bytes.toString())));
      }),
      { seed: 1, numRuns: 2000 },
    );
  });

  it.each([
    ['32 levels', '[', 32, undefined],
    ['33 levels', '[', 33, 400],
    ['19,999 entries and their array', '1,', 19_998, undefined],
    ['20,000 entries and their array', '1,', 19_999, 413],
  ])('%s', (_, part, times, status) => {
    const text = part === '[' ? part.repeat(times) : `[${part.repeat(times)}1]`;
    let thrown: number | undefined;
    try {
      count([Buffer.from(text)]);
    } catch (error) {
      thrown = (error as BadRequestException).getStatus();
    }
    expect(thrown).toBe(status);
  });
});
