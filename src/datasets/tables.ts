import type { DataSource, EntityMetadata } from 'typeorm';
import type { ColumnMetadata } from 'typeorm/metadata/ColumnMetadata';
import { classOf, schemasOf } from '../api/field-rules';
import { snakeCase as nameOf } from '../database/data-source';
import { listsOf, type TrackedList } from '../database/tracked-list';
import type { Dataset, Datasets, List } from './dataset';

/** A column that records fill. */
export interface Column {
  name: string;
  property: string;
  /** of the staged value: what refers to an event, for one, is its ref */
  type: string;
  /** in a record, or in an entry of its array */
  path: string;
  /** what a row refers to, by the column `key` of that table */
  target?: { table: string; key: string };
  /** the database fills it in a new row, and what is stored stays where a record says nothing */
  isKept: boolean;
  /** of milliseconds, or of more */
  isPrecise: boolean;
  /** in a new row, where a record says nothing */
  initial?: unknown;
  isRequired: boolean;
}

/** A table that a section fills, with its own records or with the entries of an array of theirs. */
export interface Table {
  section: string;
  dataset: Dataset;
  list?: List;
  name: string;
  /** the temporary table with what the file says */
  stage: string;
  columns: Column[];
  /** these, and fields that are no columns */
  staged: Pick<Column, 'name' | 'type' | 'path' | 'initial'>[];
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

/** The staged column for what a record says of fields that only GET shows. */
export const SHOWN = 'shown';

/** The tables of all sections, in their order: columns, types and references come from the entities. */
export function tablesOf(dataSource: DataSource, { sections }: Datasets): Table[] {
  const sources = Object.entries(sections).flatMap(([section, dataset]) =>
    [undefined, ...(dataset.lists ?? [])].map((list) => {
      const metadata = dataSource.getMetadata(list?.entity ?? dataset.entity);
      const key = String(metadata.findColumnWithPropertyName(list?.key ?? dataset.key)?.databaseName);
      return { section, dataset, list, metadata, key, name: metadata.tableName };
    }),
  );
  const lists = listsOf(dataSource);
  const keys = new Map(sources.map(({ name, key }) => [name, key]));
  return sources.map(({ section, dataset, list, metadata, key, name }) => {
    const main = dataSource.getMetadata(dataset.entity).tableName;
    const all = metadata.columns.map((column) => columnOf(metadata, column, keys, (list ?? dataset).places));
    const owner = list && all.find(({ target }) => target?.table === main);
    const tracked = lists.find(({ table }) => table === name);
    const fields = schemasOf(dataset.record);
    const entry = list && classOf(fields.get(list.name) ?? {});
    const isFilled = ({ path, property }: Column): boolean => {
      if (!list) return fields.has(path.split('.')[0] ?? '');
      if (property === 'position') return !tracked; // the entry's place
      return entry ? schemasOf(entry).has(path) : property === list.key;
    };
    const columns = all.filter((column) => column === owner || isFilled(column));
    const shown = dataset.shown ? { [SHOWN]: { type: 'jsonb' } } : {};
    const more = list ? [] : Object.entries({ ...dataset.more, ...shown });
    return {
      ...{ section, dataset, list, name, owner, tracked, columns, stage: `staged_${name}` },
      staged: [...columns, ...more.map(([path, { type }]) => ({ name: nameOf(path), type, path }))],
      match: owner && !metadata.findColumnWithPropertyName('id') ? [owner.name, key] : [key],
      isOfTexts: list !== undefined && !entry,
      isShared: !metadata.findColumnWithPropertyName('organizationId'),
    };
  });
}

function columnOf(
  { foreignKeys }: EntityMetadata,
  column: ColumnMetadata,
  keys: Map<string, string>,
  places: Record<string, string> = {},
): Column {
  const { propertyName: property, isArray, isNullable, precision, default: initial } = column;
  // Every foreign key has the organization; what it refers to is in its other column.
  const foreign = foreignKeys.find(({ columns }) => columns.length > 1 && columns.includes(column));
  const table = property === 'organizationId' ? undefined : foreign?.referencedEntityMetadata.tableName;
  const target = table ? { table, key: keys.get(table) ?? 'id' } : undefined;
  const type = `${String(column.type)}${precision === undefined || precision === null ? '' : `(${precision})`}`;
  const isKept = typeof initial === 'function' && column.type === 'timestamptz';
  return {
    ...{ property, name: column.databaseName, path: places[property] ?? property, isKept },
    type: target && target.key !== 'id' ? 'text' : `${type}${isArray ? '[]' : ''}`,
    target,
    isPrecise: isKept && !precision,
    initial: typeof initial === 'function' ? undefined : initial,
    isRequired: !isNullable && initial === undefined,
  };
}
