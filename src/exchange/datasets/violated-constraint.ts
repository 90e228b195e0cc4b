import { driverErrorOf } from '../../data/database/errors';
import { runCheck } from './check';
import { ImportError, IssueCollector } from './import-error';
import type { RowCheck } from './import-plan';
import type { StagedImport } from './stage';
import type { Table } from './tables';
import { stagedRows } from './write-statements';

/**
 * Finds the records by which a write of an import has broken a unique or check constraint that its checks do not know, such
 * as one of an extension: the constraint becomes one more check of the staged rows.
 * @returns the error that names them; the given one where that is another, or needs more than what the file fills
 */
export async function explainConstraint(error: unknown, staged: StagedImport): Promise<unknown> {
  const { constraint: name, table: tableName } = driverErrorOf(error);
  const table = staged.tables.find((each) => each.name === tableName);
  if (!name || !table || table.isShared) return error;
  try {
    const [constraint] = await staged.manager.query<Constraint[]>(FIND_CONSTRAINT, [name, table.name]);
    const issues = new IssueCollector();
    if (constraint) await runCheck(staged, table, constraintCheck(name, table, constraint), issues);
    issues.throwIfAny();
    return error;
  } catch (explained) {
    return explained instanceof ImportError ? explained : error;
  }
}

interface Constraint {
  isUnique: boolean;
  /** What a unique index compares, or the columns in the expression of a check. */
  keys: string[];
  /** The condition of the rows that a unique index has, or the expression of a check. */
  condition: string;
}

const FIND_CONSTRAINT = `
  select true as "isUnique", coalesce(pg_get_expr(indpred, indrelid), 'true') as condition,
    array(select pg_get_indexdef(indexrelid, n, true) from generate_series(1, indnkeyatts) n) as keys
  from pg_index where indexrelid = to_regclass(quote_ident($1)) and indrelid = $2::regclass and indisunique
  union all select false, pg_get_expr(conbin, conrelid),
    array(select attname::text from pg_attribute where attrelid = conrelid and attnum = any(conkey))
  from pg_constraint where conname = $1 and conrelid = $2::regclass and contype = 'c'`;

/** The staged rows as they are stored, under a name of their own. */
const rowsOf = (table: Table): string => `(select s.*, $1::integer as organization_id from ${stagedRows(table)})`;

function constraintCheck(name: string, table: Table, { isUnique, keys, condition }: Constraint): RowCheck {
  const [column, ...others] = keys.filter((each) => each !== 'organization_id');
  const field = others.length === 0 ? table.columns.find((each) => each.name === column) : undefined;
  return {
    path: field?.path ?? '',
    value: (staged) => (field ? `${staged}.${field.name}::text` : 'null::text'),
    findViolations: isUnique
      ? repeatedKeys(table, keys, condition)
      : (staged) => `${rowsOf(table)} ${staged} where not (${condition})`,
    message: (value) => `The constraint ${name} rejects ${field ? value : 'this record'}.`,
    expected: `a record that the constraint ${name} accepts`,
  };
}

/** A row may have the key of an earlier one, or that of a stored row which the file does not change. */
function repeatedKeys(table: Table, keys: string[], condition: string): RowCheck['findViolations'] {
  const id = table.match.join(', ');
  const names = keys.map((_, n) => `key_${n}`);
  const key = (row: string): string => `(${names.map((each) => `${row}.${each}`).join(', ')})`;
  const selectKeys = (from: string): string => `
    select *, ${keys.map((each, n) => `${each} as ${names[n]}`).join(', ')} from ${from} k
    where (${keys.join(', ')}) is not null and (${condition})`;
  return (staged) => `(
      select r.*, row_number() over (partition by ${names.join(', ')} order by record_index, entry_index) as nth
      from (${selectKeys(rowsOf(table))}) r
    ) ${staged} where ${staged}.nth > 1 or exists (
      select from (${selectKeys(table.name)}) t
      where t.organization_id = $1 and ${key('t')} = ${key(staged)} and (${id}) not in (select ${id} from ${rowsOf(table)} s)
    )`;
}
