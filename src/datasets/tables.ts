import type { DataSource, EntityManager, EntityMetadata } from 'typeorm';
import type { ColumnMetadata } from 'typeorm/metadata/ColumnMetadata';
import { type Class, classOf, type FieldSchema, schemasOf } from '../fields/field-rules';
import { snakeCase } from '../database/data-source';
import { trackedListsOf, type TrackedList } from '../database/tracked-list';
import { type DerivedColumn, derivedColumnsOf } from '../schema/derived';
import type { Dataset, Datasets, RecordList } from './dataset';

/** What a column refers to: rows of another table by their key, which may be another column than `id`. */
export interface ReferenceTarget {
  table: string;
  key: string;
}

/** A column of the temporary table that holds what the file says. */
export interface StagedColumn {
  name: string;
  /**
   * The SQL type of the staged value: text for a reference by a key, even if the stored column holds an id. Before
   * `readStoredTypes`, the type of a stored column lacks its length, precision and dimensions.
   */
  type: string;
  /** The path of its field in a record, or in an entry of an array. */
  path: string;
  /** The first name of the path, and the second one if it has two. Each record is read by them. */
  outer: string;
  inner?: string;
  /** The value for a record that has none. */
  initial?: unknown;
}

/** A stored column that a section fills. */
export interface FilledColumn extends StagedColumn {
  property: string;
  target?: ReferenceTarget;
  /** Whether the database fills it in a new row, and a record without a value leaves a stored one as it is. */
  isKept: boolean;
  /** Whether it holds microseconds, and not milliseconds. */
  isPrecise: boolean;
  /** Whether it is shown as text, because a number of JSON would be rounded. */
  isDecimalText: boolean;
  isRequired: boolean;
}

/** A table that a section fills, either with its records or with the entries of one of their arrays. */
export interface Table {
  section: string;
  dataset: Dataset;
  /** The array whose entries the table stores; undefined for the table of the records themselves. */
  list?: RecordList;
  name: string;
  /** The name of the temporary table that holds what the file says. */
  stage: string;
  columns: FilledColumn[];
  /** These columns, and those of fields that no column stores. */
  staged: StagedColumn[];
  /** The columns that match a staged row with a stored one. */
  match: string[];
  /** In the table of an array, the column that refers to the record. */
  owner?: FilledColumn;
  /** The list whose positions the database assigns to the rows. */
  tracked?: TrackedList;
  /** The column that is derived from the others. */
  derived?: DerivedColumn;
  /** Whether the entries of the array are texts, not objects. */
  hasTextEntries: boolean;
  /** Whether all organizations share the rows. */
  isShared: boolean;
}

/** The staged column for the values of read-only fields. */
export const READ_ONLY_COLUMN = 'read_only';

/** A table of a section before its columns are known. */
interface TableSource {
  section: string;
  dataset: Dataset;
  list?: RecordList;
  metadata: EntityMetadata;
  /** The column that other records refer to, or that tells the entries of an array apart. */
  key: string;
}

/** The tables of all sections in their order. Columns, types and references come from the entities. */
export function tablesOf(dataSource: DataSource, { sections }: Datasets): Table[] {
  const sources = Object.entries(sections).flatMap(([section, dataset]) =>
    [undefined, ...(dataset.lists ?? [])].map((list): TableSource => {
      const metadata = dataSource.getMetadata(list?.entity ?? dataset.entity);
      const key = metadata.findColumnWithPropertyName(list?.key ?? dataset.key)?.databaseName;
      return { section, dataset, list, metadata, key: String(key) };
    }),
  );
  const keyByTable = new Map(sources.map(({ metadata, key }) => [metadata.tableName, key]));
  const trackedLists = trackedListsOf(dataSource);
  const derivedColumns = derivedColumnsOf(dataSource);
  return sources.map((source) => {
    const name = source.metadata.tableName;
    const tracked = trackedLists.find(({ table }) => table === name);
    const derived = derivedColumns.find(({ table }) => table === name);
    const mainTable = dataSource.getMetadata(source.dataset.entity).tableName;
    return { ...tableOf(source, mainTable, keyByTable, tracked), derived };
  });
}

/**
 * Gives columns the types that they have in the database. Only these have it all: the scale of a number, the length of a text,
 * the name of an enumeration.
 */
