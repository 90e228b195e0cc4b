import { randomUUID } from 'node:crypto';
import { chmodSync, mkdtempSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DataSource } from 'typeorm';
import type { Erasure, PersonData } from '../../src/exchange/persons/persons.service';
import { leadInput } from '../support/builders';
import { type InProcess, startInProcess, type Tenant } from '../support/lanyard';
import { Operator } from '../support/operator';

const CANARY = 'canary.person@firm.example';

/** The text columns that take no text of a client or an operator, or not one with an address. */
const CLOSED_COLUMNS = [
  /^(applied_functions|changes_key|cursor_positions|derived_columns|list_counts|lists|migrations|schema_releases|subscriptions)\./,
  /^(activations|events|lead_activity_events)\.(event_)?type$/,
  /^(api_keys\.(prefix|scope|simulate)|audit_log\.(change|operation|resource)|changes\.(operation|resource)|tag_groups\.status)$/,
  /^feed_readers\.(?!url$)/,
  /^idempotent_answers\.headers$/,
];

const textsOf = (fields: string[]): object => Object.fromEntries(fields.map((field) => [field, CANARY]));

/** The tables whose rows may still hold an address after an erasure, as docs/operations.md names them. */
function documentedTables(): string[] {
  const page = readFileSync('docs/operations.md', 'utf8');
  const section = /\n## Personal data\n([\s\S]*?)(?=\n## |$)/.exec(page)?.[1] ?? '';
  const rows = section.split('\n').filter((line) => line.startsWith('| **'));
  return rows
    .flatMap((row) => [...(row.split('|')[2] ?? '').matchAll(/`(\w+)`/g)].map(([, name]) => name ?? ''))
    .sort();
}

