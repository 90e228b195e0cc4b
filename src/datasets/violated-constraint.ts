import type { EntityManager } from 'typeorm';
import { postgresErrorOf } from '../database/errors';
import { type Datasets, orderInFile } from './dataset';
import { ImportError, type LocatedIssue } from './import-error';
import type { ImportPlan } from './import-plan';
import { quoteShortened } from './quote';
import type { Table } from './tables';
import type { StagedImport } from './write';
import { stagedRows } from './write-statements';

/** A constraint of a table, which a staged row of `r` breaks if it fulfills `isBroken`. */
interface Constraint {
  columns: string[];
  isBroken: string;
  reason: string;
  /** Of rows that have the same key, the last one is reported. */
  order: 'asc' | 'desc';
}

interface BrokenRow {
  line: number | null;
  record_index: number;
  entry_index: number | null;
  value: string | null;
}

/** What a write of an import has written. */
type Written = Pick<StagedImport, 'organizationId' | 'tables' | 'plan'>;

/**
 * Finds the record by which a write of an import has broken a unique or check constraint that its checks do not know, such
 * as one of an extension.
 * @returns the error that names it; the given one where that is another, or needs more than what the file fills
 */
export async function explainConstraint(
  error: unknown,
  manager: EntityManager,
  written: Written,
  datasets: Datasets,
): Promise<unknown> {
  const { constraint: name, table: tableName } = postgresErrorOf(error);
  const table = written.tables.find((each) => each.name === tableName);
  if (!name || !table || table.isShared) return error;
  try {
    const constraint = (await findUnique(manager, name, table)) ?? (await findCheck(manager, name, table));
    const row = constraint && (await findBrokenRow(manager, written.organizationId, table, constraint));
    return row ? new ImportError([issueOf(name, table, constraint, row, written.plan, datasets)]) : error;
  } catch {
    return error;
  }
}

function issueOf(
  name: string,
  { section, list, columns, dataset }: Table,
  constraint: Constraint,
  { line, record_index: index, entry_index: entryIndex, value: text }: BrokenRow,
  plan: ImportPlan,
  datasets: Datasets,
): LocatedIssue {
  const ofRecord = constraint.columns.filter((column) => column !== 'organization_id');
  const fields = ofRecord.map((column) => columns.find((each) => each.name === column)?.path ?? column);
  const [field] = fields.length === 1 ? fields : [];
  const path = [list && `${list.name}[${entryIndex}]`, field].filter((part) => part !== undefined).join('.');
  const { isValueHidden, ...location } = plan.locateError({ section, index, line }, path);
  const value = field === undefined || isValueHidden ? null : text;
  const subject = value === null ? `this ${list?.noun ?? dataset.noun}` : quoteShortened(value);
  const reason = constraint.reason && `: ${constraint.reason} ${fields.join(' and ')}`;
  return {
    order: orderInFile(datasets, { section, index, line }),
    ...location,
    value,
    expected: `a record that the constraint ${name} accepts`,
    message: `The constraint ${name} rejects ${subject}${reason}.`,
  };
}

async function findUnique(manager: EntityManager, name: string, table: Table): Promise<Constraint | undefined> {
  const [index] = await manager.query<{ keys: string[]; predicate: string | null }[]>(
    `select pg_get_expr(indpred, indrelid) as predicate,
        array(select pg_get_indexdef(indexrelid, n, true) from generate_series(1, indnkeyatts) n) as keys
      from pg_index where indexrelid = to_regclass(quote_ident($1)) and indrelid = $2::regclass and indisunique`,
    [name, table.name],
  );
  if (!index) return undefined;
  const { keys, predicate } = index;
  const key = `(${keys.join(', ')})`;
  const isKeyed = `${key} is not null and (${predicate ?? 'true'})`;
  const id = table.match.join(', ');
  const aliases = keys.map((_, n) => `key_${n}`);
  const stored = keys.map((each, n) => `${each} as ${aliases[n]}`);
  // A stored row counts as the file has it, if the file has it.
  const isBroken = `${isKeyed} and (
    ${key} in (select ${keys.join(', ')} from staged where ${isKeyed} group by ${keys.join(', ')} having count(*) > 1)
    or exists (
      select from (
        select ${stored.join(', ')} from ${table.name}
        where organization_id = $1 and ${isKeyed} and (${id}) not in (select ${id} from staged)
      ) t where (${aliases.join(', ')}) = ${key}
    ))`;
  return { columns: keys, isBroken, reason: 'another one has the same', order: 'desc' };
}

async function findCheck(manager: EntityManager, name: string, table: Table): Promise<Constraint | undefined> {
  const [check] = await manager.query<{ columns: string[]; expression: string }[]>(
    `select pg_get_expr(conbin, conrelid) as expression,
        array(select attname::text from pg_attribute where attrelid = conrelid and attnum = any(conkey)) as columns
      from pg_constraint where conname = $1 and conrelid = $2::regclass and contype = 'c'`,
    [name, table.name],
  );
  return check && { columns: check.columns, isBroken: `not (${check.expression})`, reason: '', order: 'asc' };
}

async function findBrokenRow(
  manager: EntityManager,
  organizationId: number,
  table: Table,
  { columns, isBroken, order }: Constraint,
): Promise<BrokenRow | undefined> {
  const column = columns.filter((each) => each !== 'organization_id').find((each) => /^\w+$/.test(each));
  const rows = await manager.query<BrokenRow[]>(
    `with staged as (select s.*, $1::integer as organization_id from ${stagedRows(table)})
      select record_index, entry_index, ${column ? `r.${column}::text` : 'null'} as value,
        (select line from ${table.stage} l where l.record_index = r.record_index limit 1) as line
      from staged r where ${isBroken} order by record_index ${order}, entry_index ${order} limit 1`,
    [organizationId],
  );
  return rows[0];
}
