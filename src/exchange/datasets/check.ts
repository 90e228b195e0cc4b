import type { ReadOnlyFields } from './dataset';
import { IssueCollector, type LocatedIssue } from './import-error';
import { type ImportPlan, type RecordMatch, type RowCheck, runStatement } from './import-plan';
import { issueAt } from './record-check';
import type { StagedImport } from './stage';
import { type FilledColumn, isVisible, READ_ONLY_COLUMN, type Table } from './tables';

/** An invalid row. */
interface Violation {
  line: number | null;
  record_index: number;
  entry_index: number | null;
  value: string | null;
  details?: unknown;
  /** How many rows violate the check. */
  count: number;
}

/** How many errors of one check are reported. */
const MAX_VIOLATIONS = 20;

/**
 * Checks the staged rows of an organization against each other and against what is stored.
 * @param incomplete sections with invalid records, which are not staged: references to those may be valid
 */
export async function checkAll(
  staged: StagedImport,
  incomplete: ReadonlySet<string>,
  issues: IssueCollector,
): Promise<void> {
  const { tables, plan } = staged;
  for (const table of tables) {
    for (const check of checksOf(table, tables, incomplete, plan)) {
      if (plan.isLenient) await leaveOutViolations(staged, table, check);
      else await runCheck(staged, table, check, issues);
    }
  }
}

/**
 * Checks that read-only fields of the file have the values that are stored, when all rows are written.
 * @throws ImportError if they differ
 */
export async function checkReadOnlyFields(staged: StagedImport): Promise<void> {
  const issues = new IssueCollector();
  for (const table of staged.tables) {
    const { readOnlyFields } = table.dataset;
    if (readOnlyFields && !table.list) await runCheck(staged, table, differentFields(table, readOnlyFields), issues);
  }
  issues.throwIfAny();
}

export async function runCheck(
  staged: StagedImport,
  table: Table,
  check: RowCheck,
  issues: IssueCollector,
): Promise<void> {
  const violations = await findViolations(staged, check, issues.reportsAll ? 'all' : MAX_VIOLATIONS);
  const located = violations.map((violation) => issueOf(staged, table, check, violation));
  issues.addFirst(located, violations[0]?.count ?? 0);
}

function findViolations(staged: StagedImport, check: RowCheck, limit: number | 'all'): Promise<Violation[]> {
  const columns = ['s.line', 's.record_index', 's.entry_index', `${check.value('s')} as value`];
  if (check.details) columns.push(`${check.details('s')} as details`);
  return runStatement(
    staged,
    `select ${columns.join(', ')}, count(*) over ()::integer as count
      from ${check.findViolations('s')} order by s.record_index, s.entry_index limit ${limit}`,
  );
}

/** Takes the records of invalid rows out of the stage, so that the others can be imported. */
async function leaveOutViolations(staged: StagedImport, table: Table, check: RowCheck): Promise<void> {
  const firstByIndex = new Map<number, LocatedIssue>();
  for (const violation of await findViolations(staged, check, 'all')) {
    const { record_index: index } = violation;
    if (firstByIndex.has(index)) continue;
    const issue = issueOf(staged, table, check, violation);
    firstByIndex.set(index, issue);
    staged.leftOutIssues?.add(issue);
  }
  await staged.stage.leaveOut(table.section, firstByIndex);
}

function issueOf(
  staged: StagedImport,
  { section, list, record }: Table,
  check: RowCheck,
  { record_index: index, entry_index: entryIndex, line, value, details }: Violation,
): LocatedIssue {
  const { expected, kind } = check;
  const path = [list && `${list.name}[${entryIndex}]`, record && check.path].filter(Boolean).join('.');
  const describe = (shown: string) => ({ message: check.message(shown, details), expected });
  return { ...issueAt(staged, { section, index, line }, path, value, describe), kind };
}

/** What a check of one column has in common with others. */
const checkedColumn = ({ name, path }: Pick<FilledColumn, 'name' | 'path'>): Pick<RowCheck, 'path' | 'value'> => ({
  path,
  value: (staged) => `${staged}.${name}::text`,
});

function checksOf(table: Table, tables: Table[], incomplete: ReadonlySet<string>, plan: ImportPlan): RowCheck[] {
  const { columns, dataset, match, key, owner, list } = table;
  const checks: RowCheck[] = [];
  const keyColumn = columns.find(({ name }) => name === key);
  // Entries of one array were compared when their record was read.
  if (keyColumn && match.length === 1) {
    const isKey = (staged: string) => `${staged}.${key}`;
    checks.push({ ...checkedColumn(keyColumn), ...duplicateKeys(table, isKey, plan.isPartial) });
  }
  if (plan.match && !list) {
    const { value } = plan.match;
    checks.push({ path: plan.matchPath ?? '', value, ...duplicateKeys(table, plan.match.key, true) });
    checks.push(idOfOtherRecord(table, plan.match));
  }
  const idColumn = columns.find(({ name }) => name === 'id');
  if (idColumn && !table.isShared) checks.push(otherOrganization(table, idColumn));
  if (plan.isPartial && !list) {
    checks.push(...columns.filter(({ isRequired }) => isRequired).map((column) => missingRequired(table, column)));
  }
  if (!list) checks.push(...plan.checks);
  for (const column of columns) {
    const { target } = column;
    if (!target || column === owner || createsReferences(plan, list?.name ?? column.path)) continue;
    const targetTable = tables.find(({ name }) => name === target.table);
    if (targetTable && incomplete.has(targetTable.section)) continue;
    checks.push(unknownReference(table, column, target.key, targetTable));
  }
  for (const { column: name, ...check } of list ? [] : (dataset.shared?.checks ?? [])) {
    const column = columns.find((each) => each.name === name);
    if (column) checks.push({ ...checkedColumn(column), ...check });
  }
  return checks;
}

