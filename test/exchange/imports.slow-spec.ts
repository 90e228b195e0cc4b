import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { DataSource, QueryRunner } from 'typeorm';
import { CheckService } from '../../src/data/schema/check.service';
import { eventInput, leadInput } from '../support/builders';
import { SCHEMA } from '../support/contexts';
import { asOperator } from '../support/database';
import type { Tenant } from '../support/lanyard';
import { install, type Installation, Operator, waitForOutcome } from '../support/operator';
import { listRecords, Replica } from '../support/replica';
import { lockWaits, waitUntil } from '../support/wait';

interface Result {
  importId: string;
  imported: Record<string, number>;
  outcomes: Record<string, { created: number; updated: number; unchanged: number }>;
  events: Record<string, number>;
}

interface Undo {
  deleted: Record<string, number>;
  left: Record<'changed' | 'inUse' | 'deleted' | 'gone' | 'taken', Record<string, number>>;
  examples: { resource: string; id: string; field: string | null; reason: string }[];
  before: string | null;
}

const NOTHING_LEFT = { changed: {}, inUse: {}, deleted: {}, gone: {}, taken: {} };

/** More than two batches of an undo. */
const COUNT = 450;

describe('an import can be taken back', () => {
  let folder: string;
  let installation: Installation;
  let db: DataSource;
  let tenant: Tenant;

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'lanyard-imports-'));
    installation = await install();
    db = await asOperator(installation.database.url);
  });
  afterAll(() => rmSync(folder, { recursive: true }));
  beforeEach(async () => void (tenant = await installation.server.tenant()));

  const of = (...args: string[]): string[] => [...args, '--organization', String(tenant.organizationId)];
  const file = (content: object | string): string => {
    const path = join(folder, `${randomUUID()}.json`);
    writeFileSync(path, typeof content === 'string' ? content : JSON.stringify(content));
    return path;
  };
  const importing = (content: object | string, ...options: string[]): Promise<Result> =>
    installation.operator.json(of('import', file(content), ...options));
  const undo = (importId: string, ...options: string[]): Promise<Undo> =>
    installation.operator.json(of('imports', 'undo', importId, ...options));
  const ids = (count: number): string[] => Array.from({ length: count }, () => randomUUID());
  const leadsOf = (leadIds: string[]) => leadIds.map((id, n) => ({ id, firstName: 'Ada', lastName: `Lead ${n}` }));
  const exported = (): Promise<Record<string, Record<string, unknown>[]>> => installation.operator.json(of('export'));
  const total = async (path: string): Promise<number> =>
    ((await tenant.api.get(path, { limit: 1 }).expect(200)).body as { results: { total: number } }).results.total;
  const expectExactLists = async (): Promise<void> => {
    const { lists, documents } = await new CheckService(db, SCHEMA).check(false);
    expect({ lists: lists?.wrong, documents: documents?.wrong }).toEqual({ lists: 0, documents: 0 });
  };

  describe('imports list', () => {
    interface Listed {
      importId: string;
      file: string | null;
      outcomes: Result['outcomes'];
      undoneAt: string | null;
    }
    const list = (): Promise<Listed[]> => installation.operator.json(of('imports', 'list'));

    it('shows the last imports, newest first, and which of them were undone', async () => {
      const [lead = '', other = ''] = ids(2);
      const first = await importing({ leads: leadsOf([lead]) });
      const path = file({ leads: [{ id: lead, firstName: 'Eve' }, { id: other }] });
      const second = await installation.operator.json<Result>(of('import', path));
      expect(await list()).toEqual([
        {
          importId: second.importId,
          at: expect.any(String) as string,
          organizationId: tenant.organizationId,
          file: path,
          before: null,
          keyId: null,
          outcomes: { leads: { created: 1, updated: 1, unchanged: 0 } },
          undoneAt: null,
        },
        expect.objectContaining({ importId: first.importId, undoneAt: null }),
      ]);
      await undo(second.importId);
      expect(await list()).toMatchObject([{ undoneAt: expect.any(String) as string }, { undoneAt: null }]);
      const { stdout } = await installation.operator.run(of('imports', 'list'));
      expect(stdout).toContain('leads (created 1, updated 1, unchanged 0)');
    });

    it('does not list dry runs and imports of others', async () => {
      await importing({ leads: leadsOf(ids(1)) }, '--dry-run');
      expect(await list()).toEqual([]);
      const { stdout } = await installation.operator.run(of('imports', 'list'));
      expect(stdout).toBe('None.\n');
    });

    it('names the ID in the text of an import, too', async () => {
      const { stdout } = await installation.operator.run(of('import', file({ leads: leadsOf(ids(1)) })));
      const [listed] = await list();
      expect(stdout).toBe(`Imported 1 lead: 1 created, 0 updated, 0 unchanged.\nImport ID: ${listed?.importId}\n`);
      const csv = await installation.operator.run(of('import', '-', '--csv', 'leads'), 'email\na@b.example\n');
      const [ofCsv] = await list();
      expect(csv.stdout).toMatch(new RegExp(`\nImport ID: ${ofCsv?.importId}\n$`));
      expect(ofCsv?.file).toBe('-');
    });
  });

  describe('imports undo', () => {
    /** One of everything that refers to each other, under new IDs. */
    const everything = () => {
      const [group = '', option = '', activation = '', lead = '', activity = ''] = ids(5);
      const ref = randomUUID();
      const email = `${randomUUID()}@staff.example`;
      return {
        users: [{ email }],
        tagGroups: [
          {
            id: group,
            name: 'Interest',
            status: 'PUBLISHED',
            allowsMultipleSelection: true,
            displayOrder: 1,
            tagOptions: [{ id: option, displayOrder: 1, value: 'Pumps' }],
          },
        ],
        events: [{ ref, name: 'Expo', type: 'CONFERENCE', tagGroups: [group], users: [email] }],
        activations: [
          {
            id: activation,
            event: ref,
            name: 'Booth',
            type: 'BOOTH',
            startDate: '2026-05-04',
            endDate: '2026-05-05',
            startTime: '09:00:00',
            endTime: '17:00:00',
          },
        ],
        leads: [
          {
            id: lead,
            firstName: 'Ada',
            tags: [{ tagOptionId: option }],
            activations: [{ activationId: activation }],
            events: [{ event: ref }],
          },
        ],
        leadActivityEvents: [
          {
            id: activity,
            eventType: 'NOTE',
            associatedLead: lead,
            associatedEvent: ref,
            associatedActivation: activation,
            associatedTagOption: option,
          },
        ],
      };
    };

    it('deletes all that the import created, and the feed tells it', async () => {
      const replica = new Replica(tenant.api);
      await replica.follow();
      const before = await exported();
      const { importId } = await importing(everything());
      await replica.follow();
      const expected = {
        leadActivityEvents: 1,
        leads: 1,
        activations: 1,
        events: 1,
        tagGroups: 1,
        users: 1,
      };
      const dryRun = await undo(importId, '--dry-run');
      expect(dryRun).toMatchObject({ importId, dryRun: true, deleted: expected, left: NOTHING_LEFT });
      expect(await replica.follow()).toEqual([]);
      expect(await undo(importId)).toMatchObject({ deleted: expected, left: NOTHING_LEFT, examples: [] });
      expect(await exported()).toEqual(before);
      const changes = await replica.follow();
      expect(new Set(changes.filter(({ record }) => !record).map(({ resource }) => resource))).toEqual(
        new Set(['leadActivityEvents', 'leads', 'activations', 'events', 'tagGroups', 'eventLeads']),
      );
      expect(replica.differencesFrom(await listRecords(tenant.api))).toEqual([]);
      await expectExactLists();
      expect(await undo(importId)).toMatchObject({ deleted: {}, left: NOTHING_LEFT });
    });

    it('leaves what others have changed since, or what would go with it', async () => {
      const [patched, linked, tagged, active, deleted, untouched] = ids(6) as [
        string,
        string,
        string,
        string,
        string,
        string,
      ];
      const all = [patched, linked, tagged, active, deleted, untouched];
      const { tagGroups, events } = everything();
      const { events: eventIds } = await importing({
        tagGroups,
        events: events.map((event) => ({ ...event, users: [] })),
      });
      const { importId } = await importing({ leads: leadsOf(all) });
      await tenant.api.patch(`/leads/${patched}`, { jobTitle: 'Buyer' }).expect(200);
      const eventLeads = [{ leadId: linked, registered: true, checkedIn: false }];
      await tenant.api.put(`/events/${Object.values(eventIds)[0]}/leads`, { eventLeads }).expect(200);
      const tags = [{ tagOptionId: tagGroups[0]!.tagOptions[0]!.id }];
      await importing({
        leads: [{ ...leadsOf(all)[2], tags }],
        leadActivityEvents: [{ id: randomUUID(), eventType: 'NOTE', associatedLead: active }],
      });
      await tenant.api.delete(`/leads/${deleted}`).expect(200);
      const left = { changed: { leads: 4 }, inUse: {} };
      expect(await undo(importId, '--dry-run')).toMatchObject({ deleted: { leads: 1 }, left });
      const undone = await undo(importId);
      expect(undone).toMatchObject({ deleted: { leads: 1 }, left });
      expect(undone.examples).toEqual(
        [patched, linked, tagged, active].map((id) => ({ resource: 'leads', id, field: null, reason: 'changed' })),
      );
      expect(await total('/leads')).toBe(4);
      expect(await undo(importId)).toMatchObject({ deleted: {}, left });
      const { stdout } = await installation.operator.run(of('imports', 'undo', importId));
      expect(stdout).toMatch(
        /^deleted +none\nrestored +none\nundoneAt +20\d\d-\d\d-\d\dT[\d:.]+Z\nleft +changed \(leads 4\)\n/m,
      );
      expect(stdout).toContain(`\nleads ${patched}: changed since\n`);
      await expectExactLists();
    });

    it('leaves what others use: a record would take theirs with it', async () => {
      const { leads, leadActivityEvents, activations, ...base } = everything();
      const { importId } = await importing({ ...base, activations });
      await importing({ leads, leadActivityEvents });
      const left = { changed: {}, inUse: { activations: 1, events: 1, tagGroups: 1, users: 1 } };
      const dryRun = await undo(importId, '--dry-run');
      expect(dryRun).toMatchObject({ deleted: {}, left });
      expect(await undo(importId)).toMatchObject({ deleted: {}, left });
      expect(await total('/leads')).toBe(1);
    });

    it('leaves a record with what it has, so that nothing is torn from it', async () => {
      const data = everything();
      const { importId } = await importing(data);
      await tenant.api.patch(`/leads/${data.leads[0]!.id}`, { jobTitle: 'Buyer' }).expect(200);
      const expected = {
        deleted: { leadActivityEvents: 1 },
        left: { changed: { leads: 1 }, inUse: { activations: 1, events: 1, tagGroups: 1, users: 1 } },
      };
      expect(await undo(importId, '--dry-run')).toMatchObject(expected);
      expect(await undo(importId)).toMatchObject(expected);
      const { leads } = await exported();
      const { tags, events } = data.leads[0]!;
      expect(leads).toMatchObject([{ tags, events }]);
    });

    it('takes a lead that was there before out of the event that it was imported into', async () => {
      const [mine = '', touched = ''] = ids(2);
      const [event] = everything().events;
      await importing({ leads: leadsOf([mine, touched]) });
      const { ref } = event!;
      const events = [{ event: ref }];
      const leads = leadsOf([mine, touched]).map((lead) => ({ ...lead, events }));
      const { importId, events: eventIds } = await importing({
        events: [{ ref, name: 'Expo', type: 'CONFERENCE' }],
        leads,
      });
      const path = `/events/${eventIds[ref]}/leads`;
      const eventLeads = [{ leadId: touched, registered: true, checkedIn: true }];
      await tenant.api.put(path, { eventLeads }).expect(200);
      const expected = { deleted: { eventLeads: 1 }, left: { changed: { eventLeads: 1 }, inUse: { events: 1 } } };
      expect(await undo(importId, '--dry-run')).toMatchObject(expected);
      expect(await undo(importId)).toMatchObject(expected);
      expect(await total(path)).toBe(1);
      expect(await total('/leads')).toBe(2);
      await expectExactLists();
    });

    it('says that what it changed is in no file', async () => {
      const [lead] = leadsOf(ids(1));
      await importing({ leads: [lead] });
      const { importId } = await importing({ leads: [{ ...lead, firstName: 'Eve' }] });
      const { stdout } = await installation.operator.run(of('imports', 'undo', importId));
      expect(stdout).toMatch(/\n1 record that the import changed stays as it left them: it had no --before\.\n$/);
    });

    it('needs no organization, because an ID is that of one import', async () => {
      const { importId } = await importing({ leads: leadsOf(ids(1)) });
      await installation.server.tenant();
      expect(await installation.operator.json(['imports', 'undo', importId])).toMatchObject({
        undoneAt: null,
        deleted: { leads: 1 },
      });
      const unknown = randomUUID();
      expect(await installation.operator.run(['imports', 'undo', unknown])).toMatchObject({
        status: 1,
        stderr:
          `No organization has an import ${unknown} in its audit log, which is kept for LANYARD_AUDIT_DAYS. ` +
          'Run "imports list" for the IDs.\n',
      });
    });

    it('does not touch what a later import has created anew under the same ID', async () => {
      const [lead = ''] = ids(1);
      const { importId } = await importing({ leads: leadsOf([lead]) });
      await undo(importId);
      await importing({ leads: leadsOf([lead]) });
      expect(await undo(importId)).toMatchObject({ deleted: {}, left: NOTHING_LEFT });
      expect(await total('/leads')).toBe(1);
    });

    it('leaves industry events, which are everybody’s', async () => {
      const { importId } = await importing({ industryEvents: [{ name: `Pump World ${randomUUID()}` }] });
      expect(await undo(importId)).toMatchObject({ deleted: {}, left: NOTHING_LEFT });
    });

    it('says in one sentence that an import is unknown, or of another organization', async () => {
      const { importId } = await importing({ leads: leadsOf(ids(1)) });
      const other = await installation.server.tenant();
      for (const [id, organizationId] of [
        [randomUUID(), tenant.organizationId],
        [importId, other.organizationId],
      ] as const) {
        expect(
          await installation.operator.run(['imports', 'undo', id, '--organization', String(organizationId)]),
        ).toEqual({
          status: 1,
          stdout: '',
          stderr:
            `Organization ${organizationId} has no import ${id} in its audit log, which is kept for ` +
            'LANYARD_AUDIT_DAYS. Run "imports list" for the IDs.\n',
        });
      }
      expect(await total('/leads')).toBe(1);
    });

    it('has neither a list nor an undo without an audit log', async () => {
      const { importId } = await importing({ leads: leadsOf(ids(1)) });
      const without = new Operator({ DATABASE_URL: installation.database.url, LANYARD_AUDIT_DAYS: '0' });
      const none = 'No audit log is kept: LANYARD_AUDIT_DAYS is 0.';
      expect(await without.run(of('imports', 'list'))).toMatchObject({ status: 0, stdout: `None.\n${none}\n` });
      expect(await without.json(of('imports', 'list'))).toEqual([]);
      expect(await without.run(of('imports', 'undo', importId))).toEqual({
        status: 1,
        stdout: '',
        stderr: `No import can be undone. ${none}\n`,
      });
    });
  });

  describe('beside others', () => {
    let leadIds: string[];
    let importId: string;
    let event: number;
    let holder: QueryRunner;
    let replica: Replica;

    beforeEach(async () => {
      event = (await tenant.api.post('/events', eventInput()).expect(200)).body.results.id as number;
      const { ref } = (await db.query<{ ref: string }[]>('select ref from events where id = $1', [event]))[0]!;
      leadIds = ids(COUNT).sort();
      replica = new Replica(tenant.api);
      await replica.follow();
      const leads = leadsOf(leadIds).map((lead) => ({ ...lead, events: [{ event: ref }] }));
      ({ importId } = await importing({ leads }));
      holder = db.createQueryRunner();
      await holder.startTransaction();
    });
    afterEach(async () => {
      if (holder.isTransactionActive) await holder.rollbackTransaction();
      await holder.release();
    });

    /** Stops the undo in its last batch. */
    const holdLast = (): Promise<unknown> =>
      holder.query('select from leads where id = $1 for key share', [leadIds.at(-1)]);
    const expectAllRight = async (leads: number): Promise<void> => {
      expect(await total('/leads')).toBe(leads);
      await replica.follow();
      expect(replica.differencesFrom(await listRecords(tenant.api))).toEqual([]);
      await expectExactLists();
    };

    it('it goes on when it was killed in the middle', async () => {
      await holdLast();
      const child = installation.operator.start(of('imports', 'undo', importId));
      const ended = waitForOutcome(child);
      await waitUntil(async () => (await lockWaits(installation.database.url)) > 0);
      child.kill('SIGKILL');
      await ended;
      await holder.rollbackTransaction();
      await waitUntil(async () => (await lockWaits(installation.database.url)) === 0);
      const left = await total('/leads');
      expect(left).toBe(COUNT - 400);
      await expectAllRight(left);
      expect(await undo(importId)).toMatchObject({ deleted: { leads: left }, left: NOTHING_LEFT });
      await expectAllRight(0);
    });

    it('it waits for a writer, sees what it wrote, and lets others write between its batches', async () => {
      await holdLast();
      await holder.query(
        `insert into lead_activity_events (organization_id, lead_id, event_type) values ($1, $2, 'NOTE')`,
        [tenant.organizationId, leadIds.at(-1)],
      );
      const undone = undo(importId);
      await waitUntil(async () => (await lockWaits(installation.database.url)) > 0);
      const captured = await tenant.api.post('/leads', leadInput()).expect(200);
      const eventLeads = [{ leadId: captured.body.results.id as string, registered: true, checkedIn: true }];
      await tenant.api.put(`/events/${event}/leads`, { eventLeads }).expect(200);
      await holder.commitTransaction();
      expect(await undone).toMatchObject({
        deleted: { leads: COUNT - 1 },
        left: { changed: { leads: 1 } },
        examples: [{ id: leadIds.at(-1) }],
      });
      await expectAllRight(2);
      expect(await total(`/events/${event}/leads`)).toBe(2);
    });

    it('writers that change its leads meanwhile either keep them or find them gone', async () => {
      await holder.rollbackTransaction();
      const undone = undo(importId);
      const statuses = await Promise.all(
        leadIds
          .filter((_, n) => n % 9 === 0)
          .map((id) =>
            tenant.api.patch(`/leads/${id}`, { jobTitle: 'Buyer' }).then(({ status }) => [id, status] as const),
          ),
      );
      const { deleted, left } = await undone;
      const kept = statuses.filter(([, status]) => status === 200).map(([id]) => id);
      expect(left.changed.leads ?? 0).toBe(kept.length);
      expect(deleted.leads).toBe(COUNT - kept.length);
      const stored = await tenant.api.all<{ id: string }>('/leads', 'leads');
      expect(stored.map(({ id }) => id).sort()).toEqual(kept.sort());
      await expectAllRight(kept.length);
    });
  });
});
