import { randomUUID } from 'node:crypto';
import { Readable } from 'node:stream';
import { DataSource } from 'typeorm';
import { operatorDataSourceOptions } from '../../src/database/data-source';
import type { SectionName } from '../../src/cli/import/sections';
import { linesOf } from '../../src/cli/import/dataset-source';
import { ImportFault } from '../../src/cli/import/import-fault';
import { ImportService } from '../../src/cli/import/import.service';
import { exhibitor } from '../support/builders';
import { lockWaits, query, until } from '../support/embedded-fixtures';
import { install, Installation, outcomeOf, remove } from '../support/operator';

const tagOption = (value: string, displayOrder: number) => ({ id: randomUUID(), displayOrder, value });

/** An import writes a batch of a thousand records while it reads the next one. */
describe('an import of several batches', () => {
  let installation: Installation;
  let organizationId: number;
  const group = { id: randomUUID(), name: 'Interest', tagOptions: ['a', 'b', 'c'].map(tagOption) };
  const [one = '', two = ''] = group.tagOptions.map(({ id }) => id);

  beforeAll(async () => {
    installation = await install();
  });
  afterAll(() => remove(installation));
  beforeEach(async () => {
    await query(installation.database.url, 'delete from industry_events; delete from leads; delete from tag_groups');
    organizationId = (await installation.server.tenant()).organizationId;
  });

  const line = (section: string, record: object): string => `${JSON.stringify({ section, record })}\n`;
  const leadLine = (lead: object): string => line('leads', lead);
  const importing = (input: string) =>
    installation.operator.run(['import', '-', '--organization', String(organizationId), '--json'], input);
  const stored = (): Promise<Record<string, unknown>[]> =>
    query(
      installation.database.url,
      `select id, first_name as "firstName", xmin::text as version, array(select tag_option_id from lead_tags t
        where t.lead_id = leads.id order by position)::text[] as tags from leads order by created_at, id`,
    );

  it('names a fault of any batch by its line, and leaves nothing', async () => {
    const leads = manyLeads(1500, [one]);
    leads[10] = { ...leads[10], tags: [{ tagOptionId: randomUUID() }] } as (typeof leads)[number];
    const { status, stderr } = await importing(line('tagGroups', group) + leads.map(leadLine).join(''));
    expect({ status, stderr }).toEqual({
      status: 1,
      stderr: expect.stringContaining('line 12: leads[10].tags[0].tagOptionId: unknown tag option') as string,
    });
    expect(await stored()).toEqual([]);
  });

  it('names the first of several records that refer to what is not there, or have a foreign id', async () => {
    const foreign = { id: randomUUID() };
    await (await installation.server.tenant()).import({ leads: [foreign] });
    const first = { id: randomUUID(), tags: [{ tagOptionId: randomUUID() }] };
    for (const later of [{ id: randomUUID(), activations: [{ activationId: randomUUID() }] }, foreign]) {
      expect(await importing(leadLine(first) + leadLine(later))).toMatchObject({
        status: 1,
        stderr: expect.stringContaining('line 1: leads[0].tags[0].tagOptionId: unknown tag option') as string,
      });
    }
  });

  it('names a record whose tag option the dataset itself takes away', async () => {
    await importing(line('tagGroups', group));
    const again = line('tagGroups', { ...group, tagOptions: group.tagOptions.slice(1) });
    const late = leadLine({ id: randomUUID(), tags: [{ tagOptionId: one }] });
    expect(await importing(again + late)).toMatchObject({
      status: 1,
      stderr: expect.stringContaining('line 2: leads[0].tags[0].tagOptionId: unknown tag option') as string,
    });
  });

  it('refuses the second of two records that are one, or of two entries, with its place', async () => {
    const user = line('users', { email: 'ada@lead.example' });
    const lead = { id: randomUUID() };
    const tags = [one, one].map((tagOptionId) => ({ tagOptionId }));
    for (const [input, fault] of [
      [user + user, 'line 2: users[1].email: is in the file twice'],
      [
        manyLeads(1500, [])
          .concat(lead as never, lead as never)
          .map(leadLine)
          .join(''),
        'line 1502: leads[1501].id: is',
      ],
      [line('tagGroups', group) + leadLine({ ...lead, tags }), 'line 2: leads[0].tags[1].tagOptionId: missing or'],
    ] as const) {
      expect(await importing(input)).toMatchObject({ status: 1, stderr: expect.stringContaining(fault) as string });
    }
  });

  describe.each([0, 1000])('with %i others between them', (others) => {
    const load = async (input: string): Promise<void> => {
      const { manager } = installation.server.app.get(DataSource);
      await new ImportService(manager).importLines(organizationId, linesOf(Readable.from([Buffer.from(input)])));
    };
    const id = randomUUID();
    const between = (): string => manyLeads(others, []).map(leadLine).join('');

    it('a tag option may change its group, and leads keep it', async () => {
      const [from, to] = [group, { id: randomUUID(), name: 'Other', tagOptions: group.tagOptions.slice(0, 1) }];
      await load(line('tagGroups', from) + leadLine({ id, tags: [one, two].map((o) => ({ tagOptionId: o })) }));
      const input = line('tagGroups', { ...from, tagOptions: [] }) + between() + line('tagGroups', to);
      await load(input);
      expect((await stored()).find((lead) => lead.id === id)).toMatchObject({ tags: [one] });
      const left = await query(installation.database.url, 'select id, tag_group_id as "group" from tag_options');
      expect(left).toEqual([{ id: one, group: to.id }]);
    });
  });

  it('ends when PostgreSQL ends its connection, though nothing comes', async () => {
    const child = installation.operator.start(['import', '-', '--organization', String(organizationId)]);
    const outcome = outcomeOf(child);
    child.stdin?.on('error', () => undefined);
    child.stdin?.write(manyLeads(1000, []).map(leadLine).join(''));
    const ended = `select pg_terminate_backend(pid) as ended from pg_stat_activity
      where datname = current_database() and application_name = 'lanyard-operator' and state = 'idle' and query like 'insert into staged%'`;
    await until(async () => (await query(installation.database.url, ended)).length === 1);
    expect(await outcome).toEqual({
      status: 1,
      stdout: '',
      stderr: 'the database failed: terminating connection due to administrator command\n',
    });
  });

  it('names the line of NDJSON without sections', async () => {
    const { status, stderr } = await importing('\n{"name": "Expo"}\n{"name": "Fair"}\n');
    expect({ status, stderr }).toEqual({
      status: 1,
      stderr: expect.stringMatching(/^line 2: section must be one of users, .*\n$/) as string,
    });
  });

  it('names the industry event whose eventUrl another one has', async () => {
    const url = (): string => `https://expo.example/${randomUUID()}`;
    const [one, two] = [1, 2].map((n) => ({ id: randomUUID(), name: `Expo ${n}`, eventUrl: url() }));
    const all = (...records: object[]): string => records.map((record) => line('industryEvents', record)).join('');
    expect(await importing(all(one as object, two as object))).toMatchObject({ status: 0 });
    const fresh = { name: 'Fair', eventUrl: url() };
    const twice = url();
    for (const records of [
      [fresh, { ...one, eventUrl: two?.eventUrl }],
      [
        { ...one, eventUrl: twice },
        { ...two, eventUrl: twice },
      ],
    ]) {
      expect(await importing(all(...records))).toMatchObject({
        status: 1,
        stderr: expect.stringContaining('line 2: industryEvents[1].eventUrl: another record has it') as string,
      });
    }
  });

  it('lets industry events exchange their eventUrls, or pass them on', async () => {
    const [u, v, w] = [1, 2, 3].map((n) => `https://expo.example/${n}/${randomUUID()}`);
    const [one, two] = [1, 2].map((n) => ({ id: randomUUID(), name: `Expo ${n}` }));
    const stamps = new Set<string>();
    for (const [index, [first, second]] of [
      [u, v],
      [v, u],
      [u, w],
      [null, u],
    ].entries()) {
      const records = [
        { ...one, eventUrl: first },
        { ...two, eventUrl: second },
      ];
      expect(await importing(records.map((record) => line('industryEvents', record)).join(''))).toMatchObject({
        status: 0,
      });
      const kept = await query(
        installation.database.url,
        `select name, event_url as "eventUrl", updated_at::text as changed
          from industry_events where id in ('${one?.id}', '${two?.id}') order by name`,
      );
      expect(kept).toMatchObject(records.map(({ name, eventUrl }) => ({ name, eventUrl })));
      expect(stamps.add(String(kept[0]?.changed)).size).toBe(index + 1);
    }
  });

  it('keeps the first of two new industry events with one eventUrl', async () => {
    const eventUrl = `https://expo.example/${randomUUID()}`;
    const last = { id: randomUUID().replace(/^../, '00'), name: 'Last', eventUrl };
    const first = { id: randomUUID().replace(/^../, 'ff'), name: 'First', eventUrl };
    await importing(line('industryEvents', first) + line('industryEvents', last));
    const kept = await query(
      installation.database.url,
      `select name from industry_events where event_url = '${eventUrl}'`,
    );
    expect(kept).toEqual([{ name: 'First' }]);
  });

  it('returns the id of an event whatever its ref is', async () => {
    const { stdout } = await importing(line('events', { ref: '__proto__', name: 'Expo', type: 'OTHER' }));
    expect(JSON.parse(stdout).events).toHaveProperty(['__proto__'], expect.any(Number));
  });

  it('leaves nothing when a later line is refused while a batch is written', async () => {
    const { status, stderr } = await importing(
      `${line('tagGroups', group)}${manyLeads(1500, [one]).map(leadLine).join('')}not JSON\n`,
    );
    expect({ status, stderr }).toEqual({
      status: 1,
      stderr: expect.stringContaining('line 1502: not JSON') as string,
    });
    expect(await stored()).toEqual([]);
  });

  it('changes only what differs where new and stored records are mixed', async () => {
    const leads = manyLeads(1200, [one, two]);
    const old = leads.filter((_, index) => index % 2 === 0);
    await importing(line('tagGroups', group) + old.map(leadLine).join(''));
    const before = new Map((await stored()).map((lead) => [lead.id, lead]));
    const changed = { ...leads[0], firstName: 'Changed', tags: [] };
    expect(await importing([changed, ...leads.slice(1)].map(leadLine).join(''))).toMatchObject({ status: 0 });
    const after = await stored();
    expect(after).toHaveLength(1200);
    expect(after[0]).toMatchObject({ firstName: 'Changed', tags: [] });
    for (const lead of after.filter(({ id }) => before.has(id) && id !== changed.id)) {
      expect(lead).toEqual(before.get(lead.id));
    }
  });

  it('of the catalogue does not lock out that of another organization, which has it in another order', async () => {
    const [first, second] = Array.from({ length: 2 }, (_, batch) =>
      Array.from({ length: 1000 }, (_, n) => ({ name: `Expo ${n}`, eventUrl: `https://expo.example/${batch}/${n}` })),
    ) as [object[], object[]];
    const operator = await new DataSource(operatorDataSourceOptions(installation.database.url)).initialize();
    const service = new ImportService(operator.manager);
    async function* records(batches: object[][]) {
      for (const record of batches.flat()) yield { section: 'industryEvents' as const, record };
    }
    const other = (await installation.server.tenant()).organizationId;
    await Promise.all([
      service.importRecords(organizationId, records([first, second])),
      service.importRecords(other, records([second, first])),
    ]);
    await operator.destroy();
    const [row] = await query(installation.database.url, 'select count(*)::integer from industry_events');
    expect(row?.count).toBe(2000);
  });

  describe('beside that of another organization', () => {
    type Exhibitor = ReturnType<typeof exhibitor>;
    const option = tagOption('a', 0);
    const { id } = option;

    it.each<[SectionName, string, (all: Exhibitor) => object]>([
      ['tagGroups', 'id', ({ tagGroup }) => ({ ...tagGroup, id, tagOptions: [] })],
      ['tagGroups', 'tagOptions[0].id', ({ tagGroup }) => ({ ...tagGroup, id: randomUUID(), tagOptions: [option] })],
      ['activations', 'id', ({ activation }) => ({ ...activation, id })],
      ['leads', 'id', () => ({ id })],
      ['leadActivityEvents', 'id', ({ activity }) => activity({ id })],
    ])('is refused where that has brought the same of %s.%s', async (section, path, clashing) => {
      const operator = await new DataSource(operatorDataSourceOptions(installation.database.url)).initialize();
      const service = new ImportService(operator.manager);
      const datasetOf = (industryEvents: object[]): Record<string, object[]> => {
        const all = exhibitor();
        const { users, event, activation, lead, activity } = all;
        const before = { users, tagGroups: [all.tagGroup], events: [event], activations: [activation] };
        const dataset: Record<string, object[]> = { ...before, leads: [lead], leadActivityEvents: [activity()] };
        dataset[section]?.push(clashing(all));
        return { ...dataset, industryEvents };
      };
      const waits = (count: number) => until(async () => (await lockWaits(installation.database.url)) === count);
      await service.import(organizationId, { industryEvents: [{ name: 'Expo' }] });
      const held = operator.createQueryRunner();
      await held.startTransaction();
      await held.query(`select from lists where organization_id = 0 for update`); // written to last
      const brings = service.import(organizationId, datasetOf([{ name: 'Fair' }]));
      await waits(1);
      const other = (await installation.server.tenant()).organizationId;
      const refused = service.import(other, datasetOf([])).catch((error: unknown) => error);
      await waits(2);
      await held.commitTransaction();
      await held.release();
      await brings;
      expect(await refused).toEqual(new ImportFault(`${section}[1].${path}: belongs to another organization`));
      await operator.destroy();
    });
  });

  it('is not interrupted while PostgreSQL stores it for good: it has succeeded', async () => {
    await query(
      installation.database.url,
      `create function wait() returns trigger language plpgsql as $$
        begin perform pg_advisory_xact_lock(17); return null; end $$;
      create constraint trigger waits after insert on tag_groups deferrable initially deferred
        for each row execute function wait()`,
    );
    const holder = await new DataSource(operatorDataSourceOptions(installation.database.url)).initialize();
    const held = holder.createQueryRunner();
    await held.query('select pg_advisory_lock(17)');
    const child = installation.operator.start(['import', '-', '--organization', String(organizationId), '--json']);
    child.stdin?.end(line('tagGroups', group));
    await until(async () => (await lockWaits(installation.database.url)) === 1);
    child.kill('SIGINT');
    const outcome = outcomeOf(child);
    await installation.operator.spawn(['organizations', 'list']); // takes longer than a signal
    await holder.destroy();
    await query(installation.database.url, 'drop trigger waits on tag_groups; drop function wait');
    expect(await outcome).toMatchObject({ status: 0, stderr: '' });
  });

  it('that is stored for good has succeeded, also when it is interrupted afterwards', async () => {
    const holder = await new DataSource(operatorDataSourceOptions(installation.database.url)).initialize();
    const held = holder.createQueryRunner();
    await held.startTransaction();
    await held.query('lock table leads in share update exclusive mode'); // of writers and readers only ANALYZE waits
    const args = ['import', '-', '--organization', String(organizationId), '--json'];
    const child = installation.operator.start(args);
    child.stdin?.end(line('tagGroups', group) + manyLeads(1000, [one]).map(leadLine).join(''));
    await until(async () => (await lockWaits(installation.database.url)) === 1);
    child.kill('SIGINT');
    const { status, stdout, stderr } = await outcomeOf(child);
    await held.rollbackTransaction();
    await holder.destroy();
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
    expect(JSON.parse(stdout)).toMatchObject({ imported: { leads: 1000, tagGroups: 1 } });
    expect(await stored()).toHaveLength(1000);
  });

  it('is done twice at the same time as if one after the other', async () => {
    const input = line('tagGroups', group) + manyLeads(1500, [one]).map(leadLine).join('');
    const args = ['import', '-', '--organization', String(organizationId)];
    const { operator } = installation;
    const outcomes = await Promise.all([operator.spawn(args, input), operator.spawn(args, input)]);
    expect(outcomes.map(({ status, stderr }) => ({ status, stderr }))).toEqual([
      { status: 0, stderr: '' },
      { status: 0, stderr: '' },
    ]);
    expect(await stored()).toHaveLength(1500);
  });
});

const manyLeads = (count: number, tags: string[]) =>
  Array.from({ length: count }, (_, index) => ({
    id: randomUUID(),
    createdAt: new Date(Date.UTC(2026, 0, 1) + index * 1000).toISOString(),
    firstName: 'Ada',
    tags: tags.map((tagOptionId) => ({ tagOptionId })),
  }));
