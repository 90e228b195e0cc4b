import type { EntityManager } from 'typeorm';
import type { Coverage, RecordLocation, RecordMatch } from './coverage';
import type { Datasets } from './dataset';
import type { IssueCollector, LocatedIssue } from './import-error';
import { quoteShortened } from './quote';
import { type FilledColumn, READ_ONLY_COLUMN, type Table } from './tables';

/** A check of staged rows. */
interface RowCheck {
  /** The path of the checked field in a record, or in an entry of the table's array. */
  path: string;
  /** SQL of the value of a staged row that messages show. */
  value: (staged: string) => string;
  /** SQL, to be used after `from`, that gives the invalid staged rows. */
  findViolations: (staged: string) => string;
  /** The error message for a value, which is already in quotes. */
  message: (value: string, first: string) => string;
  /** What a valid value is. */
  expected: string;
  /** Whether each row knows the first row with the same value, as `first_index` and `first_line`. */
  findsDuplicates?: boolean;
}

/** An invalid row. */
interface Violation {
  line: number | null;
  record_index: number;
  entry_index: number | null;
  value: string | null;
  /** How many rows violate the check. */
  count: number;
  first_index?: number;
  first_line?: number | null;
}

/** How many errors of one check are reported. */
const MAX_VIOLATIONS = 20;

/** More than any section has records. */
const SECTION_SIZE = 1e9;

/** Sorts errors in the order of the file: by line, or in one JSON object by section and index. */
export const orderInFile = ({ names }: Datasets, { section, index, line }: RecordLocation): number =>
  line ?? names.indexOf(section) * SECTION_SIZE + index;

/** Checks the staged rows of an organization against each other and against what is stored. */
export class Checks {
  constructor(
    private readonly manager: EntityManager,
    private readonly organizationId: number,
    private readonly datasets: Datasets,
    private readonly coverage: Coverage,
  ) {}

  /** @param incomplete sections with invalid records, which are not staged: references to those may be valid */
  async checkAll(tables: Table[], incomplete: ReadonlySet<string>, issues: IssueCollector): Promise<void> {
    for (const table of tables) {
      for (const check of checksOf(table, tables, incomplete, this.coverage)) await this.run(table, check, issues);
    }
  }

  /** Checks that read-only fields of the file have the values that are stored, when all rows are written. */
  async checkReadOnlyFields(tables: Table[], issues: IssueCollector): Promise<void> {
    for (const table of tables) {
      const { dataset, list } = table;
      if (dataset.readOnlyFields && !list) await this.run(table, differentReadOnlyFields(table), issues);
    }
  }

  private async run(table: Table, check: RowCheck, issues: IssueCollector): Promise<void> {
    const columns = ['s.line', 's.record_index', 's.entry_index', `${check.value('s')} as value`];
    if (check.findsDuplicates) columns.push('s.first_index', 's.first_line');
    const rows = check.findViolations('s');
    const violations = await this.manager.query<Violation[]>(
      `select ${columns.join(', ')}, count(*) over ()::integer as count
        from ${rows} order by s.record_index, s.entry_index limit ${MAX_VIOLATIONS}`,
      rows.includes('$1') ? [this.organizationId] : [],
    );
    const located = violations.map((violation) => this.issueOf(table, check, violation));
    issues.addFirst(located, violations[0]?.count ?? 0);
  }

  private issueOf({ section, list, hasTextEntries }: Table, check: RowCheck, violation: Violation): LocatedIssue {
    const { record_index: index, entry_index: entryIndex, line, value } = violation;
    const entryPath = list && `${list.name}[${entryIndex}]`;
    const pathInEntry = hasTextEntries ? '' : `.${check.path}`;
    const path = entryPath ? entryPath + pathInEntry : check.path;
    const record = { section, index, line };
    const { isValueHidden, ...location } = this.coverage.locateError(record, path);
    const first = violation.first_line ? `line ${violation.first_line}` : `${section}[${violation.first_index}]`;
    return {
      order: orderInFile(this.datasets, record),
      ...location,
      value: isValueHidden ? null : value,
      expected: check.expected,
      message: check.message(isValueHidden ? 'This value' : quoteShortened(value), first),
    };
  }
}

const columnValue =
  ({ name }: FilledColumn) =>
  (staged: string): string =>
    `${staged}.${name}::text`;

