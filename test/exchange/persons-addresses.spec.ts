import { randomUUID } from 'node:crypto';
import fc from 'fast-check';
import { DataSource } from 'typeorm';
import { PersonsService } from '../../src/exchange/persons/persons.service';
import { isVisibleEmail, isWithinLength } from '../../src/fields/text';
import { leadInput } from '../support/builders';
import { type InProcess, startInProcess, type Tenant } from '../support/lanyard';
import { operatorServices } from '../support/operator-services';

/** Letters whose case JavaScript and PostgreSQL fold in different ways, other scripts, and marks. */
const LETTERS = [...'aZ09İıßẞΣσςÀéЖжאب中ｱﬀǅ\u0301\u0345Kſ'];
const MARKS = [..."!#$%&'*+-/=?^_`{|}~."];
const QUOTED = [...'a;,:<>()[]@ |', '\\"', '\\\\', '\u00a0', '\u2028', 'Σ', 'İ'];

const textOf = (parts: string[], maxLength: number): fc.Arbitrary<string> =>
  fc.array(fc.constantFrom(...parts), { minLength: 1, maxLength }).map((chosen) => chosen.join(''));

/** Addresses as the API accepts them: quoted parts, all scripts, lengths, marks. */
const address = fc
  .tuple(
    fc.oneof(
      textOf([...LETTERS, ...MARKS], 12),
      textOf(LETTERS, 64),
      textOf(QUOTED, 12).map((text) => `"${text}"`),
    ),
    fc.array(textOf([...LETTERS, '-'], 20), { minLength: 1, maxLength: 6 }),
    fc.constantFrom('example', 'рф', 'ΑΣ', 'xn--p1ai', 'İı'),
  )
  .map(([local, labels, top]) => `${local}@${labels.join('.')}.${top}`)
  .filter((text) => isVisibleEmail(text) && isWithinLength(text, 255));

/** Other spellings of an address, and other addresses that contain it. */
const spellings = (text: string): string[] =>
  [text, text.toUpperCase(), text.toLowerCase(), `x_${text}`, `${text}x`].filter(
    (each) => isVisibleEmail(each) && isWithinLength(each, 255),
  );