describe('persons', () => {
  let lanyard: InProcess;
  let operator: Operator;
  let db: DataSource;
  beforeAll(async () => {
    lanyard = await startInProcess();
    operator = new Operator({ DATABASE_URL: lanyard.config.databaseUrl });
    db = lanyard.app.get(DataSource);
  });

  const find = (tenant: Tenant, ...options: string[]) =>
    operator.json<PersonData>(['persons', 'find', '--organization', String(tenant.organizationId), ...options]);
  const runErase = (tenant: Tenant, ...options: string[]) =>
    operator.run(['persons', 'erase', '--organization', String(tenant.organizationId), ...options, '--json']);
  const erase = async (tenant: Tenant, ...options: string[]): Promise<Erasure> => {
    const { status, stdout } = await runErase(tenant, ...options);
    expect(status).toBe(0);
    return JSON.parse(stdout) as Erasure;
  };
  const create = async ({ api }: Tenant, input: object, key: string = randomUUID()): Promise<string> => {
    const { body } = await api.post('/leads', leadInput(input)).set('Idempotency-Key', key).expect(200);
    return (body as { results: { id: string } }).results.id;
  };
  const exported = async ({ organizationId }: Tenant): Promise<Record<string, { id?: string }[]>> =>
    operator.json(['export', '--organization', String(organizationId)]);

  /** All columns, by PostgreSQL's catalog. */
  const columnsOf = () =>
    db.query<{ table: string; column: string; type: string }[]>(`
      select c.relname as "table", attname as "column", atttypid::regtype::text as type
      from pg_attribute a join pg_class c on c.oid = a.attrelid
      where c.relkind = 'r' and c.relnamespace = current_schema()::regnamespace and attnum > 0 and not attisdropped`);

  const textColumns = async (): Promise<string[]> =>
    (await columnsOf())
      .filter(({ type }) => /^(text|character|json)/.test(type))
      .map(({ table, column }) => `${table}.${column}`);

  /** The tables and columns in which a text stands. */
  const placesOf = async (text: string): Promise<string[]> => {
    const places: string[] = [];
    for (const { table, column } of await columnsOf()) {
      const rows = await db.query<unknown[]>(
        `select from ${table} where lower(${column}::text) like '%' || $1 || '%' limit 1`,
        [text],
      );
      if (rows.length > 0) places.push(`${table}.${column}`);
    }
    return places;
  };

  it('finds leads by all their addresses and numbers, in any case, and what mentions them', async () => {
    const tenant = await lanyard.tenant();
    const other = await lanyard.tenant();
    const first = await create(tenant, { email: 'Ada@Example.com' });
    const second = randomUUID();
    const third = randomUUID();
    await tenant.import({
      users: [{ email: 'ada@example.com' }],
      events: [{ ref: 'e', name: 'Fair', type: 'CONFERENCE', users: ['ada@example.com'] }],
      leads: [
        {
          id: second,
          professionalEmails: 'a@b.example, ADA@example.com',
          phoneNumbers: { leadProvided: [{ number: '+49 441 99887', type: 'OFFICE', preferred: true }] },
        },
        { id: third, email: 'x@example.com', createdBy: 'ada@example.com', description: 'a friend of Ada@example.com' },
      ],
      leadActivityEvents: [
        { id: randomUUID(), eventType: 'NOTE', eventNotes: 'met ada@example.com', associatedLead: third },
        { id: randomUUID(), eventType: 'NOTE', eventNotes: 'is ada@example.com', associatedLead: second },
      ],
    });
    await create(other, { email: 'ada@example.com' });

    const byEmail = await find(tenant, '--email', ' ADA@example.com');
    const stored = await Promise.all([first, second].map((id) => tenant.api.get(`/leads/${id}`)));
    expect(byEmail.records).toEqual(stored.map(({ body }) => (body as { results: object }).results));
    expect(byEmail.asUser.map(({ resource, field }) => `${resource} ${field}`).sort()).toEqual([
      'events users',
      'leads createdBy',
      'users email',
    ]);
    expect(byEmail.mentions.map(({ resource, field }) => `${resource} ${field}`).sort()).toEqual([
      'leadActivityEvents eventNotes',
      'leads description',
    ]);
    expect(byEmail.traces).toEqual({ storedAnswers: 1, changes: 2 });
    expect(byEmail.activityEvents).toMatchObject([{ eventNotes: 'is ada@example.com', associatedLead: second }]);

    expect((await find(tenant, '--phone', '0049 (441) 99887')).records).toEqual([byEmail.records[1]]);
    const national = await find(tenant, '--phone', '0441 99887');
    expect(national.records).toEqual([]);
    expect(national.possible).toEqual([
      {
        id: second,
        field: 'phoneNumbers.leadProvided',
        value: '+49 441 99887',
        reason: 'one number is the end of the other',
      },
    ]);
    const byPhone = await find(tenant, '--phone', '+49 (441) 998-87');
    expect(byPhone.records).toEqual([byEmail.records[1]]);

    const described = randomUUID();
    await tenant.import({ leads: [{ id: described, description: 'call 5 0441 99887 0441 99888 or 0441/99-889.' }] });
    for (const number of ['044199887', '044199888', '0441 99889']) {
      const mention = { resource: 'leads', id: described, field: 'description' };
      expect((await find(tenant, '--phone', number)).mentions).toEqual([mention]);
    }
    expect((await find(tenant, '--phone', '44199')).mentions).toEqual([]);

    const byLead = await find(tenant, '--lead', first);
    expect(byLead.records).toEqual([byEmail.records[0]]);
    expect(byLead.possible).toEqual([
      {
        id: second,
        field: 'professionalEmails',
        value: 'ADA@example.com',
        reason: 'the address of a lead named by --lead',
      },
    ]);
    expect(byLead.mentions).not.toContainEqual({ resource: 'leads', id: second, field: 'professionalEmails' });
  });

  it('erases what the table of docs/operations.md does not name, and nobody else', async () => {
    const tenant = await lanyard.tenant();
    const { organizationId, api } = tenant;
    const [ownId, otherId, tagGroupId, activationId] = [randomUUID(), randomUUID(), randomUUID(), randomUUID()];
    const location = { city: CANARY };
    const number = { number: CANARY, type: 'OFFICE', preferred: true };
    await tenant.import({
      users: [{ email: CANARY, firstName: CANARY, lastName: CANARY }],
      tagGroups: [
        {
          id: tagGroupId,
          name: CANARY,
          usageInstructions: CANARY,
          tagOptions: [{ id: randomUUID(), displayOrder: 0, value: CANARY }],
        },
      ],
      events: [{ ref: CANARY, name: CANARY, type: 'CONFERENCE', createdBy: CANARY, location, users: [CANARY] }],
      activations: [
        {
          id: activationId,
          event: CANARY,
          name: CANARY,
          type: 'BOOTH',
          startDate: '2026-01-01',
          endDate: '2026-01-02',
          startTime: '08:00:00',
          endTime: '09:00:00',
          createdBy: CANARY,
          users: [CANARY, 'x@example.com'],
          location,
        },
      ],
      leads: [
        {
          id: otherId,
          email: 'other@example.com',
          firstName: CANARY,
          description: CANARY,
          ref: CANARY,
          source: CANARY,
          createdBy: CANARY,
          lastScannedBy: CANARY,
          phoneNumbers: { leadProvided: [number], serviceProvided: [number] },
          ...textsOf(['lastName', 'address', 'linkedin', 'facebook', 'twitter', 'jobTitle', 'profilePicture']),
          remoteIds: [{ id: CANARY, integrationType: 'HUB_SPOT' }],
          company: textsOf(['name', 'industry', 'linkedin', 'streetAddress', 'city', 'state', 'zip', 'country']),
        },
        {
          id: ownId,
          email: CANARY,
          ...textsOf(['personalEmails', 'professionalEmails']),
          remoteIds: [{ id: CANARY, integrationType: 'ZOHO' }],
          events: [{ event: CANARY }],
          activations: [{ activationId }],
        },
      ],
      leadActivityEvents: [
        { id: randomUUID(), eventType: 'NOTE', eventNotes: CANARY, createdBy: CANARY, associatedLead: otherId },
        { id: randomUUID(), eventType: 'NOTE', eventNotes: CANARY, associatedLead: ownId },
      ],
    });
    await api
      .post('/industryEvents', {
        ...textsOf(['description', 'sourceType', 'sourceId', 'eventType', 'attendeeCost', 'boothCost', 'eventUrl']),
        ...textsOf(['venueCity', 'venueState', 'venueCountry', 'venueName', 'venueFullAddress', 'venueCoordinates']),
        name: `Expo of ${CANARY}`,
        website: `https://x.example/?${CANARY}`,
        exhibitorIndustries: [CANARY],
        attendeePersonas: [CANARY],
        keywords: [CANARY],
      })
      .expect(200);
    await tenant.issueKey({ label: CANARY });
    await operator.json(['organizations', 'rename', String(organizationId), '--name', CANARY]);
    const namedFile = join(mkdtempSync(join(tmpdir(), 'persons-')), `${CANARY}.json`);
    writeFileSync(namedFile, JSON.stringify({ users: [{ email: 'x@example.com' }] }));
    await operator.json(['import', namedFile, '--organization', String(organizationId)]);
    await operator.json([
      'webhooks',
      'create',
      '--organization',
      String(organizationId),
      '--url',
      `http://127.0.0.1:9/${CANARY}`,
    ]);
    const batch = {
      matchBy: 'email',
      leads: [leadInput({ email: CANARY }), leadInput({ email: 'somebody@example.com' })],
    };
    await api.post('/leads/batch', batch).set('Idempotency-Key', 'batch').expect(200);
    const deleted = await create(tenant, { email: `gone.${CANARY}`, firstName: `line\n${CANARY}` }, `key-${CANARY}`);
    await api.delete(`/leads/${deleted}`).expect(200);
    await create(tenant, { email: 'unconcerned@example.com' }, 'unconcerned');
    const filled = await placesOf(CANARY);
    const before = await exported(tenant);

    const preview = await erase(tenant, '--email', CANARY, '--also-as-user');
    expect(preview).toMatchObject({ erased: false, leads: 1, storedAnswers: 2 });
    expect(await exported(tenant)).toEqual(before);
    const wrong = await runErase(tenant, '--email', CANARY, '--yes', '3');
    expect(wrong).toMatchObject({ status: 1, stdout: '' });
    expect(wrong.stderr).toContain('1 lead, not 3. Nothing was changed.');

    const erased = await erase(tenant, '--email', CANARY, '--yes', '1', '--also-as-user');
    expect(erased).toEqual({ ...preview, erased: true });

    const after = await exported(tenant);
    const others = (leads: { id?: string }[] = []) => leads.filter(({ id }) => id !== ownId);
    const withoutUser = (lead: object) => ({ ...lead, createdBy: null, lastScannedBy: null });
    expect(after.leads).toEqual(others(before.leads).map((lead) => (lead.id === otherId ? withoutUser(lead) : lead)));

    // A retry neither runs again nor shows anything.
    const retried = await api.post('/leads/batch', batch).set('Idempotency-Key', 'batch').expect(410);
    expect(retried.body).toEqual({ status: 410, error: 'Gone' });
    expect(await exported(tenant)).toEqual(after);
    const unconcerned = await api
      .post('/leads', leadInput({ email: 'unconcerned@example.com' }))
      .set('Idempotency-Key', 'unconcerned')
      .expect(200);
    expect(unconcerned.headers['idempotency-replayed']).toBe('true');

    const { body } = await api.get('/changes?resources=leads&limit=100');
    expect(JSON.stringify(body)).not.toContain(`"email":"${CANARY}"`);

    const places = await placesOf(CANARY);
    const unfilled = (await textColumns()).filter((name) => ![...filled, ...places].includes(name));
    expect(unfilled.filter((name) => !CLOSED_COLUMNS.some((closed) => closed.test(name)))).toEqual([]);
    expect([...new Set(places.map((place) => place.split('.')[0]))].sort()).toEqual(documentedTables());
    expect(places).not.toContain('leads.email');
    expect(places).not.toContain('leads.created_by');
    expect(places).not.toContain('users.email');
    expect(places).not.toContain('idempotent_answers.answer');

    const mentioned = erased.mentions.map(({ resource, field }) => `${resource} ${field}`);
    for (const each of [
      'events name',
      'events location',
      'tagOptions value',
      'api_keys label',
      'organizations name',
      'feed_readers url',
      'audit_log details',
      'industryEvents description',
      'leads company.name',
    ]) {
      expect(mentioned).toContain(each);
    }
  });

  it('leaves users and creators unless it is asked for, and asks for the number of leads', async () => {
    const tenant = await lanyard.tenant();
    // Without an i, of which another locale makes another letter.
    const address = 'team@shared.example';
    await tenant.import({ users: [{ email: address }] });
    const ids = [await create(tenant, { email: address }), await create(tenant, { email: address.toUpperCase() })];
    expect(await erase(tenant, '--email', address)).toMatchObject({ erased: false, leads: 2, asUser: 0 });
    expect(await erase(tenant, '--lead', ids[0] ?? '', '--yes', '1')).toMatchObject({ erased: true, leads: 1 });
    const { records, asUser } = await find(tenant, '--email', address);
    expect(records).toMatchObject([{ id: ids[1] }]);
    expect(asUser).toMatchObject([{ resource: 'users', field: 'email' }]);
  });

  it('hands the person everything that is theirs, and nobody else, in a file that only its owner can read', async () => {
    const tenant = await lanyard.tenant();
    const address = 'doc@example.com';
    const [ownId, otherId, activationId] = [randomUUID(), randomUUID(), randomUUID()];
    await tenant.import({
      users: [{ email: address }, { email: 'staff@example.com' }],
      events: [{ ref: 'e', name: 'Fair', type: 'CONFERENCE' }],
      activations: [
        {
          id: activationId,
          event: 'e',
          name: 'Booth 3',
          type: 'BOOTH',
          startDate: '2026-01-01',
          endDate: '2026-01-02',
          startTime: '08:00:00',
          endTime: '09:00:00',
        },
      ],
      leads: [
        {
          id: ownId,
          email: address,
          lastScannedBy: 'staff@example.com',
          events: [{ event: 'e', registered: true }],
          activations: [{ activationId, checkedIn: true }],
        },
        { id: otherId, email: 'other@example.com', createdBy: address, description: `friend of ${address}` },
      ],
      leadActivityEvents: [
        { id: randomUUID(), eventType: 'NOTE', eventNotes: 'wants pumps', createdBy: address, associatedLead: ownId },
        { id: randomUUID(), eventType: 'NOTE', createdBy: 'staff@example.com', associatedLead: ownId },
      ],
    });
    const file = join(mkdtempSync(join(tmpdir(), 'persons-')), 'doc.json');
    const found = await find(tenant, '--email', address, '--output', file);
    const document = JSON.parse(readFileSync(file, 'utf8')) as object;
    expect(document).toMatchObject({
      records: [{ ...found.records[0], lastScannedBy: null }],
      activityEvents: [{ eventNotes: 'wants pumps', createdBy: address }, { createdBy: null }],
      events: [
        { leadId: ownId, eventName: 'Fair', activationName: null, registered: true },
        { leadId: ownId, eventName: 'Fair', activationName: 'Booth 3', checkedIn: true },
      ],
      asUser: expect.arrayContaining([
        { resource: 'leads', field: 'createdBy', count: 1 },
        { resource: 'users', field: 'email', count: 1 },
      ]) as object,
    });
    expect(Object.keys(document).sort()).toEqual(['activityEvents', 'asUser', 'events', 'records']);
    for (const text of [otherId, 'other@example.com', 'staff@example.com']) {
      expect(JSON.stringify(document)).not.toContain(text);
    }
    expect(statSync(file).mode & 0o777).toBe(0o600);
    chmodSync(file, 0o644);
    await find(tenant, '--email', address, '--output', file);
    expect(statSync(file).mode & 0o777).toBe(0o600);
  });

  it("searches a team's own table, and erases its rows of the lead", async () => {
    const tenant = await lanyard.tenant();
    const address = 'guest@team.example';
    const own = await create(tenant, { email: address });
    const other = await create(tenant, { email: 'host@team.example' });
    await db.query(`create table team_meetings (
      organization_id integer not null, id integer primary key, lead_id uuid not null, agenda text, guests jsonb,
      foreign key (organization_id, lead_id) references leads (organization_id, id) on delete cascade)`);
    await db.query('insert into team_meetings values ($1, 1, $2, $4, null), ($1, 2, $3, null, $5)', [
      tenant.organizationId,
      own,
      other,
      `with ${address}`,
      JSON.stringify([address]),
    ]);
    const { mentions } = await find(tenant, '--email', address);
    expect(mentions).toEqual([{ resource: 'team_meetings', id: 2, field: 'guests' }]);
    await erase(tenant, '--email', address, '--yes', '1');
    expect(await db.query('select id from team_meetings')).toEqual([{ id: 2 }]);
    await db.query('drop table team_meetings');
  });

  it('erases one of many beside writers and an import, and changes no other record', async () => {
    const tenant = await lanyard.tenant();
    const count = 30;
    const ids = await Promise.all(
      Array.from({ length: count }, (_, n) => create(tenant, { email: `beside-${n}@example.com` })),
    );
    const before = await exported(tenant);
    const imported = Array.from({ length: 200 }, () => ({ id: randomUUID(), email: 'imported@example.com' }));
    const writes = ids.slice(1).map((id) => tenant.api.patch(`/leads/${id}`, { jobTitle: 'Engineer' }).expect(200));
    const [erased] = await Promise.all([
      erase(tenant, '--email', 'beside-0@example.com', '--yes', '1'),
      tenant.import({ leads: imported }),
      ...writes,
    ]);
    expect(erased).toMatchObject({ erased: true, leads: 1, storedAnswers: 1 });
    const after = await exported(tenant);
    const known = (after.leads ?? []).filter(({ id }) => ids.includes(id ?? ''));
    const others = (before.leads ?? []).filter(({ id }) => id !== ids[0]);
    expect(known).toEqual(others.map((lead) => ({ ...lead, jobTitle: 'Engineer' })));
    expect(after.leads).toHaveLength(count - 1 + imported.length);
    const { body } = await tenant.api.get('/leads?limit=1').expect(200);
    expect((body as { results: { total: number } }).results.total).toBe(count - 1 + imported.length);
  });

  it('erases what an import has stored, and nothing comes of one that was left half done', async () => {
    const tenant = await lanyard.tenant();
    const address = 'half@example.com';
    const stored = { id: randomUUID(), email: address };
    await tenant.import({ leads: [stored] });
    const file = join(mkdtempSync(join(tmpdir(), 'persons-')), 'half.ndjson');
    const lead = (record: object): string => JSON.stringify({ section: 'leads', record });
    writeFileSync(
      file,
      [lead({ ref: 'b', email: address }), lead({ ref: 'c', email: 'c@example.com' }), '{"sec'].join('\n'),
    );
    const half = await operator.run(['import', file, '--organization', String(tenant.organizationId)]);
    expect(half.status).toBe(1);
    expect((await find(tenant, '--email', address)).records).toMatchObject([stored]);
    expect(await erase(tenant, '--email', address, '--yes', '1')).toMatchObject({ erased: true, leads: 1 });
    expect((await placesOf(address)).filter((place) => place !== 'changes.remote_ids')).toEqual([]);
  });

  it('finds no trace of a dry run, and erases the response of a deleted lead', async () => {
    const tenant = await lanyard.tenant();
    const address = 'dry@example.com';
    const send = (key: string) => tenant.api.post('/leads', leadInput({ email: address })).set('Idempotency-Key', key);
    await tenant.api
      .post('/leads', leadInput({ email: address }))
      .set('Prefer', 'tx=rollback')
      .expect(200);
    expect((await find(tenant, '--email', address)).traces).toEqual({ storedAnswers: 0, changes: 0 });
    const { body } = await send('stored').expect(200);
    await tenant.api.delete(`/leads/${(body as { results: { id: string } }).results.id}`).expect(200);
    expect(await erase(tenant, '--email', address, '--yes', '0')).toMatchObject({ leads: 0, storedAnswers: 1 });
    await send('stored').expect(410);
    const list = await tenant.api.get(`/leads?email=${address}`).expect(200);
    expect((list.body as { results: object }).results).toEqual({ leads: [], total: 0 });
  });

  it('says what will be missing after a restore, and refuses what it cannot do', async () => {
    const tenant = await lanyard.tenant();
    await create(tenant, { email: 'unrecorded@example.com' });
    const { stderr } = await runErase(tenant, '--email', 'unrecorded@example.com', '--yes', '1');
    expect(stderr).toContain('Not recorded: after a restore');
    const usage: [string[], string][] = [
      [[], 'Name the person with --email, --phone or --lead'],
      [['--email', 'x'], '--email must be an e-mail address'],
      [['--phone', '12'], 'at least 5 digits'],
      [['--lead', '1'], 'which is a UUID'],
      [['--again', 'f'], '--again takes no other option but --yes'],
    ];
    for (const [options, message] of usage) {
      const outcome = await runErase(tenant, ...options);
      expect(outcome.status).toBe(2);
      expect(outcome.stderr).toContain(message);
    }
    const unknown = randomUUID();
    expect(await runErase(tenant, '--lead', unknown)).toMatchObject({
      status: 1,
      stderr: expect.stringContaining(`Lead ${unknown} does not exist`) as string,
    });
  });
});