function checksOf(table: Table, tables: Table[], incomplete: ReadonlySet<string>, coverage: Coverage): RowCheck[] {
  const { columns, dataset, match, owner, list } = table;
  const checks: RowCheck[] = [];
  const keyColumn = columns.find(({ name }) => name === match[0]);
  // Entries of one array were compared when their record was read.
  if (keyColumn && match.length === 1) {
    const key = (staged: string) => `${staged}.${keyColumn.name}`;
    checks.push(duplicateKeys(table, keyColumn.path, key, columnValue(keyColumn)));
  }
  if (coverage.match && !list) {
    const { key, value } = coverage.match;
    checks.push(duplicateKeys(table, coverage.matchPath ?? '', key, value), idOfOtherRecord(table, coverage.match));
  }
  const idColumn = columns.find(({ name }) => name === 'id');
  if (idColumn && !table.isShared) checks.push(otherOrganization(table, idColumn));
  if (coverage.isPartial && !list) checks.push(...missingRequired(table));
  for (const column of columns) {
    if (column !== owner) checks.push(...unknownReference(table, column, tables, incomplete));
  }
  for (const { column: name, ...check } of list ? [] : (dataset.shared?.checks ?? [])) {
    const column = columns.find((each) => each.name === name);
    if (column) checks.push({ ...check, path: column.path, value: columnValue(column) });
  }
  return checks;
}

function duplicateKeys(
  { stage }: Table,
  path: string,
  key: (staged: string) => string,
  value: (staged: string) => string,
): RowCheck {
  return {
    path,
    value,
    findsDuplicates: true,
    findViolations: (staged) => `(
      select s.*, row_number() over w as nth, first_value(record_index) over w as first_index,
        first_value(line) over w as first_line
      from ${stage} s where ${key('s')} in (select ${key('s')} from ${stage} s group by 1 having count(*) > 1)
      window w as (partition by ${key('s')} order by record_index, entry_index)
    ) ${staged} where ${staged}.nth > 1`,
    message: (_value, first) => `Duplicate of ${first}.`,
    expected: 'a value that no other record has',
  };
}

/** A row that matches stored rows by another key than the id may still provide an id, for the record that it creates. */
function idOfOtherRecord({ stage, name, match }: Table, { findId }: RecordMatch): RowCheck {
  const id = match[0] ?? '';
  return {
    path: id,
    value: (staged) => `${staged}.${id}::text`,
    findViolations: (staged) => `${stage} ${staged}
      join ${name} t on t.organization_id = $1 and t.${id} = ${staged}.${id}
      where (${findId(staged)}) is distinct from ${staged}.${id}`,
    message: (value) => `${value} is the ID of another record, which --match does not find.`,
    expected: 'the ID of the matching record, or a new one',
  };
}

const otherOrganization = ({ stage, name }: Table, column: FilledColumn): RowCheck => ({
  path: column.path,
  value: columnValue(column),
  findViolations: (staged) => `${stage} ${staged} join ${name} t on t.id = ${staged}.id where t.organization_id <> $1`,
  message: (value) => `${value} belongs to another organization.`,
  expected: 'an ID of this organization, or a new one',
});

/** A file that provides only some of the fields may lack what a new record needs. */
function missingRequired({ stage, name, match, columns, isShared }: Table): RowCheck[] {
  const isOwn = isShared ? 'true' : 't.organization_id = $1';
  return columns
    .filter(({ isRequired }) => isRequired)
    .map((column) => ({
      path: column.path,
      value: columnValue(column),
      findViolations: (staged) => `${stage} ${staged} where ${staged}.${column.name} is null and not exists (
        select from ${name} t where ${isOwn} and t.${match[0]} = ${staged}.${match[0]}
      )`,
      message: () => 'A value is missing. A new record needs one.',
      expected: 'a value, because the record is new',
    }));
}

function unknownReference(
  { stage }: Table,
  column: FilledColumn,
  tables: Table[],
  incomplete: ReadonlySet<string>,
): RowCheck[] {
  if (!column.target) return [];
  const { table: targetName, key } = column.target;
  const target = tables.find(({ name }) => name === targetName);
  if (target && incomplete.has(target.section)) return [];
  const noun = (target?.list ?? target?.dataset)?.noun ?? 'record';
  return [
    {
      path: column.path,
      value: columnValue(column),
      findViolations: (staged) => {
        const conditions = [`${staged}.${column.name} is not null`, notStored(staged, column, target)];
        if (target) {
          conditions.push(`not exists (select from ${target.stage} r where r.${key} = ${staged}.${column.name})`);
        }
        return `${stage} ${staged} where ${conditions.join(' and ')}`;
      },
      message: (value) => `No ${noun} has the ${key === 'id' ? 'ID' : key} ${value}.`,
      expected: `the ${key === 'id' ? 'ID' : key} of a ${noun}`,
    },
  ];
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

function differentReadOnlyFields({ stage, name, match, dataset }: Table): RowCheck {
  const { paths, json } = dataset.readOnlyFields ?? { paths: [], json: () => '' };
  return {
    path: '',
    value: () => 'null::text',
    findViolations: (staged) => `${stage} ${staged}
      join ${name} t on t.organization_id = $1 and t.${match[0]} = ${staged}.${match[0]}
      where ${staged}.${READ_ONLY_COLUMN} is not null and not ${json('t')} @> ${staged}.${READ_ONLY_COLUMN}`,
    message: () => `${paths.join(' and ')} are read-only and differ from what is stored.`,
    expected: 'the stored values of read-only fields',
  };
}
