import type { DataSource, EntityMetadata } from 'typeorm';
import type { ColumnMetadata } from 'typeorm/metadata/ColumnMetadata';
import { createExhibitor } from '../support/builders';
import { asOperator } from '../support/database';
import { type InProcess, startInProcess, type Tenant } from '../support/lanyard';
import { listRecords, nameOf, Replica } from '../support/replica';

let lanyard: InProcess;
let db: DataSource;
let tenant: Tenant;
beforeAll(async () => {
  lanyard = await startInProcess();
  db = await asOperator(lanyard.config.databaseUrl as string);
  tenant = await lanyard.tenant();
  // Twice, so that each row could belong to another parent.
  for (const ref of ['expo', 'quay']) {
    await tenant.import(
      JSON.parse(JSON.stringify(createExhibitor().dataset).replaceAll('"expo"', `"${ref}"`)) as object,
    );
  }
});

/** Those of enumerations, which answers must have. */
const ENUMERATED: Record<string, string> = {
  'events.type': 'CONFERENCE',
  'activations.type': 'DEMO',
  'tag_groups.status': 'DRAFT',
  'lead_activity_events.event_type': 'PHONE',
};

/** Told although the order of the others may stay: imports alone write it, together with what does change. */
const TOLD_ANYWAY = 'event_tag_groups.position';

/** SQL of another value than a row has. */
function otherValue({
  entityMetadata: { tableName, foreignKeys },
  databaseName,
  type,
  isArray,
}: ColumnMetadata): string {
  const parent = foreignKeys.find(({ columns }) => columns.at(-1)?.databaseName === databaseName);
  if (parent) {
    const { tableName: of } = parent.referencedEntityMetadata;
    return `(select id from ${of} where organization_id = $1 and id is distinct from changed.${databaseName} limit 1)`;
  }
  const given = ENUMERATED[`${tableName}.${databaseName}`] ?? 'other@example.com';
  const others: Record<string, string> = {
    text: isArray ? `array['${given}']` : `'${given}'`,
    boolean: `not ${databaseName}`,
    integer: `${databaseName} + 1`,
    date: `${databaseName} + 1`,
    time: `${databaseName} + interval '1 hour'`,
    timestamptz: `${databaseName} + interval '1 hour'`,
    uuid: 'gen_random_uuid()',
    jsonb: `case when jsonb_typeof(${databaseName}) = 'array' then '[]'::jsonb end`,
  };
  const other = others[String(type)];
  if (!other) throw new Error(`no other value of a ${String(type)}`);
  return other;
}

/** Gives a column of the table's first row another value. */
async function change({ entityMetadata, databaseName }: ColumnMetadata, value: string): Promise<void> {
  const { tableName: table, primaryColumns } = entityMetadata;
  const key = primaryColumns.map((column) => column.databaseName).join();
  const [, rows] = await db.query<[unknown, number]>(
    `update ${table} changed set ${databaseName} = ${value} where organization_id = $1
      and (${key}) = (select ${key} from ${table} where organization_id = $1 order by ${key} limit 1)`,
    [tenant.organizationId],
  );
  expect([table, rows]).toEqual([table, 1]);
}

/** The columns of followed tables whose values a statement may change. */
async function columnsThatChange(): Promise<ColumnMetadata[]> {
  const followed = await db.query<{ name: string }[]>(
    `select tgrelid::regclass::text as name from pg_trigger where tgname = 't60_change_updated' order by 1`,
  );
  const entities = followed.map(
    ({ name }) => db.entityMetadatas.find(({ tableName }) => tableName === name) as EntityMetadata,
  );
  return entities
    .flatMap(({ columns }) => columns)
    .filter(({ isPrimary, isUpdate, databaseName }) => !isPrimary && isUpdate && databaseName !== 'organization_id');
}

describe('an update of a column', () => {
  it('is a change of just those records that then show something else', async () => {
    const replica = new Replica(tenant.api);
    await replica.follow();
    let before = await listRecords(tenant.api);
    const [wrong, quiet]: [object[], string[]] = [[], []];
    const columns = await columnsThatChange();
    for (const column of columns) {
      await change(column, otherValue(column));
      const after = await listRecords(tenant.api);
      const isChanged = (name: string): boolean => JSON.stringify(after.get(name)) !== JSON.stringify(before.get(name));
      const changed = [...after.keys()].filter(isChanged).sort();
      const told = (await replica.follow()).map(nameOf).sort();
      const name = `${column.entityMetadata.tableName}.${column.databaseName}`;
      if (told.join() !== changed.join() && name !== TOLD_ANYWAY) wrong.push({ name, changed, told });
      if (told.length === 0) quiet.push(name);
      before = after;
    }
    expect(wrong).toEqual([]);
    expect(columns.length).toBeGreaterThan(60);
    expect(quiet).toEqual(
      expect.arrayContaining(['leads.profile_picture', 'events.created_by', 'event_leads.associated_at']),
    );
    expect(await replica.differences()).toEqual([]);
  }, 60_000);
});
