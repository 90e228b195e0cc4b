import type { EntityManager } from 'typeorm';

/** A row as it is sent to PostgreSQL. Its fields are called as the API calls them: `firstName` is the column `first_name`. */
export type Row = object;

export const fieldOf = (column: string): string =>
  column.replace(/_(\w)/g, (_, letter: string) => letter.toUpperCase());

/**
 * The rows of a parameter, a JSON array, as the table `r`, with `nth` from 1.
 * @param columns with their types; what a row lacks is null, and what is none of them is nothing
 */
export function recordset(columns: Record<string, string>, parameter = '$2'): string {
  const fields = Object.entries(columns).map(([column, type]) => `"${fieldOf(column)}" ${type}`);
  return `rows from (json_to_recordset(${parameter}::json) as (${fields.join(', ')}))
    with ordinality as r (${Object.keys(columns).join(', ')}, nth)`;
}

interface Table {
  name: string;
  /** the column that says which record is meant, beside the organization */
  key: string;
  /** the columns of the unique index that finds a stored row, where they are not the organization and the key */
  conflict?: string;
  /** every other column that a record carries, with its type */
  columns: Record<string, string>;
  /** rows get ids in the order of the dataset; other tables are written in the order of their keys, against deadlocks */
  inOrder?: boolean;
  /** false when the table is in no list, and so has no positions */
  isList?: boolean;
}

/** The first of the positions that rows take at the end of the table's list, in the order of the dataset. */
const taken = (name: string, rows: string): string =>
  `taken as materialized (select list_take($1, '${name}', count(*)) as start from ${rows})`;

/**
 * The statement that writes rows (`$2`, JSON) of an organization (`$1`): new ones are inserted, stored ones changed
 * only where they differ, so that importing the same file again leaves no trace. A stored `created_at` stays unless
 * the row brings its own.
 */
export function upsertStatement({ name, key, conflict, columns, inOrder, isList = true }: Table): string {
  const names = Object.keys(columns);
  const stored = `${name} stored on stored.organization_id = $1 and stored.${key} = r.${key}`;
  return `
    with r as materialized (select * from ${recordset({ ...keyed(key), ...columns })})
    ${isList ? `, ${taken(name, `r left join ${stored} having bool_or(stored.${key} is null)`)}` : ''}
    insert into ${name} (organization_id, ${isList ? 'position, ' : ''}${key}, created_at, ${names.join(', ')})
    select $1, ${isList ? 'coalesce(stored.position, start + r.nth - 1), ' : ''}r.${key},
      coalesce(r.created_at, stored.created_at, now()), ${names.map((c) => `r.${c}`).join(', ')}
    from r left join ${stored} ${isList ? 'left join taken on true' : ''}
    order by r.${inOrder ? 'nth' : key}
    on conflict (${conflict ?? `organization_id, ${key}`}) do update
      set created_at = excluded.created_at, ${names.map((c) => `${c} = excluded.${c}`).join(', ')}
      where ${name}.organization_id = excluded.organization_id
        and (${['created_at', ...names].map((c) => `${name}.${c}`).join(', ')})
          is distinct from (${['created_at', ...names].map((c) => `excluded.${c}`).join(', ')})`;
}

/** The statement for rows (`$2`, JSON) that the organization (`$1`) does not have yet: nothing is compared. */
function insertStatement({ name, key, columns }: Table): string {
  const names = Object.keys(columns);
  return `
    with r as materialized (select * from ${recordset({ ...keyed(key), ...columns })}), ${taken(name, 'r')}
    insert into ${name} (organization_id, position, ${key}, created_at, ${names.join(', ')})
    select $1, start + nth - 1, ${key}, coalesce(created_at, now()), ${names.join(', ')}
    from r, taken order by ${key}`;
}

/** Both ways to write a record: as a new one, and over a stored one. */
export interface RecordStatements {
  insert: string;
  replace: string;
}

export const recordStatements = (table: Table): RecordStatements => ({
  insert: insertStatement(table),
  replace: upsertStatement(table),
});

