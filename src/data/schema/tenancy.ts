import type { DataSource, EntityMetadata } from 'typeorm';
import { ConfigError } from '../../config';
import { decoratedEntities } from '../database/decorated-entities';
import { LIST_TABLES } from './lists';
import type { SchemaDefinition } from './schema-definition';

/**
 * PostgreSQL keeps organizations apart where each foreign key between their rows includes the organization, and deletes all that
 * an organization has where a foreign key leads from it to the organization. Whatever does not is found at the start.
 */

const UNSCOPED_METADATA_KEY = Symbol('unscoped tables');

/** Tables of an entity, or of its rows, that are not kept apart by foreign keys, because their code does it or they outlive it. */
export const WithUnscopedTables = (...tables: string[]): ClassDecorator =>
  Reflect.metadata(UNSCOPED_METADATA_KEY, tables);

/** A foreign key that does not include the organization, although the rows it refers to belong to one. */
interface UnscopedReference {
  /** The name of the constraint. An entity may declare a reference that the database does not have. */
  name?: string;
  table: string;
  columns: string[];
  /** Whether the table has an `organization_id`. */
  isOwned: boolean;
  target: string;
  targetColumns: string[];
  /** What follows `on delete`. */
  onDelete: string;
  /** Whether a foreign key may refer to the organization and the columns. */
  hasTargetKey: boolean;
}

/** A table with an organization, whose rows stay when it is deleted. */
interface LeftTable {
  table: string;
  /** The foreign key to organizations that does not delete, if there is one. */
  name?: string;
}

/** The columns that hold an organization, and the foreign keys. A partition has what its table has. */
const CATALOG = `
  owner_columns as (
    select attrelid as table_id, attnum as key
    from pg_attribute join pg_class on pg_class.oid = attrelid
    where attname = 'organization_id' and not attisdropped and relkind in ('r', 'p') and not relispartition
      and relnamespace = current_schema()::regnamespace
  ),
  foreign_keys as (
    select f.*, exists (
      select from unnest(conkey, confkey) pair (key, target_key)
      where (conrelid, key) in (table owner_columns) and (confrelid, target_key) in (table owner_columns)
    ) as includes_owner
    from pg_constraint f
    where contype = 'f' and conparentid = 0 and connamespace = current_schema()::regnamespace
  )`;

const columnNames = (table: string, keys: string, name = 'quote_ident(attname)'): string => `array(
  select ${name} from unnest(${keys}) with ordinality each (key, nth)
  join pg_attribute on attrelid = ${table} and attnum = key order by nth)`;

const FIND_UNSCOPED_REFERENCES = `
  with ${CATALOG}
  select quote_ident(conname) as name, conrelid::regclass::text as table, ${columnNames('conrelid', 'conkey')} as columns,
    conrelid in (select table_id from owner_columns) as "isOwned", confrelid::regclass::text as target,
    ${columnNames('confrelid', 'confkey')} as "targetColumns",
    case confdeltype
      when 'c' then 'cascade' when 'n' then 'set null' when 'd' then 'set default' when 'r' then 'restrict' else 'no action'
    end as "onDelete",
    exists (
      select from pg_index where indrelid = confrelid and indisunique and indpred is null
        and array(select unnest(indkey::int2[]) order by 1) = array(
          select unnest(confkey) union select key from owner_columns where table_id = confrelid order by 1)
    ) as "hasTargetKey"
  from foreign_keys
  where not includes_owner and confrelid in (select table_id from owner_columns)
  order by 2, 1`;

/** A row is deleted with another one only if the foreign key has a value in each of its columns. */
const FIND_LEFT_TABLES = `
  with recursive ${CATALOG},
  deleted (table_id) as (
    select conrelid from foreign_keys where confrelid = 'organizations'::regclass and confdeltype = 'c'
    union
    select conrelid from foreign_keys join deleted on table_id = confrelid
    where confdeltype = 'c' and includes_owner and not exists (
      select from pg_attribute where attrelid = conrelid and attnum = any(conkey) and not attnotnull)
  )
  select table_id::regclass::text as table, quote_ident(conname) as name
  from owner_columns left join foreign_keys on conrelid = table_id and confrelid = 'organizations'::regclass and conkey = array[key]
  where table_id not in (table deleted)
  order by 1`;

const FIND_FOREIGN_KEYS = `
  select relname::text as table, ${columnNames('conrelid', 'conkey', 'attname::text')} as columns
  from pg_constraint join pg_class on pg_class.oid = conrelid where contype = 'f' and connamespace = current_schema()::regnamespace`;

/**
 * @throws ConfigError with the lines to write, if an organization could refer to, or change, what another one has, or would
 *   leave rows when it is deleted
 */