/** Whether the import creates what a field refers to. */
const createsReferences = ({ newReferences }: ImportPlan, path: string): boolean =>
  newReferences.some((each) => each.path === path && each.count() > 0);

function duplicateKeys(
  { stage, section }: Table,
  key: (staged: string) => string,
  canBeMerged: boolean,
): Omit<RowCheck, 'path' | 'value'> {
  const advice = ' Keep one row with --repeated first or last, or join them with --repeated merge.';
  return {
    details: (staged) =>
      `to_json(coalesce('line ' || ${staged}.first_line, '${section}[' || ${staged}.first_index || ']'))`,
    kind: 'duplicate',
    findViolations: (staged) => `(
      select s.*, row_number() over w as nth, first_value(record_index) over w as first_index,
        first_value(line) over w as first_line
      from ${stage} s where ${key('s')} in (select ${key('s')} from ${stage} s group by 1 having count(*) > 1)
      window w as (partition by ${key('s')} order by record_index, entry_index)
    ) ${staged} where ${staged}.nth > 1`,
    message: (_value, first) => `Duplicate of ${String(first)}.${canBeMerged ? advice : ''}`,
    expected: 'a value that no other record has',
  };
}

/** A row that matches stored rows by another key than the id may still provide an id, for the record that it creates. */
const idOfOtherRecord = ({ stage, name, key: id }: Table, { findId }: RecordMatch): RowCheck => ({
  ...checkedColumn({ name: id, path: id }),
  findViolations: (staged) => `${stage} ${staged}
      join ${name} t on t.organization_id = $1 and t.${id} = ${staged}.${id}
      where (${findId(staged)}) is distinct from ${staged}.${id}`,
  message: (value) => `${value} is the ID of another record, which --match does not find.`,
  expected: 'the ID of the matching record, or a new one',
});

const otherOrganization = ({ stage, name }: Table, column: FilledColumn): RowCheck => ({
  ...checkedColumn(column),
  findViolations: (staged) => `${stage} ${staged} join ${name} t on t.id = ${staged}.id where t.organization_id <> $1`,
  message: (value) => `${value} belongs to another organization.`,
  expected: 'an ID of this organization, or a new one',
});

/** A file that provides only some of the fields may lack what a new record needs. */
const missingRequired = (table: Table, column: FilledColumn): RowCheck => ({
  ...checkedColumn(column),
  findViolations: (staged) => `${table.stage} ${staged} where ${staged}.${column.name} is null and not exists (
        select from ${table.name} t where ${isVisible(table)} and t.${table.key} = ${staged}.${table.key}
      )`,
  message: () => 'A value is missing. A new record needs one.',
  expected: 'a value, because the record is new',
});

/** @param target the table that the reference means, if the file fills it */
function unknownReference({ stage }: Table, column: FilledColumn, key: string, target?: Table): RowCheck {
  const noun = (target?.list ?? target?.dataset)?.noun ?? 'record';
  const keyName = key === 'id' ? 'ID' : key;
  return {
    ...checkedColumn(column),
    findViolations: (staged) => {
      const conditions = [`${staged}.${column.name} is not null`, notStored(staged, column, target)];
      if (target) {
        conditions.push(`not exists (select from ${target.stage} r where r.${key} = ${staged}.${column.name})`);
      }
      return `${stage} ${staged} where ${conditions.join(' and ')}`;
    },
    message: (value) => `No ${noun} has the ${keyName} ${value}.`,
    expected: `the ${keyName} of a ${noun}`,
  };
}

/** The condition that nothing is stored that a reference means, or only entries that the file removes from their record. */
function notStored(staged: string, { name, target: reference }: FilledColumn, target?: Table): string {
  const owner = target?.owner?.target;
  const stays = owner
    ? `and not exists (select from staged_${owner.table} o where o.${owner.key} = t.${target?.owner?.name})`
    : '';
  return `not exists (
      select from ${reference?.table} t where t.organization_id = $1 and t.${reference?.key} = ${staged}.${name} ${stays}
    )`;
}

const differentFields = ({ stage, name, key }: Table, { paths, json }: ReadOnlyFields): RowCheck => ({
  path: '',
  value: () => 'null::text',
  findViolations: (staged) => `${stage} ${staged}
      join ${name} t on t.organization_id = $1 and t.${key} = ${staged}.${key}
      where ${staged}.${READ_ONLY_COLUMN} is not null and not ${json('t')} @> ${staged}.${READ_ONLY_COLUMN}`,
  message: () => `${paths.join(' and ')} are read-only and differ from what is stored.`,
  expected: 'the stored values of read-only fields',
});