const keyed = (key: string) => ({ [key]: key === 'id' ? 'uuid' : 'text', created_at: 'timestamptz' });

interface Links {
  name: string;
  /** the column of the record that has the links */
  owner: string;
  /** the column of what it is linked to */
  target: string;
  /** all columns, with their types */
  columns: Record<string, string>;
}

/** The statement that gives owners (`$3`) of an organization (`$1`) exactly the links of `$2` (JSON). */
export function replaceLinksStatement({ name, owner, target, columns }: Links): string {
  const names = Object.keys(columns);
  const others = names.filter((column) => column !== owner && column !== target);
  const update = others.map((c) => `${c} = excluded.${c}`).join(', ');
  const differs = `(${others.map((c) => `${name}.${c}`).join(', ')}) is distinct from
    (${others.map((c) => `excluded.${c}`).join(', ')})`;
  return `
    with given as (select * from ${recordset(columns)}),
    gone as (
      delete from ${name} l where organization_id = $1 and ${owner} = any($3::${columns[owner]}[])
        and not exists (select from given g where g.${owner} = l.${owner} and g.${target} = l.${target})
    )
    insert into ${name} (organization_id, ${names.join(', ')})
    select $1, ${names.join(', ')} from given order by ${owner}, nth
    on conflict (organization_id, ${owner}, ${target})
      do ${others.length ? `update set ${update} where ${differs}` : 'nothing'}`;
}

/** The statement that adds links (`$2`, JSON) to owners of an organization (`$1`) that have none. */
function insertLinksStatement({ name, owner, target, columns }: Links): string {
  const names = Object.keys(columns).join(', ');
  return `
    insert into ${name} (organization_id, ${names})
    select $1, ${names} from ${recordset(columns)} order by ${owner}, ${target}`;
}

export const linkStatements = (links: Links): RecordStatements => ({
  insert: insertLinksStatement(links),
  replace: replaceLinksStatement(links),
});

/** Each key once: at its first place, with its last value. */
export const lastOfEach = <T>(items: T[], key: (item: T) => unknown): T[] => [
  ...new Map(items.map((item) => [key(item), item])).values(),
];

/** What a statement needs beside its rows. */
interface Target {
  manager: EntityManager;
  organizationId: number;
}

/** Runs a statement of this file. */
export const write = (target: Target, sql: string, rows: Row[], owners?: unknown[]) =>
  writeText(target, sql, JSON.stringify(rows), owners);

/** @param rows a JSON array */
async function writeText({ manager, organizationId }: Target, sql: string, rows: string, owners?: unknown[]) {
  if (rows !== '[]' || owners?.length) await manager.query(sql, [organizationId, rows, ...(owners ? [owners] : [])]);
}

/** The rows of some records of a batch, as a JSON array. */
type Rendering<R> = (some: R[]) => string;

/** Renders the rows of a batch ahead: most often all of its records are new, or all are stored. */
export function renderAhead<R>(records: R[], rowsOf: (record: R) => Row[]): Rendering<R> {
  const all = JSON.stringify(records.flatMap(rowsOf));
  return (some) => (some.length === records.length ? all : JSON.stringify(some.flatMap(rowsOf)));
}

/** Records by whether the organization has them already. */
export interface Parted<R> {
  fresh: R[];
  known: R[];
}

/** Writes the rows of records: new ones without a look at what is stored, and known ones where they differ. */
export async function writeRecords<R>(
  target: Target,
  { insert, replace }: RecordStatements,
  { fresh, known }: Parted<R>,
  rowsOf: Rendering<R>,
): Promise<void> {
  await writeText(target, insert, rowsOf(fresh));
  await writeText(target, replace, rowsOf(known));
}

/** Gives records exactly the links that they name. */
export async function writeLinks<R extends { id: string }>(
  target: Target,
  { insert, replace }: RecordStatements,
  { fresh, known }: Parted<R>,
  rowsOf: Rendering<R>,
): Promise<void> {
  const owners = known.map(({ id }) => id);
  await writeText(target, insert, rowsOf(fresh));
  await writeText(target, replace, rowsOf(known), owners);
}
