import { randomUUID } from 'node:crypto';
import { DataSource } from 'typeorm';
import { CheckService } from '../../src/data/schema/check.service';
import { createExhibitor } from '../support/builders';
import { InProcess, startInProcess, Tenant } from '../support/lanyard';
import { SCHEMA } from '../support/contexts';
import { lockWaits, waitUntil } from '../support/wait';

/** The stored JSON of a lead follows every change of what it shows, also one by SQL. */
describe('the document of a lead', () => {
  const { dataset, tagGroup, lead, activity } = createExhibitor();
  const option = tagGroup.tagOptions[0]?.id;
  let lanyard: InProcess;
  let tenant: Tenant;
  let db: DataSource;

  beforeAll(async () => {
    lanyard = await startInProcess();
    db = lanyard.app.get(DataSource);
  });
  beforeEach(async () => {
    // Ids are the dataset's own, so that each test starts without the last one's.
    await db.query('delete from organizations');
    tenant = await lanyard.tenant();
    const leads = [lead, { ...lead, id: randomUUID() }];
    await tenant.import({ ...dataset, leads, leadActivityEvents: [activity(), activity()] });
  });

  const document = async () => (await tenant.api.get(`/leads/${lead.id}`).expect(200)).body.results;
  const isFresh = async () =>
    expect(await new CheckService(db, SCHEMA).check(false)).toMatchObject({ documents: { wrong: 0 } });

  it.each<[string, string, (before: Lead, after: Lead) => void]>([
    [
      'a column',
      `update leads set first_name = 'Zora' where id = '${lead.id}'`,
      (_, after) => expect(after.firstName).toBe('Zora'),
    ],
    [
      "a tag option's value",
      `update tag_options set value = 'Renamed' where id = '${option}'`,
      (_, after) => expect(after.tags.map(({ value }) => value)).toContain('Renamed'),
    ],
    [
      'a tag option that goes',
      `delete from tag_options where id = '${option}'`,
      (before, after) => expect(after.tags).toHaveLength(before.tags.length - 1),
    ],
    [
      'the order of tags',
      `update lead_tags set position = 10 - position`,
      (before, after) => expect(after.tags).toEqual([...before.tags].reverse()),
    ],
    [
      'a flag at an activation',
      `update lead_activations set checked_in = not checked_in`,
      (before, after) => expect(after.activations[0]?.checkedIn).toBe(!before.activations[0]?.checkedIn),
    ],
    [
      'an event that goes, with its activations',
      'delete from events',
      (_, after) => expect(after.activations).toEqual([]),
    ],
    [
      'an activity event that goes',
      `delete from lead_activity_events where id = (select id from lead_activity_events order by position limit 1)`,
      (before, after) => expect(after.leadActivityEvents).toEqual(before.leadActivityEvents.slice(1)),
    ],
    [
      'an activity event that changes its lead',
      `update lead_activity_events set lead_id = (select id from leads where id <> '${lead.id}')`,
      (_, after) => expect(after.leadActivityEvents).toEqual([]),
    ],
  ])('follows %s', async (_, sql, compare) => {
    const before = (await document()) as Lead;
    await db.query(sql);
    compare(before, (await document()) as Lead);
    await isFresh();
  });

  it('follows a tag that is renamed while a lead is given it', async () => {
    const bare = randomUUID();
    await tenant.import({ leads: [{ id: bare }] });
    const tagging = db.createQueryRunner();
    await tagging.startTransaction();
    await tagging.query('insert into lead_tags values ($1, $2, $3, 0)', [tenant.organizationId, bare, option]);
    const renamed = db.query("update tag_options set value = 'Renamed' where id = $1", [option]);
    await waitUntil(async () => (await waiting()) === 1 || (await isDone(renamed)));
    await tagging.commitTransaction();
    await tagging.release();
    await renamed;
    await isFresh();
    expect((await tenant.api.get(`/leads/${bare}`).expect(200)).body.results.tags[0].value).toBe('Renamed');
  });

  it.each([
    ['few leads, with dates between two milliseconds,', 3],
    ['leads at reserved positions', 1200],
  ])('is right after an import of %s', async (_, count) => {
    const created = ['2026-05-04T10:00:00.123456Z', '2026-05-04T10:00:00.1235Z', undefined];
    const leads = Array.from({ length: count }, (__, n) => ({
      ...lead,
      id: randomUUID(),
      createdAt: created[n % 3],
      remoteIds: [],
    }));
    await tenant.import({ leads });
    expect((await tenant.api.get(`/leads/${leads[0]?.id}`).expect(200)).body.results).toMatchObject({
      firstName: 'Ada',
      tags: lead.tags.map(({ tagOptionId }) => ({ tagOptionId })),
    });
    await isFresh();
  });

  it('is rendered when SQL inserts a lead with a document of its own', async () => {
    const id = randomUUID();
    await db.query(
      `insert into leads (id, organization_id, first_name, document) values ('${id}', ${tenant.organizationId}, 'Ada', '{}')`,
    );
    expect((await tenant.api.get(`/leads/${id}`).expect(200)).body.results).toMatchObject({ id, firstName: 'Ada' });
    await isFresh();
  });

  const waiting = (): Promise<number> => lockWaits(lanyard.config.databaseUrl as string);
  const isDone = (work: Promise<unknown>): Promise<boolean> =>
    Promise.race([work.then(() => true), new Promise<boolean>((resolve) => setImmediate(() => resolve(false)))]);
});

interface Lead {
  firstName: string;
  tags: { value: string }[];
  activations: { checkedIn: boolean }[];
  leadActivityEvents: string[];
}