describe('who is alike', () => {
  let lanyard: InProcess;
  let persons: PersonsService;
  let db: DataSource;
  let tenant: Tenant;
  beforeAll(async () => {
    lanyard = await startInProcess();
    persons = (await operatorServices(lanyard.config.databaseUrl ?? '')).get(PersonsService);
    db = lanyard.app.get(DataSource);
  });
  beforeEach(async () => {
    tenant = await lanyard.tenant();
  });

  const personOf = (emails: string[], phones: string[] = []) => ({
    organizationId: tenant.organizationId,
    emails,
    phones,
    leads: [],
  });
  const idsOf = (rows: { id: string }[]): string[] => rows.map(({ id }) => id).sort();
  const erase = (emails: string[]) =>
    persons.erase([personOf(emails)], {
      alsoAsUser: false,
      onWait: () => undefined,
      confirm: () => Promise.resolve(true),
    });

  it('finds and erases by every address that the API accepts what the API finds by it, and nobody else', async () => {
    const run = async (addresses: string[]): Promise<void> => {
      tenant = await lanyard.tenant();
      const all = [...new Set(addresses.flatMap(spellings))];
      const leads = all.flatMap((each) => [
        { id: randomUUID(), email: each, of: each },
        { id: randomUUID(), professionalEmails: `first@list.example; ${each}, "la;st"@list.example`, of: each },
      ]);
      await tenant.import({ leads: leads.map(({ of: _, ...lead }) => lead) });
      const sameAs = async (wanted: string): Promise<string[]> => {
        const rows = await db.query<{ same: string }[]>(
          'select same from unnest($1::text[]) same where lower(same) = lower($2)',
          [all, wanted],
        );
        return rows.map(({ same }) => same);
      };
      for (const each of addresses) {
        const same = await sameAs(each);
        const own = leads.filter((lead) => same.includes(lead.of));
        const { data } = await persons.find(personOf([each]));
        expect({ each, found: idsOf(data.records) }).toEqual({ each, found: idsOf(own) });
        const { body } = await tenant.api.get(`/leads?limit=100&email=${encodeURIComponent(each)}`).expect(200);
        const { results } = body as { results: { leads: { id: string }[] } };
        expect({ each, listed: idsOf(results.leads) }).toEqual({
          each,
          listed: idsOf(own.filter((lead) => lead.email)),
        });
      }
      const [first = ''] = addresses;
      const erased = await sameAs(first);
      await erase([first]);
      const left = await db.query<{ id: string }[]>('select id from leads where organization_id = $1', [
        tenant.organizationId,
      ]);
      expect({ first, left: idsOf(left) }).toEqual({
        first,
        left: idsOf(leads.filter((lead) => !erased.includes(lead.of))),
      });
    };
    await fc.assert(fc.asyncProperty(fc.uniqueArray(address, { minLength: 1, maxLength: 5 }), run), {
      numRuns: 12,
      endOnFailure: true,
    });
  });

  it.each(['İda@ex.example', 'ΑΣ@ex.example', '"a,b"@ex.example', `o'neil@ex.example`, 'a|b@ex.example'])(
    'finds %s, as an address and among others',
    async (text) => {
      const ids = [randomUUID(), randomUUID()];
      await tenant.import({
        leads: [
          { id: ids[0], email: text },
          { id: ids[1], personalEmails: `Ada <${text}>:::x@ex.example` },
          { id: randomUUID(), email: 'other@ex.example' },
        ],
      });
      expect(idsOf((await persons.find(personOf([text]))).data.records)).toEqual([...ids].sort());
    },
  );

  it('compares numbers by their digits, and shows those of which one is the end of the other', async () => {
    const id = randomUUID();
    const phoneNumbers = { leadProvided: [{ number: '+49 170 1234567', type: 'MOBILE', preferred: true }] };
    await tenant.import({ leads: [{ id, phoneNumbers }] });
    const found = async (number: string) => {
      const { data } = await persons.find(personOf([], [number]));
      return { records: data.records.length, possible: data.possible.length };
    };
    for (const number of ['+491701234567', '0049 (170) 123-4567', '49 170 1234567']) {
      expect({ number, ...(await found(number)) }).toEqual({ number, records: 1, possible: 0 });
    }
    for (const number of ['0170 1234567', '+49 (0)170 1234567', '1234567']) {
      expect({ number, ...(await found(number)) }).toEqual({ number, records: 0, possible: 1 });
    }
    for (const number of ['234567', '+48 170 1234567', '+49 170 1234568']) {
      expect({ number, ...(await found(number)) }).toEqual({ number, records: 0, possible: 0 });
    }
  });

  it('compares the digits of a number whatever stands between them', async () => {
    const numbers: [number: string, kind: 'records' | 'possible'][] = [
      ['+49\u001f170\u0007 "12\\3" 4567', 'records'],
      ['0049 170 12u003\t4567', 'records'],
      ['+49 (0)170 12(0)34567', 'possible'],
      ['49-170/123.4567', 'records'],
    ];
    const leads = numbers.map(([number]) => ({
      id: randomUUID(),
      phoneNumbers: { serviceProvided: [{ number, type: 'MOBILE', preferred: false }] },
    }));
    await tenant.import({ leads });
    const { data } = await persons.find(personOf([], ['+49 170 1234567', '+49 170 120034567']));
    const found = { records: idsOf(data.records), possible: idsOf(data.possible) };
    const expected = (kind: string) => idsOf(leads.filter((_, n) => numbers[n]![1] === kind));
    expect(found).toEqual({ records: expected('records'), possible: expected('possible') });
  });

  it('erases the stored responses that hold an address as a whole value or word, and no longer address', async () => {
    const send = async (key: string, input: object) => {
      const { status } = await tenant.api.post('/leads', leadInput(input)).set('Idempotency-Key', key);
      return status;
    };
    const inputs: [key: string, input: object, status: number][] = [
      ['whole', { email: 'bob@firm.example' }, 410],
      ['upper', { email: 'BOB@firm.example' }, 410],
      ['word', { email: 'c@firm.example', firstName: 'line\nbob@firm.example.' }, 410],
      ['escaped', { email: 'd@firm.example', firstName: 'Bob "B" <bob@firm.example>' }, 410],
      ['longer', { email: 'x_bob@firm.example' }, 200],
      ['apostrophe', { email: `o'bob@firm.example` }, 200],
      ['domain', { email: 'bob@firm.example.org' }, 200],
    ];
    for (const [key, input] of inputs) expect(await send(key, input)).toBe(200);
    expect(await erase(['bob@firm.example'])).toMatchObject({ leads: 2, storedAnswers: 4 });
    for (const [key, input, status] of inputs) expect({ key, status: await send(key, input) }).toEqual({ key, status });
  });
});