export async function requireTenancy(dataSource: DataSource, schema: SchemaDefinition): Promise<void> {
  const unscoped = new Set([
    ...LIST_TABLES,
    ...decoratedEntities<string[]>(dataSource, UNSCOPED_METADATA_KEY).flatMap(({ value }) => value),
    ...schema.unscopedTables,
  ]);
  // SQL has a name such as "order" in quotes.
  const isScoped = ({ table }: { table: string }): boolean => !unscoped.has(table.replaceAll('"', ''));
  const references = [
    ...(await dataSource.query<UnscopedReference[]>(FIND_UNSCOPED_REFERENCES)),
    ...(await referencesWithoutForeignKey(dataSource)),
  ];
  const left = await dataSource.query<LeftTable[]>(FIND_LEFT_TABLES);
  const problems = [...references.filter(isScoped).map(referenceProblem), ...left.filter(isScoped).map(leftProblem)];
  if (problems.length === 0) return;
  throw new ConfigError(
    `${problems.join('\n\n')}\n\nIf one of these is meant so, name its table in unscopedTables of defineExtension().`,
  );
}

/** What the entities refer to without a foreign key in the database. */
async function referencesWithoutForeignKey(dataSource: DataSource): Promise<UnscopedReference[]> {
  const stored = await dataSource.query<{ table: string; columns: string[] }[]>(FIND_FOREIGN_KEYS);
  const isOwned = ({ columns }: EntityMetadata): boolean =>
    columns.some(({ databaseName }) => databaseName === 'organization_id');
  return dataSource.entityMetadatas.filter(isOwned).flatMap(({ tableName: table, relations }) =>
    relations
      .filter(({ joinColumns, isManyToMany, inverseEntityMetadata }) => {
        return joinColumns.length > 0 && !isManyToMany && isOwned(inverseEntityMetadata);
      })
      .map(({ joinColumns, inverseEntityMetadata, onDelete }) => ({
        table,
        columns: joinColumns.map(({ databaseName }) => databaseName),
        isOwned: true,
        target: inverseEntityMetadata.tableName,
        targetColumns: joinColumns.map(({ referencedColumn }) => referencedColumn?.databaseName ?? 'id'),
        onDelete: onDelete?.toLowerCase() ?? 'no action',
        hasTargetKey: true,
      }))
      .filter(({ columns }) => {
        return !stored.some((each) => each.table === table && columns.every((column) => each.columns.includes(column)));
      }),
  );
}

function referenceProblem(reference: UnscopedReference): string {
  const { name, table, target, columns, targetColumns, isOwned } = reference;
  if (name === undefined) {
    return (
      `No foreign key holds what ${table} refers to in ${target}, so a row could refer to another organization's. ` +
      `Write in a migration:\n  ${withOwner(reference)}`
    );
  }
  if (!isOwned) {
    const isParent = columns.map((column, n) => `${target}.${targetColumns[n]} = ${table}.${column}`).join(' and ');
    return (
      `${table} refers to ${target}, whose rows belong to organizations, and has no organization_id, so an organization ` +
      `could change another one's rows. Write in a migration:\n` +
      `  alter table ${table} add organization_id integer;\n` +
      `  update ${table} set organization_id = ${target}.organization_id from ${target} where ${isParent};\n` +
      `  alter table ${table} alter organization_id set not null;\n  ${withOwner(reference)}`
    );
  }
  return (
    `The foreign key ${name} lets a row of ${table} refer to another organization's row of ${target}, and show it. ` +
    `Write in a migration:\n  ${withOwner(reference)}\n` +
    `and on a relation of the entity:\n  @JoinColumn([${joinColumns(reference).join(', ')}])`
  );
}

const withoutOwner = (columns: string[]): string[] => columns.filter((column) => column !== 'organization_id');

/** The statements that create a foreign key with the organization. */
function withOwner({ name, table, target, hasTargetKey, onDelete, ...reference }: UnscopedReference): string {
  const columns = withoutOwner(reference.columns);
  const key = ['organization_id', ...withoutOwner(reference.targetColumns)].join(', ');
  const constraint = name ?? `${table}_${columns.join('_')}_fkey`;
  // Otherwise the organization would be set to null, too.
  const action = onDelete === 'set null' ? `set null (${columns.join(', ')})` : onDelete;
  const targetKey = hasTargetKey ? '' : `alter table ${target} add unique (${key});\n  `;
  const drop = name === undefined ? '' : `drop constraint ${name}, `;
  return (
    `${targetKey}alter table ${table} ${drop}add constraint ${constraint}\n` +
    `    foreign key (organization_id, ${columns.join(', ')}) references ${target} (${key}) on delete ${action};`
  );
}

const joinColumns = ({ columns, targetColumns }: UnscopedReference): string[] =>
  [['organization_id', 'organizationId'], ...columns.map((column, n) => [column, targetColumns[n]])].map(
    ([name, referenced]) => `{ name: '${name?.replaceAll('"', '')}', referencedColumnName: '${referenced}' }`,
  );

const leftProblem = ({ table, name }: LeftTable): string =>
  `"organizations delete" leaves the rows of ${table}, because no foreign key deletes them. Write in a migration:\n` +
  `  alter table ${table} ${name ? `drop constraint ${name}, ` : ''}add constraint ${name ?? `${table}_organization_fkey`}\n` +
  `    foreign key (organization_id) references organizations (id) on delete cascade;`;
