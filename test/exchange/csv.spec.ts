import { randomUUID } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { getMetadataStorage } from 'class-validator';
import { unescapeFormula, escapeFormula } from '../../src/exchange/csv/csv-formulas';
import { csvImportSource } from '../../src/exchange/csv/read';
import { asOperator } from '../support/database';
import { ImportService } from '../../src/exchange/datasets/import.service';
import { query } from '../../src/testing/test-database';
import { createExhibitor, industryEventInput } from '../support/builders';
import type { Tenant } from '../support/lanyard';
import { install, Installation, Outcome } from '../support/operator';
import { DATASETS } from '../support/contexts';
import { CSV, mappingOfNames } from '../support/csv-files';

type Lead = Record<string, unknown> & { id: string };

describe('CSV', () => {
  const folder = mkdtempSync(join(tmpdir(), 'lanyard-csv-'));
  let installation: Installation;
  let tenant: Tenant;
  beforeAll(async () => void (installation = await install()));
  afterAll(() => rmSync(folder, { recursive: true }));
  beforeEach(async () => void (tenant = await installation.server.tenant()));

  const importing = (content: string | Buffer, section: string, ...options: string[]): Promise<Outcome> => {
    const file = join(folder, 'import.csv');
    writeFileSync(file, content);
    const of = ['--organization', String(tenant.organizationId), '--csv', section];
    return installation.operator.run(['import', file, ...of, ...options]);
  };
  const exporting = async (section: string, ...options: string[]): Promise<string> => {
    const of = ['--organization', String(tenant.organizationId), '--csv', section];
    const { status, stdout, stderr } = await installation.operator.run(['export', ...of, ...options]);
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
    return stdout;
  };
  const imported = (count: number, created: number, updated = 0, what = 'lead'): Outcome => {
    const [of, made, changed, same] = [count, created, updated, count - created - updated].map((number) =>
      number.toLocaleString('en-US'),
    );
    const names = `${of} ${what}${count === 1 ? '' : 's'}`;
    const text = `^Imported ${names}: ${made} created, ${changed} updated, ${same} unchanged\\.\nImport ID: [\\da-f-]{36}\n$`;
    return { status: 0, stdout: expect.stringMatching(text) as string, stderr: '' };
  };
  const leads = (): Promise<Lead[]> => tenant.api.all<Lead>('/leads', 'leads');

  describe('of leads', () => {
    it('is read by the names of its columns where all of them are fields', async () => {
      const csv = [
        'firstName,lastName,email,company.name,company.city,numberOfScans,isEnriched,phone,remoteIds.SALES_FORCE',
        'Ada,Rowe,ada@example.com,Cobalt Systems,Łódź,3,yes,+44 12345,003-1',
        '"Éva ""Eve""","Ito, B.","",,,,,,',
        '',
      ].join('\r\n');
      expect(await importing(`\uFEFF${csv}`, 'leads')).toEqual(imported(2, 2));
      const [ada, eve] = await leads();
      expect(ada).toMatchObject({
        firstName: 'Ada',
        email: 'ada@example.com',
        numberOfScans: 3,
        isEnriched: true,
        company: { name: 'Cobalt Systems', city: 'Łódź' },
        phoneNumbers: { leadProvided: [{ number: '+44 12345', type: 'UNKNOWN', preferred: true }] },
        remoteIds: [{ id: '003-1', integrationType: 'SALES_FORCE' }],
      });
      expect(eve).toMatchObject({ firstName: 'Éva "Eve"', lastName: 'Ito, B.', email: null, numberOfScans: 0 });
    });

    it('changes, by id or ref, the file’s columns of leads that are there, and adds the others', async () => {
      await importing('ref,firstName,lastName,phone\nCRM-1,Ada,Rowe,+44 12345\nCRM-2,Ben,Ito,+44 54321\n', 'leads');
      const [ada, ben] = await leads();
      const again = 'ref,jobTitle,phone.mobile\nCRM-1,Head,+44 33333\nCRM-2,,\nCRM-3,Buyer,\n';
      expect(await importing(again, 'leads')).toEqual(imported(3, 1, 1));
      await importing(`id,email\n${ben?.id.toUpperCase()},ben@example.com\n`, 'leads');
      const mobile = { number: '+44 33333', type: 'MOBILE', preferred: true };
      const [newAda, newBen, ...others] = await leads();
      expect(others).toHaveLength(1);
      expect(newAda).toEqual({
        ...ada,
        jobTitle: 'Head',
        phoneNumbers: { leadProvided: [mobile], serviceProvided: [] },
      });
      expect(newBen).toEqual({ ...ben, email: 'ben@example.com' });
      await importing('ref,firstName\n,Eve\n,Zoë\n', 'leads');
      expect(await leads()).toHaveLength(5);
    });

    it('of many rows is all of it or nothing, also where stored leads are changed', async () => {
      const rows = Array.from({ length: 2500 }, (_, index) => `CRM-${index},Ada ${index},ada${index}@example.com\n`);
      const head = 'ref,firstName,email\n';
      expect(await importing(head + rows.join(''), 'leads')).toEqual(imported(2500, 2500));
      const renamed = rows.map((row) => row.replace('Ada', 'Bea').replace(/[^,]+$/, 'Rowe\n'));
      const partly = 'ref,firstName,lastName\n';
      const spoilt = [...renamed.slice(0, 2400), 'CRM-1,Bea\n'].join('');
      expect(await importing(partly + spoilt, 'leads', '--overwrite')).toMatchObject({
        status: 1,
        stderr: expect.stringMatching(/^line 2402, column "ref": Duplicate of line 3\./) as string,
      });
      const stored = (where: string) =>
        query(
          installation.database.url,
          `select count(*)::integer as count from leads where organization_id = ${tenant.organizationId} and ${where}`,
        );
      expect(await stored(`first_name like 'Ada %' and last_name is null`)).toEqual([{ count: 2500 }]);
      expect(await importing(partly + renamed.join(''), 'leads', '--overwrite')).toEqual(imported(2500, 0, 2500));
      expect(await stored(`first_name like 'Bea %' and last_name = 'Rowe' and email like 'ada%'`)).toEqual([
        { count: 2500 },
      ]);
    });

    it.each([
      ['an empty file', '\n', 'line 1: The file is empty.'],
      [
        'a bad value',
        'firstName,email\n"a\nb",a@b.co\nc,nobody\n',
        'line 4, column "email": "nobody" is not a valid email.',
      ],
      [
        'a number that is none',
        'numberOfScans\n1e3\n',
        'line 2, column "numberOfScans": "1e3" is not a valid numberOfScans.',
      ],
      ['a list that is none', 'remoteIds\nCRM-1\n', 'line 2, column "remoteIds": "CRM-1" is not a valid remoteIds.'],
      [
        'part of a bad list',
        'remoteIds,remoteIds.ZOHO\nx,1\n',
        'line 2, column "remoteIds": "x" is not a valid remoteIds.',
      ],
      [
        'a list of wrong things',
        'tags\nx\n',
        'line 2, column "tags": No tag option is called "x". Use an option\'s ID or the value of exactly one option, or create the missing options with --create-tags GROUP.',
      ],
      [
        'an unknown event',
        'events\n\nx; y\n',
        'line 3, column "events": No event matches "x". Use its ref, its ID, or a name that only one event has.',
      ],
      [
        'a quote that is not closed',
        'email\n"a@b.co\n\n\n',
        'line 2: Unclosed quotation mark, or a row over 16 MiB, starting on this line.',
      ],
      [
        'a row that is too long',
        `email\n${'x'.repeat((16 << 20) + 2)}\n`,
        'line 2: Unclosed quotation mark, or a row over 16 MiB, starting on this line.',
      ],
    ])(
      'that is wrong is refused, naming %s',
      async (_, content, reason) => {
        const { status, stdout, stderr } = await importing(content, 'leads');
        expect({ status, stdout }).toEqual({ status: 1, stdout: '' });
        expect(stderr).toContain(reason);
        expect(await leads()).toEqual([]);
      },
      120_000,
    );

    it('does not undo what clients change meanwhile in other columns', async () => {
      const ids = [randomUUID(), randomUUID()] as const;
      await tenant.import({ leads: ids.map((id) => ({ id, firstName: 'Ada', lastName: 'Rowe' })) });
      const db = await asOperator(installation.database.url);
      const wanted = { mapping: mappingOfNames(['id', 'firstName', 'remoteIds.ZOHO']), optionValues: [] };
      async function* chunks() {
        yield Buffer.from(`id,firstName,remoteIds.ZOHO\n${ids.map((id) => `${id},Éva,z-1\n`).join('')}`);
        const remoteId = { id: 'h-1', integrationType: 'HUB_SPOT' };
        await tenant.api.patch(`/leads/${ids[0]}`, { description: 'A client was here', remoteId }).expect(200);
      }
      await new ImportService(db, DATASETS).importRecords(tenant.organizationId, csvImportSource(CSV, wanted, chunks));
      const { body } = await tenant.api.get(`/leads/${ids[0]}`).expect(200);
      expect(body.results).toMatchObject({ firstName: 'Éva', lastName: 'Rowe', description: 'A client was here' });
      expect((body.results.remoteIds as object[]).length).toBe(2);
    });

    it('is written so that it is read without a loss', async () => {
      const { users, tagGroup, event, activation, lead } = createExhibitor();
      const odd = { ...lead, id: '7c9e0000-0000-4000-8000-000000000001', firstName: '=1+1', lastName: `'@x, "y"\r\nz` };
      const bare = { id: '7c9e0000-0000-4000-8000-000000000002' };
      const dataset = { users, tagGroups: [tagGroup], events: [event], activations: [activation] };
      await tenant.import({ ...dataset, leads: [lead, odd, bare] });
      const output = join(folder, 'export.csv');
      await exporting('leads', '--bom', '--output', output);
      const csv = readFileSync(output, 'utf8');
      expect(csv).toMatch(/^\uFEFFid,createdAt,createdBy,firstName,/);
      expect(csv).toContain(`,'=1+1,"''@x, ""y""\r\nz",`);
      const before = await leads();
      expect(await importing(csv, 'leads')).toEqual(imported(3, 0));
      expect(await leads()).toEqual(before);
      expect(`\uFEFF${await exporting('leads')}`).toBe(csv);
    });
  });

  describe('of industry events', () => {
    it('is read, deduplicated by eventUrl, and written so that it is read without a loss', async () => {
      const [one, two] = [industryEventInput({ keywords: ['a;b', 'c'] }), industryEventInput({ keywords: [] })];
      await tenant.api.post('/industryEvents', one).expect(200);
      await tenant.api.post('/industryEvents', { ...two, exhibitorIndustries: null }).expect(200);
      const name = one.name;
      const fresh = `name,eventUrl,keywords,venueCity,numberOfAttendees,isBookmarked\nPump World,https://p.example,"pumps; valves",Łódź,4000,true\nTwice,${one.eventUrl},,,,\n`;
      expect(await importing(fresh, 'industryEvents')).toEqual(imported(2, 1, 0, 'industry event'));
      type Event = Record<string, unknown> & { id: string };
      const all = () => tenant.api.all<Event>('/industryEvents', 'industryEvents');
      const before = await all();
      expect(before.map((event) => event.name)).toEqual([name, two.name, 'Pump World']);
      expect(before[2]).toMatchObject({ keywords: ['pumps', 'valves'], venueCity: 'Łódź', numberOfAttendees: 4000 });

      const csv = await exporting('industryEvents');
      expect(csv).toContain('"""a;b""; c"');
      expect(csv).toMatch(/,pumps; valves,.*,true\n/);
      const id = String(before[2]?.id);
      await importing(`id,venueName\n${id},Hall 3\n`, 'industryEvents');
      const [, , changed] = await all();
      expect({ ...changed, updatedAt: before[2]?.updatedAt }).toEqual({ ...before[2], venueName: 'Hall 3' });
      expect(String(changed?.updatedAt) > String(before[2]?.updatedAt)).toBe(true);
      expect(await importing(csv, 'industryEvents')).toEqual(imported(3, 0, 1, 'industry event'));
      expect(await all()).toEqual(before);
      expect(await exporting('industryEvents')).toBe(csv);
      expect((await tenant.api.get('/industryEvents/bookmarks').expect(200)).body.results.industryEvents).toHaveLength(
        1,
      );
    });
  });

  it('has a field for all that a dataset has', () => {
    const written = (section: string) =>
      CSV.fields(section).flatMap(({ name, format }) =>
        format ? [name.replace(/\..*/, '').replace(/^phone$/, 'phoneNumbers')] : [],
      );
    for (const section of ['leads', 'industryEvents'] as const) {
      const metadata = getMetadataStorage().getTargetValidationMetadatas(DATASETS.of(section).record, '', false, false);
      const names = new Set(metadata.map(({ propertyName }) => propertyName));
      expect(new Set(written(section))).toEqual(names);
    }
  });

  it('has an apostrophe before what a spreadsheet would run, which is removed again', () => {
    for (const cell of ['=1', '+1', '-1', '@a', '\tx', '\rx', '\nx', '＝1', "'=1", "''-1", "'0441"]) {
      expect(escapeFormula(cell)).toBe(`'${cell}`);
      expect(unescapeFormula(escapeFormula(cell))).toBe(cell);
    }
    for (const cell of ['', 'a=1', "'twas", "''", ' =1', '1-1']) {
      expect([escapeFormula(cell), unescapeFormula(cell)]).toEqual([cell, cell]);
    }
  });
});