export async function readStoredTypes(manager: EntityManager, tables: Table[]): Promise<void> {
  const rows = await manager.query<{ table: string; column: string; type: string }[]>(
    `select attrelid::regclass::text as table, attname as column, format_type(atttypid, atttypmod) as type
      from pg_attribute where attrelid = any($1::text[]::regclass[]) and attnum > 0`,
    [tables.map(({ name }) => name)],
  );
  const types = new Map(rows.map(({ table, column, type }) => [`${table}.${column}`, type]));
  for (const { name, columns } of tables) {
    for (const column of columns) {
      if (!isReferenceByKey(column)) column.type = types.get(`${name}.${column.name}`) ?? column.type;
    }
  }
}

/** Whether the staged value is the key of what the column refers to, and the stored one its id. */
const isReferenceByKey = ({ target }: FilledColumn): boolean => target !== undefined && target.key !== 'id';

function tableOf(
  { section, dataset, list, metadata, key }: TableSource,
  mainTable: string,
  keyByTable: Map<string, string>,
  tracked?: TrackedList,
): Table {
  const name = metadata.tableName;
  const { paths } = list ?? dataset;
  const fields = schemasOf(dataset.record);
  const entryClass = list && classOf(fields.get(list.name) ?? {});
  const type = list ? entryClass : dataset.record;
  const all = metadata.columns.map((column) => filledColumn(metadata, column, keyByTable, type, paths));
  const owner = list && all.find(({ target }) => target?.table === mainTable);
  const isFilled = ({ path, property }: FilledColumn): boolean => {
    if (!list) return fields.has(path.split('.')[0] ?? '');
    if (property === 'position') return !tracked;
    return entryClass ? schemasOf(entryClass).has(path) : property === list.key;
  };
  const columns = all.filter((column) => column === owner || isFilled(column));
  const hasOwnId = metadata.findColumnWithPropertyName('id') !== undefined;
  return {
    section,
    dataset,
    list,
    name,
    stage: `staged_${name}`,
    columns,
    staged: list ? columns : [...columns, ...unstoredColumns(dataset)],
    match: owner && !hasOwnId ? [owner.name, key] : [key],
    owner,
    tracked,
    hasTextEntries: list !== undefined && !entryClass,
    isShared: !metadata.findColumnWithPropertyName('organizationId'),
  };
}

function namesOf(path: string): Pick<StagedColumn, 'path' | 'outer' | 'inner'> {
  const [outer = '', inner] = path.split('.', 2);
  return { path, outer, inner };
}

function unstoredColumns({ computedFields = {}, readOnlyFields }: Dataset): StagedColumn[] {
  const columns: StagedColumn[] = Object.entries(computedFields).map(([path, { type }]) => ({
    name: snakeCase(path),
    type,
    ...namesOf(path),
  }));
  if (readOnlyFields) columns.push({ name: READ_ONLY_COLUMN, type: 'jsonb', ...namesOf(READ_ONLY_COLUMN) });
  return columns;
}

function filledColumn(
  metadata: EntityMetadata,
  column: ColumnMetadata,
  keyByTable: Map<string, string>,
  record: Class | undefined,
  paths: Record<string, string> = {},
): FilledColumn {
  const { propertyName: property, isNullable, precision, default: initial } = column;
  const target = referenceTarget(metadata, column, keyByTable);
  const isKept = typeof initial === 'function' && column.type === 'timestamptz';
  const path = paths[property] ?? property;
  return {
    name: column.databaseName,
    type: target && target.key !== 'id' ? 'text' : String(column.type),
    ...namesOf(path),
    initial: typeof initial === 'function' ? undefined : initial,
    property,
    target,
    isKept,
    isPrecise: isKept && !precision,
    isDecimalText: isDecimalText(fieldAt(record, path)),
    isRequired: !isNullable && initial === undefined,
  };
}

/** The field at a path such as `company.name`; undefined if the class has none there. */
export function fieldAt(type: Class | undefined, path: string): FieldSchema | undefined {
  const [name = '', inner] = path.split('.', 2);
  const schema = type && schemasOf(type).get(name);
  return inner === undefined ? schema : fieldAt(classOf(schema ?? {}), inner);
}

/** Whether a field is a decimal number that JSON has as text. */
const isDecimalText = (schema?: FieldSchema): boolean => schema?.decimal !== undefined && schema.type === 'string';

/** Every foreign key leads with the organization; what it refers to is in its other column. */
function referenceTarget(
  { foreignKeys }: EntityMetadata,
  column: ColumnMetadata,
  keyByTable: Map<string, string>,
): ReferenceTarget | undefined {
  if (column.propertyName === 'organizationId') return undefined;
  const foreignKey = foreignKeys.find(({ columns }) => columns.length > 1 && columns.includes(column));
  const table = foreignKey?.referencedEntityMetadata.tableName;
  return table === undefined ? undefined : { table, key: keyByTable.get(table) ?? 'id' };
}
