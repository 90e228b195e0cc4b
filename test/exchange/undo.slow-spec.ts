import { randomUUID } from 'node:crypto';
import { existsSync, mkdtempSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { DataSource } from 'typeorm';
import { CheckService } from '../../src/data/schema/check.service';
import type { Undo } from '../../src/exchange/datasets/undo.service';
import { SCHEMA } from '../support/contexts';
import { asOperator } from '../support/database';
import type { Tenant } from '../support/lanyard';
import { install, type Installation, type Outcome, waitForOutcome } from '../support/operator';
import { listRecords, Replica } from '../support/replica';
import { lockWaits, waitUntil } from '../support/wait';

type Fields = Record<string, unknown>;
type Result = Undo & { importId: string; before: string | null; dryRun?: boolean };

const NOTHING_LEFT = { changed: {}, inUse: {}, deleted: {}, gone: {}, taken: {} };
const PHONE = { type: 'MOBILE', preferred: true };
const phones = (...numbers: string[]) => ({
  leadProvided: numbers.map((number, n) => ({ ...PHONE, number, preferred: n === 0 })),
});

describe('imports undo brings back field by field what an import changed', () => {
  let folder: string;
  let installation: Installation;
  let db: DataSource;
  let tenant: Tenant;
  let before: string;

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'lanyard-undo-'));
    installation = await install();
    db = await asOperator(installation.database.url);
  });
  afterAll(() => rmSync(folder, { recursive: true }));
  beforeEach(async () => {
    tenant = await installation.server.tenant();
    before = join(folder, `${randomUUID()}.ndjson`);
  });

  const of = (...args: string[]): string[] => [...args, '--organization', String(tenant.organizationId)];
  const importing = (content: object, ...options: string[]): Promise<{ importId: string }> =>
    installation.operator.json(of('import', '-', ...options), JSON.stringify(content));
  const importingCsv = (content: string, ...options: string[]): Promise<{ importId: string }> =>
    installation.operator.json(of('import', '-', '--csv', 'leads', ...options), content);
  const undo = (importId: string, ...options: string[]): Promise<Result> =>
    installation.operator.json(of('imports', 'undo', importId, ...options));
  const ids = (count: number): string[] => Array.from({ length: count }, () => randomUUID()).sort();
  const exported = (): Promise<Record<string, Fields[]>> => installation.operator.json(of('export'));
  const leadOf = async (id: string): Promise<Fields> => {
    const { leads } = await exported();
    return leads!.find((lead) => lead.id === id)!;
  };
  const patch = (id: string, fields: object) => tenant.api.patch(`/leads/${id}`, fields).expect(200);
  /** As somebody does who works with another program on the same database: clients cannot. */
  const addTag = (lead: string, option: string): Promise<unknown> =>
    db.query('insert into lead_tags (organization_id, lead_id, tag_option_id, position) values ($1, $2, $3, 9)', [
      tenant.organizationId,
      lead,
      option,
    ]);
  /** Undoes an import, after a dry run that says the same. */
  const undoAsForetold = async (importId: string, ...options: string[]): Promise<Result> => {
    const { dryRun, ...foretold } = await undo(importId, '--dry-run', ...options);
    const undone = await undo(importId, ...options);
    expect({ dryRun, ...foretold }).toEqual({ dryRun: true, ...undone });
    const { lists, documents } = await new CheckService(db, SCHEMA).check(false);
    expect({ lists: lists?.wrong, documents: documents?.wrong }).toEqual({ lists: 0, documents: 0 });
    return undone;
  };
  const tagGroup = (group: string, options: string[]) => ({
    id: group,
    name: 'Interest',
    status: 'PUBLISHED',
    allowsMultipleSelection: true,
    displayOrder: 1,
    tagOptions: options.map((id, n) => ({ id, displayOrder: n, value: `Value ${id}` })),
  });

  it('keeps what others have corrected, and what they have deleted', async () => {
    const all = ids(500);
    const lead = (id: string, n: number) => ({
      id,
      firstName: 'Ada',
      lastName: `Lead ${n}`,
      company: { name: 'Right' },
      jobTitle: null as string | null,
    });
    const replica = new Replica(tenant.api);
    await importing({ leads: all.map(lead) });
    await replica.follow();
    const original = await exported();
    const wrong = all.map((id, n) => ({ ...lead(id, n), company: { name: 'Wrong', city: 'Kiel' }, jobTitle: 'Buyer' }));
    const { importId } = await importing({ leads: wrong }, '--before', before);
    const corrected = all.slice(0, 10);
    const deleted = all.slice(10, 12);
    for (const id of corrected) await patch(id, { jobTitle: 'Director' });
    for (const id of deleted) await tenant.api.delete(`/leads/${id}`).expect(200);
    const undone = await undoAsForetold(importId);
    expect(undone).toMatchObject({
      importId,
      deleted: {},
      restored: { leads: 498 },
      left: { ...NOTHING_LEFT, changed: { leads: 10 }, deleted: { leads: 2 } },
      laterImports: [],
      undoneAt: null,
      before,
    });
    expect(undone.examples).toEqual(
      expect.arrayContaining([
        ...corrected.map((id) => ({ resource: 'leads', id, field: 'jobTitle', reason: 'changed' })),
        ...deleted.map((id) => ({ resource: 'leads', id, field: null, reason: 'deleted' })),
      ]),
    );
    const stored = (await exported()).leads!;
    expect(stored).toHaveLength(498);
    for (const each of stored) {
      const former = original.leads!.find(({ id }) => id === each.id)!;
      const jobTitle = corrected.includes(each.id as string) ? 'Director' : null;
      expect(each).toEqual({ ...former, jobTitle });
    }
    await replica.follow();
    expect(replica.differencesFrom(await listRecords(tenant.api))).toEqual([]);
    expect(await undo(importId)).toMatchObject({ restored: {}, left: { changed: { leads: 10 } } });
    const { stdout } = await installation.operator.run(of('imports', 'undo', importId));
    expect(stdout).toMatch(/^restored +none$/m);
    expect(stdout).toMatch(/^left +changed \(leads 10\), deleted \(leads 2\)$/m);
    expect(stdout).toContain(`\nleads ${corrected[0]} jobTitle: changed since\n`);
    expect(stdout).toContain(`\nleads ${deleted[0]}: deleted since\n`);
  });

  it('brings back an untouched organization exactly, flags and lists in their order included', async () => {
    const [lead = '', group = '', one = '', two = '', three = ''] = ids(5);
    const ref = randomUUID();
    const base = {
      tagGroups: [tagGroup(group, [one, two])],
      events: [{ ref, name: 'Expo', type: 'CONFERENCE', startDate: '2026-05-04', endDate: '2026-05-05' }],
      leads: [
        {
          id: lead,
          ref: 'A-1',
          firstName: 'Ada',
          personalEmails: 'a@home.example; b@home.example',
          phoneNumbers: phones('1', '2'),
          remoteIds: [{ integrationType: 'SALES_FORCE', id: '003' }],
          tags: [{ tagOptionId: two }, { tagOptionId: one }],
          events: [{ event: ref, registered: true, checkedIn: false }],
        },
      ],
    };
    await importing(base);
    const original = await exported();
    const { importId } = await importing(
      {
        tagGroups: [{ ...tagGroup(group, [two, three]), name: 'Wrong' }],
        events: [{ ...base.events[0], name: 'Wrong', startDate: '2027-05-04', endDate: '2027-05-05' }],
        leads: [
          {
            id: lead,
            ref: 'B-1',
            personalEmails: 'c@home.example',
            phoneNumbers: phones('3'),
            remoteIds: [{ integrationType: 'SALES_FORCE', id: '004' }],
            tags: [{ tagOptionId: three }],
            events: [{ event: ref, registered: false, checkedIn: true }],
          },
        ],
      },
      '--before',
      before,
    );
    expect(statSync(before).mode & 0o777).toBe(0o600);
    const undone = await undoAsForetold(importId);
    expect(undone).toMatchObject({ restored: { tagGroups: 1, events: 1, leads: 1 }, left: NOTHING_LEFT, examples: [] });
    expect(await exported()).toEqual(original);
  });

  it('takes lists apart: what the import added goes, what it removed returns, and what others added stays', async () => {
    const [lead = '', group = '', one = '', two = '', three = ''] = ids(5);
    const remote = (integrationType: string, id: string) => ({ integrationType, id });
    await importing({
      tagGroups: [tagGroup(group, [one, two, three])],
      leads: [
        {
          id: lead,
          professionalEmails: 'old@work.example; both@work.example',
          phoneNumbers: phones('1'),
          remoteIds: [remote('SALES_FORCE', 'old')],
          tags: [{ tagOptionId: one }],
        },
      ],
    });
    const { importId } = await importing(
      {
        leads: [
          {
            id: lead,
            professionalEmails: 'wrong@work.example; both@work.example',
            phoneNumbers: phones('2'),
            remoteIds: [remote('SALES_FORCE', 'wrong')],
            tags: [{ tagOptionId: two }],
          },
        ],
      },
      '--before',
      before,
    );
    await patch(lead, {
      phoneNumbers: [...phones('2').leadProvided, { ...PHONE, number: '3', preferred: false }],
      remoteId: remote('HUB_SPOT', 'new'),
    });
    await addTag(lead, three);
    await db.query(`update leads set professional_emails = professional_emails || '; new@work.example' where id = $1`, [
      lead,
    ]);
    expect(await undoAsForetold(importId)).toMatchObject({ restored: { leads: 1 }, left: NOTHING_LEFT });
    expect(await leadOf(lead)).toMatchObject({
      professionalEmails: 'both@work.example; new@work.example; old@work.example',
      tags: [{ tagOptionId: three }, { tagOptionId: one }],
      phoneNumbers: { leadProvided: [{ number: '3' }, { number: '1' }] },
      remoteIds: [remote('SALES_FORCE', 'old'), remote('HUB_SPOT', 'new')],
    });
  });

  it('treats the flags of an association as fields', async () => {
    const [lead = ''] = ids(1);
    const ref = randomUUID();
    const base = { events: [{ ref, name: 'Expo', type: 'CONFERENCE' }] };
    const { events } = await installation.operator.json<{ events: Record<string, number> }>(
      of('import', '-'),
      JSON.stringify({ ...base, leads: [{ id: lead, events: [{ event: ref, registered: false, checkedIn: false }] }] }),
    );
    const flags = [{ event: ref, registered: true, checkedIn: false }];
    const { importId } = await importing({ leads: [{ id: lead, events: flags }] }, '--before', before);
    const eventLeads = [{ leadId: lead, registered: true, checkedIn: true }];
    await tenant.api.put(`/events/${events[ref]}/leads`, { eventLeads }).expect(200);
    expect(await undoAsForetold(importId)).toMatchObject({ restored: { leads: 1 }, left: NOTHING_LEFT });
    expect((await leadOf(lead)).events).toMatchObject([{ event: ref, registered: false, checkedIn: true }]);
  });

  it('leaves out what cannot return, and says why', async () => {
    const [lead = '', other = '', group = '', gone = '', stays = ''] = ids(5);
    const remoteId = { integrationType: 'HUB_SPOT', id: '7' };
    await importing({
      tagGroups: [tagGroup(group, [gone, stays])],
      leads: [
        { id: lead, remoteIds: [remoteId], tags: [{ tagOptionId: gone }, { tagOptionId: stays }] },
        { id: other },
      ],
    });
    const { importId } = await importing({ leads: [{ id: lead, remoteIds: [], tags: [] }] }, '--before', before);
    await patch(other, { remoteId });
    await importing({ tagGroups: [tagGroup(group, [stays])] });
    const undone = await undoAsForetold(importId);
    expect(undone).toMatchObject({
      restored: { leads: 1 },
      left: { ...NOTHING_LEFT, gone: { leads: 1 }, taken: { leads: 1 } },
    });
    expect(undone.examples).toEqual([
      { resource: 'leads', id: lead, field: 'tags', reason: 'gone' },
      { resource: 'leads', id: lead, field: 'remoteIds', reason: 'taken' },
    ]);
    expect(await leadOf(lead)).toMatchObject({ tags: [{ tagOptionId: stays }], remoteIds: [] });
    await patch(other, { remoteId: { ...remoteId, id: null } });
    expect(await undo(importId)).toMatchObject({ restored: { leads: 1 }, left: { taken: {} } });
    expect(await leadOf(lead)).toMatchObject({ remoteIds: [remoteId] });
  });

  it('takes back tag options that the import added, unless others use them', async () => {
    const [lead = '', other = '', group = '', one = ''] = ids(4);
    await importing({ tagGroups: [tagGroup(group, [one])], leads: [{ id: lead }, { id: other }] });
    const original = await exported();
    const csv = `id,firstName,tags\n${lead},Ada,New; Newer\n,Eve,New\n`;
    const { importId } = await importingCsv(csv, '--create-tags', 'Interest', '--before', before);
    const [{ tagOptions }] = (await exported()).tagGroups as [{ tagOptions: { id: string; value: string }[] }];
    const newer = tagOptions.find(({ value }) => value === 'Newer')!;
    await addTag(other, newer.id);
    const undone = await undoAsForetold(importId);
    expect(undone).toMatchObject({
      deleted: { leads: 1 },
      restored: { tagGroups: 1, leads: 1 },
      left: { ...NOTHING_LEFT, inUse: { tagGroups: 1 } },
      examples: [{ resource: 'tagGroups', id: group, field: 'tagOptions', reason: 'inUse' }],
    });
    expect(await leadOf(other)).toMatchObject({ tags: [{ tagOptionId: newer.id }] });
    await db.query('delete from lead_tags where lead_id = $1', [other]);
    expect(await undo(importId)).toMatchObject({ restored: { tagGroups: 1 }, left: NOTHING_LEFT });
    expect(await exported()).toEqual(original);
  });

  it('names later imports of the same records, and takes back more when they are undone', async () => {
    const [lead = '', other = ''] = ids(2);
    await importing({ leads: [{ id: lead, jobTitle: 'First' }, { id: other }] });
    const { importId } = await importing({ leads: [{ id: lead, jobTitle: 'Second' }] }, '--before', before);
    await importing({ leads: [{ id: other, jobTitle: 'Else' }] });
    const laterBefore = join(folder, `${randomUUID()}.ndjson`);
    const later = await importing({ leads: [{ id: lead, jobTitle: 'Third' }] }, '--before', laterBefore);
    const undone = await undoAsForetold(importId);
    expect(undone).toMatchObject({ restored: {}, left: { changed: { leads: 1 } } });
    expect(undone.laterImports).toMatchObject([{ importId: later.importId, file: '-' }]);
    const { stdout } = await installation.operator.run(of('imports', 'undo', importId));
    expect(stdout).toMatch(new RegExp(`^Undo this later import of the same records first: ${later.importId} \\(`));
    await undo(later.importId);
    expect(await undo(importId)).toMatchObject({ restored: { leads: 1 }, left: NOTHING_LEFT, laterImports: [] });
    expect(await leadOf(lead)).toMatchObject({ jobTitle: 'First' });
  });

  it('brings back industry events, which all organizations share', async () => {
    const [id = ''] = ids(1);
    await importing({ industryEvents: [{ id, name: `Pump World ${id}` }] });
    const { importId } = await importing(
      { industryEvents: [{ id, name: `Wrong ${id}`, isBookmarked: true }] },
      '--before',
      before,
    );
    const stored = async () => (await exported()).industryEvents!.find((event) => event.id === id);
    expect(await stored()).toMatchObject({ name: `Wrong ${id}`, isBookmarked: true });
    expect(await undoAsForetold(importId)).toMatchObject({ restored: { industryEvents: 1 }, left: NOTHING_LEFT });
    expect(await stored()).toMatchObject({ name: `Pump World ${id}`, isBookmarked: null });
  });

  describe('the file of --before', () => {
    const changeOne = async (): Promise<{ importId: string; lead: string }> => {
      const [lead = ''] = ids(1);
      await importing({ leads: [{ id: lead, firstName: 'Ada' }] });
      const { importId } = await importing({ leads: [{ id: lead, firstName: 'Eve' }] }, '--before', before);
      return { importId, lead };
    };
    const run = (...args: string[]): Promise<Outcome> => installation.operator.run(of(...args));

    it('has each record as it was and as the import wrote it', async () => {
      const { lead } = await changeOne();
      const lines = readFileSync(before, 'utf8').trimEnd().split('\n');
      expect(lines.map((line) => JSON.parse(line) as object)).toEqual([
        {
          section: 'leads',
          record: expect.objectContaining({ id: lead, firstName: 'Ada' }) as object,
          written: await leadOf(lead),
        },
      ]);
    });

    it('may be elsewhere, and nothing that was changed comes back without it', async () => {
      const { importId, lead } = await changeOne();
      const moved = `${before}.moved`;
      renameSync(before, moved);
      const { stdout } = await run('imports', 'undo', importId);
      const reason = `${before} is not there. Name it with --before FILE.`;
      expect(stdout).toContain(`\n1 record that the import changed stays as it left them: ${reason}\n`);
      expect(await leadOf(lead)).toMatchObject({ firstName: 'Eve' });
      expect(await undo(importId, '--before', moved)).toMatchObject({ restored: { leads: 1 }, before: moved });
      expect(await leadOf(lead)).toMatchObject({ firstName: 'Ada' });
    });

    it('is refused by an import, which names the command for it', async () => {
      await changeOne();
      expect(await run('import', before)).toEqual({
        status: 1,
        stdout: '',
        stderr:
          'line 1: This is a file of --before. To take its import back, use "imports undo IMPORTID --before FILE".\n',
      });
    });

    it('of an earlier release is refused by an undo, and can be imported', async () => {
      const { importId, lead } = await changeOne();
      const record = { ...(await leadOf(lead)), firstName: 'Ada' };
      writeFileSync(before, `${JSON.stringify({ section: 'leads', record })}\n`);
      expect(await run('imports', 'undo', importId)).toMatchObject({
        status: 1,
        stderr: expect.stringContaining(`${before}, line 1: there is no "written"`) as string,
      });
      expect(await run('import', before)).toMatchObject({ status: 0 });
      expect(await leadOf(lead)).toMatchObject({ firstName: 'Ada' });
    });

    it.each(['{"section":"leads","record":{', '{"section":"nope","record":{},"written":{}}', '7'])(
      'is refused by its line if it is not one: %s',
      async (text) => {
        const { importId } = await changeOne();
        const name = join(folder, `${randomUUID()}.ndjson`);
        writeFileSync(name, `${readFileSync(before, 'utf8')}${text}`);
        expect(await run('imports', 'undo', importId, '--before', name)).toEqual({
          status: 1,
          stdout: '',
          stderr: `${name}, line 2: this is not a line of a file of --before.\n`,
        });
        const missing = `${name}.missing`;
        expect(existsSync(missing)).toBe(false);
        expect(await run('imports', 'undo', importId, '--before', missing)).toEqual({
          status: 1,
          stdout: '',
          stderr: `Cannot read ${missing}: no such file or directory\n`,
        });
      },
    );
  });

  it('goes on where it was killed, and lets others write between its batches', async () => {
    const all = ids(450);
    await importing({ leads: all.map((id) => ({ id, firstName: 'Ada' })) });
    const original = await exported();
    const { importId } = await importing({ leads: all.map((id) => ({ id, firstName: 'Eve' })) }, '--before', before);
    const holder = db.createQueryRunner();
    await holder.startTransaction();
    await holder.query('select from leads where id = $1 for key share', [all.at(-1)]);
    const child = installation.operator.start(of('imports', 'undo', importId));
    const ended = waitForOutcome(child);
    await waitUntil(async () => (await lockWaits(installation.database.url)) > 0);
    await patch(all[0]!, { jobTitle: 'Buyer' });
    child.kill('SIGKILL');
    await ended;
    await holder.rollbackTransaction();
    await holder.release();
    await waitUntil(async () => (await lockWaits(installation.database.url)) === 0);
    expect(await undo(importId)).toMatchObject({ restored: { leads: 50 }, left: NOTHING_LEFT });
    const [first, ...rest] = original.leads!;
    expect((await exported()).leads).toEqual([{ ...first, jobTitle: 'Buyer' }, ...rest]);
  });
});
