import type { DataSource, EntityMetadata } from 'typeorm';
import type { ColumnMetadata } from 'typeorm/metadata/ColumnMetadata';
import { type Dataset, type List, pathOf } from '../../dataset/dataset';
import { classOf, fieldsOf } from '../../dataset/schema';
import { LISTS, type TrackedList } from '../../database/lists';
import { DATASETS, type SectionName } from './sections';

/** A column that records fill. */
export interface Column {
  name: string;
  property: string;
  /** of the staged value: what refers to an event, for one, is its ref */
  type: string;
  /** in a record, or in an entry of its array */
  path: string;
  /** what a row refers to, by the column `key` of that table */
  target?: { table: string; key: string; what: string; constraint: string };
  /** the database fills it in a new row, and what is stored stays where a record says nothing */
  isKept: boolean;
  /** of milliseconds, or of more */
  isPrecise: boolean;
  /** in a new row, where a record says nothing */
  initial: unknown;
  isRequired: boolean;
  isInserted: boolean;
}

/** A table that a section fills, with its own records or with the entries of an array of theirs. */
export interface Table {
  section: SectionName;
  dataset: Dataset;
  list?: List;
  name: string;
  /** the temporary table with what the file says */
  stage: string;
  columns: Column[];
  /** what is staged beside them */
  more: Column[];
  /** the columns by which a row is matched with a stored one */
  match: string[];
  /** of an array: the column that refers to its record */
  owner?: Column;
  /** whose place in a list the database keeps */
  tracked?: TrackedList;
  /** whether the entries of the array are texts */
  isOfTexts: boolean;
  /** whether no organization has rows of its own */
  isShared: boolean;
}

/** The tables of all sections, in their order: columns, types and references come from the entities. */
export function tablesOf(dataSource: DataSource): Table[] {
  const sources = Object.entries(DATASETS).flatMap(([section, dataset]: [string, Dataset]) =>
    [undefined, ...(dataset.lists ?? [])].map((list) => ({
      ...{ section: section as SectionName, dataset, list },
      metadata: dataSource.getMetadata(list?.entity ?? dataset.entity),
    })),
  );
  const keyOf = ({ metadata, dataset, list }: (typeof sources)[number]): string =>
    String(metadata.findColumnWithPropertyName(list?.key ?? dataset.key)?.databaseName);
  const keys = new Map(sources.map((source) => [source.metadata.tableName, keyOf(source)]));
  return sources.map((source) => {
    const { section, dataset, list, metadata } = source;
    const [name, main] = [metadata.tableName, dataSource.getMetadata(dataset.entity).tableName];
    const all = metadata.columns.map((column) => columnOf(metadata, column, keys, dataset));
    const owner = list && all.find(({ target }) => target?.table === main);
    const isOwn = isFilled(dataset, list);
    const more = list ? [] : Object.entries(dataset.more ?? {}).map(([path, { type }]) => extra(path, type));
    const isListed = metadata.findColumnWithPropertyName('position')?.isInsert === false;
    return {
      ...{ section, dataset, list, name, owner, stage: `staged_${name}`, more },
      columns: all.filter((column) => column === owner || isOwn(column)),
      match: owner && !metadata.findColumnWithPropertyName('id') ? [owner.name, keyOf(source)] : [keyOf(source)],
      tracked: isListed ? Object.values<TrackedList>(LISTS).find(({ table }) => table === name) : undefined,
      isOfTexts: list !== undefined && !classOf(fieldsOf(dataset.record).get(list.name) ?? {}),
      isShared: !metadata.findColumnWithPropertyName('organizationId'),
    };
  });
}

/** Whether a record, or an entry of its array, has a column's value. An entry's place is the column `position`. */
function isFilled({ record }: Dataset, list?: List): (column: Column) => boolean {
  const fields = fieldsOf(record);
  if (!list) return ({ path }) => fields.has(path.split('.')[0] ?? '');
  const entry = classOf(fields.get(list.name) ?? {});
  const own = entry && fieldsOf(entry);
  return ({ path, property, isInserted }) =>
    (property === 'position' && isInserted) || (own ? own.has(path) : property === list.key);
}

function columnOf(
  { foreignKeys }: EntityMetadata,
  column: ColumnMetadata,
  keys: Map<string, string>,
  dataset: Dataset,
): Column {
  const { propertyName, databaseName, isArray, isNullable, precision, default: initial } = column;
  const foreign = foreignKeys.find(({ columns }) => columns.length > 1 && columns.includes(column));
  const referred = foreign && propertyName !== 'organizationId' ? foreign.referencedEntityMetadata : undefined;
  const key = referred && (keys.get(referred.tableName) ?? 'id');
  const type = `${String(column.type)}${precision === undefined || precision === null ? '' : `(${precision})`}`;
  const isKept = typeof initial === 'function' && column.type === 'timestamptz';
  return {
    ...{ property: propertyName, name: databaseName, path: pathOf(dataset, propertyName), isKept },
    type: key && key !== 'id' ? 'text' : `${type}${isArray ? '[]' : ''}`,
    target:
      referred && key
        ? {
            ...{ table: referred.tableName, key, what: wordsOf(referred.targetName) },
            constraint: String(foreign?.name),
          }
        : undefined,
    isPrecise: isKept && !precision,
    initial: typeof initial === 'function' ? undefined : initial,
    isRequired: !isNullable && initial === undefined,
    isInserted: column.isInsert,
  };
}

const extra = (path: string, type: string): Column => ({
  ...{ path, type, property: path, name: snake(path), isKept: false, isPrecise: false, initial: undefined },
  ...{ isRequired: false, isInserted: false },
});

const snake = (name: string): string => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);

/** `TagOptionEntity` is a tag option. */
const wordsOf = (entity: string): string =>
  entity
    .replace(/Entity$/, '')
    .replace(/(?<=.)[A-Z]/g, ' $&')
    .toLowerCase();
