import { postgresErrorOf } from '../database/errors';
import type { Checks } from './check';
import { ImportError, IssueCollector } from './import-error';
import type { ImportContext, RowCheck } from './import-plan';
import type { Table } from './tables';
import { stagedRows } from './write-statements';

/**
 * Finds the records by which a write of an import has broken a unique or check constraint that its checks do not know, such
 * as one of an extension: the constraint becomes one more check of the staged rows.
 * @returns the error that names them; the given one where that is another, or needs more than what the file fills
 */
export async function explainConstraint(
  error: unknown,
  { manager }: ImportContext,
  tables: Table[],
  checks: Checks,
): Promise<unknown> {
  const { constraint: name, table: tableName } = postgresErrorOf(error);
  const table = tables.find((each) => each.name === tableName);
  if (!name || !table || table.isShared) return error;
  try {
    const [index] = await manager.query<Index[]>(FIND_INDEX, [name, table.name]);
    const [expression] = await manager.query<Expression[]>(FIND_EXPRESSION, [name, table.name]);
    const issues = new IssueCollector();
    if (index) await checks.run(table, uniqueCheck(name, table, index), issues);
    else if (expression) await checks.run(table, expressionCheck(name, table, expression), issues);
    issues.throwIfAny();
    return error;
  } catch (explained) {
    return explained instanceof ImportError ? explained : error;
  }
}

/** What a unique index compares, and the condition of the rows that it has. */
interface Index {
  keys: string[];
  predicate: string;
}

const FIND_INDEX = `
  select coalesce(pg_get_expr(indpred, indrelid), 'true') as predicate,
    array(select pg_get_indexdef(indexrelid, n, true) from generate_series(1, indnkeyatts) n) as keys
  from pg_index where indexrelid = to_regclass(quote_ident($1)) and indrelid = $2::regclass and indisunique`;

/** The expression of a check constraint, and the columns in it. */
interface Expression {
  columns: string[];
  expression: string;
}

const FIND_EXPRESSION = `
  select pg_get_expr(conbin, conrelid) as expression,
    array(select attname::text from pg_attribute where attrelid = conrelid and attnum = any(conkey)) as columns
  from pg_constraint where conname = $1 and conrelid = $2::regclass and contype = 'c'`;

/** The staged rows as they are stored, under a name of their own. */
const rowsOf = (table: Table): string => `(select s.*, $1::integer as organization_id from ${stagedRows(table)})`;

/** A row may have the key of an earlier one, or that of a stored row which the file does not change. */
function uniqueCheck(name: string, table: Table, { keys, predicate }: Index): RowCheck {
  const id = table.match.join(', ');
  const names = keys.map((_, n) => `key_${n}`);
  const key = (row: string): string => `(${names.map((each) => `${row}.${each}`).join(', ')})`;
  const selectKeys = (from: string): string => `
    select *, ${keys.map((each, n) => `${each} as ${names[n]}`).join(', ')} from ${from} k
    where (${keys.join(', ')}) is not null and (${predicate})`;
  return {
    ...violationOf(name, table, keys),
    findViolations: (staged) => `(
        select r.*, row_number() over (partition by ${names.join(', ')} order by record_index, entry_index) as nth
        from (${selectKeys(rowsOf(table))}) r
      ) ${staged} where ${staged}.nth > 1 or exists (
        select from (${selectKeys(table.name)}) t
        where t.organization_id = $1 and ${key('t')} = ${key(staged)} and (${id}) not in (select ${id} from ${rowsOf(table)} s)
      )`,
  };
}

const expressionCheck = (name: string, table: Table, { columns, expression }: Expression): RowCheck => ({
  ...violationOf(name, table, columns),
  findViolations: (staged) => `${rowsOf(table)} ${staged} where not (${expression})`,
});

/** @param names of the columns in which a row breaks the constraint; if it is one, the error is that of its field */
function violationOf(constraint: string, { columns }: Table, names: string[]) {
  const [name, ...others] = names.filter((each) => each !== 'organization_id');
  const field = others.length === 0 ? columns.find((column) => column.name === name) : undefined;
  return {
    path: field?.path ?? '',
    value: (staged: string) => (field ? `${staged}.${field.name}::text` : 'null::text'),
    message: (value: string) => `The constraint ${constraint} rejects ${field ? value : 'this record'}.`,
    expected: `a record that the constraint ${constraint} accepts`,
  };
}
