import type { DataSource, EntityMetadata } from 'typeorm';
import type { ColumnMetadata } from 'typeorm/metadata/ColumnMetadata';
import { type Class, classOf, type FieldSchema, schemasOf } from '../../fields/field-rules';
import { snakeCase } from '../../data/database/data-source';
import { trackedListsOf, type TrackedList } from '../../data/database/tracked-list';
import { type DerivedColumn, derivedColumnsOf } from '../../data/schema/derived';
import type { Dataset, Datasets, RecordList } from './dataset';

/** What a column refers to: rows of another table by their key, which may be another column than `id`. */
export interface ReferenceTarget {
  table: string;
  key: string;
}

/** A column of the temporary table that holds what the file says. */
export interface StagedColumn {
  name: string;
  /** The SQL type of the staged value. A column that is staged as it is stored may have a length or precision beside it. */
  type: string;
  /** Whether the staged value is what the column of this name stores, and not the key of what that refers to. */
  isAsStored: boolean;
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
  /** The tables of the arrays, if this is the table of the records. */
  lists: Table[];
  name: string;
  /** The name of the temporary table that holds what the file says. */
  stage: string;
  columns: FilledColumn[];
  /** These columns, and those of fields that no column stores. */
  staged: StagedColumn[];
  /** The column that other records refer to, or that tells the entries of an array apart. */
  key: string;
  /** The columns that match a staged row with a stored one: the key, and the one that refers to the record if an entry has no id. */
  match: string[];
  /** In the table of an array, the column that refers to the record. */
  owner?: FilledColumn;
  /** The list whose positions the database assigns to the rows. */
  tracked?: TrackedList;
  /** The columns that are derived from the others. */
  derived: DerivedColumn[];
  /** The class of its records, or of the entries of the array; undefined if these are texts. */
  record?: Class;
  /** Whether all organizations share the rows. */
  isShared: boolean;
}

/** The condition that an organization, `$1`, sees the row `t` of a table. */
export const isVisible = ({ isShared }: Table): string => (isShared ? 'true' : 't.organization_id = $1');

/** The fields of a class by their paths, those of its objects included. */
export function fieldsIn(type: Class, prefix = ''): Map<string, FieldSchema> {
  const fields = [...schemasOf(type)].flatMap(([name, schema]) => {
    const inner = schema.isArray ? undefined : classOf(schema);
    return [[prefix + name, schema] as const, ...(inner ? fieldsIn(inner, `${prefix}${name}.`) : [])];
  });
  return new Map(fields);
}

/** The staged column for the values of read-only fields. */
export const READ_ONLY_COLUMN = 'read_only';

/** The tables of all sections in their order. Columns, types and references come from the entities. */
export function tablesOf(dataSource: DataSource, { sections }: Datasets): Table[] {
  const datasets = Object.values(sections);
  const keyed = datasets.flatMap((dataset) => [dataset, ...(dataset.lists ?? [])]);
  /** The name of the column by which others refer to rows of a table. */
  const keyOf: KeyOf = (metadata) => {
    const { key = 'id' } = keyed.find(({ entity }) => dataSource.getMetadata(entity) === metadata) ?? {};
    return metadata.findColumnWithPropertyName(key)?.databaseName ?? 'id';
  };
  return Object.entries(sections).flatMap(([section, dataset]) => {
    const lists = (dataset.lists ?? []).map((list) => tableOf(dataSource, section, dataset, keyOf, list));
    return [{ ...tableOf(dataSource, section, dataset, keyOf), lists }, ...lists];
  });
}

type KeyOf = (metadata: EntityMetadata) => string;

function tableOf(dataSource: DataSource, section: string, dataset: Dataset, keyOf: KeyOf, list?: RecordList): Table {
  const metadata = dataSource.getMetadata((list ?? dataset).entity);
  const { tableName: name } = metadata;
  const key = keyOf(metadata);
  const fields = schemasOf(dataset.record);
  const record = list ? classOf(fields.get(list.name) ?? {}) : dataset.record;
  const tracked = trackedListsOf(dataSource).find(({ table }) => table === name);
  const all = metadata.columns.map((column) => filledColumn(metadata, column, keyOf, record, (list ?? dataset).paths));
  const mainTable = dataSource.getMetadata(dataset.entity).tableName;
  const owner = list && all.find(({ target }) => target?.table === mainTable);
  const isFilled = ({ path, property }: FilledColumn): boolean => {
    if (!list) return fields.has(path.split('.')[0] ?? '');
    if (property === 'position') return !tracked;
    return record ? schemasOf(record).has(path) : property === list.key;
  };
  const columns = all.filter((column) => column === owner || isFilled(column));
  const hasOwnId = metadata.findColumnWithPropertyName('id') !== undefined;
  return {
    section,
    dataset,
    list,
    lists: [],
    name,
    stage: `staged_${name}`,
    columns,
    staged: list ? columns : [...columns, ...unstoredColumns(dataset)],
    key,
    match: owner && !hasOwnId ? [owner.name, key] : [key],
    owner,
    tracked,
    derived: derivedColumnsOf(dataSource).filter(({ table }) => table === name),
    record,
    isShared: !metadata.findColumnWithPropertyName('organizationId'),
  };
}

function unstoredColumns({ computedFields = {}, readOnlyFields }: Dataset): StagedColumn[] {
  const fields = { ...computedFields, ...(readOnlyFields && { [READ_ONLY_COLUMN]: { type: 'jsonb' } }) };
  return Object.entries(fields).map(([path, { type }]) => ({
    name: snakeCase(path),
    type,
    isAsStored: false,
    path,
    outer: path,
  }));
}

function filledColumn(
  metadata: EntityMetadata,
  column: ColumnMetadata,
  keyOf: KeyOf,
  record: Class | undefined,
  paths: Record<string, string> = {},
): FilledColumn {
  const { propertyName: property, isNullable, isArray, precision, default: initial } = column;
  const target = referenceTarget(metadata, column, keyOf);
  const isAsStored = target === undefined || target.key === 'id';
  const isKept = typeof initial === 'function' && column.type === 'timestamptz';
  const path = paths[property] ?? property;
  const [outer = '', inner] = path.split('.', 2);
  const field = fieldAt(record, path);
  const storedType = (field?.kind === 'json' ? 'jsonb' : String(column.type)) + (isArray ? '[]' : '');
  return {
    name: column.databaseName,
    type: isAsStored ? storedType : 'text',
    isAsStored,
    path,
    outer,
    inner,
    initial: typeof initial === 'function' ? undefined : initial,
    property,
    target,
    isKept,
    isPrecise: isKept && !precision,
    isDecimalText: field?.decimal !== undefined && field.type === 'string',
    isRequired: !isNullable && initial === undefined,
  };
}

/** The field at a path such as `company.name`; undefined if the class has none there. */
export function fieldAt(type: Class | undefined, path: string): FieldSchema | undefined {
  const [name = '', ...rest] = path.split('.');
  const field = type && schemasOf(type).get(name);
  if (!field || rest.length === 0) return field;
  return field.isArray ? undefined : fieldAt(classOf(field), rest.join('.'));
}

/** Every foreign key leads with the organization; what it refers to is in its other column. */
function referenceTarget(
  { foreignKeys }: EntityMetadata,
  column: ColumnMetadata,
  keyOf: KeyOf,
): ReferenceTarget | undefined {
  if (column.propertyName === 'organizationId') return undefined;
  const target = foreignKeys.find(
    ({ columns }) => columns.length > 1 && columns.includes(column),
  )?.referencedEntityMetadata;
  return target && { table: target.tableName, key: keyOf(target) };
}
