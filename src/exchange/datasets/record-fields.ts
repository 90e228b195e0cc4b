import type { DataSource, EntityMetadata } from 'typeorm';
import type { ColumnMetadata } from 'typeorm/metadata/ColumnMetadata';
import { checkedProperties, type Class, classOf, schemasOf } from '../../fields/field-rules';
import { ConfigError } from '../../config';
import type { Datasets } from './dataset';
import { fieldAt, type Table, tablesOf } from './tables';

/** Whatever is wrong with the records of sections is known at the start, and not when an import has dropped a value. */

/** @throws ConfigError that names class and field if a record has a field that an import would drop, or would round */
export function checkRecords(dataSource: DataSource, datasets: Datasets): void {
  const problems = tablesOf(dataSource, datasets).flatMap((table) => {
    const metadata = dataSource.getMetadata((table.list ?? table.dataset).entity);
    return [...undeclaredFields(table), ...missingFields(table, metadata), ...inexactFields(table, metadata)];
  });
  if (problems.length > 0) throw new ConfigError([...new Set(problems)].join('\n'));
}

const DECORATORS = 'a decorator of Lanyard such as @Text() or @Decimal()';

/** The properties that class-validator checks and no decorator of Lanyard declares, so that nothing reads them. */
function undeclaredFields({ dataset, list }: Table): string[] {
  if (list) return [];
  return classesIn(dataset.record).flatMap((type) =>
    [...checkedProperties(type)]
      .filter((name) => !schemasOf(type).has(name))
      .map((name) => `An import would drop ${type.name}.${name}: declare it with ${DECORATORS}.`),
  );
}

/** A class, and those of the objects in its fields. */
function classesIn(type: Class, found = new Set<Class>()): Class[] {
  if (found.has(type)) return [];
  found.add(type);
  for (const schema of schemasOf(type).values()) {
    const inner = classOf(schema);
    if (inner) classesIn(inner, found);
  }
  return [...found];
}

/** The columns that no field fills, although a new row needs them, or although nothing says that exports leave them out. */
function missingFields(
  { columns, dataset, tracked, derived, list }: Table,
  { name, columns: all }: EntityMetadata,
): string[] {
  const isFilled = ({ propertyName, databaseName, generatedType }: ColumnMetadata): boolean =>
    columns.some(({ property, path }) => property === propertyName && (list || fieldAt(dataset.record, path))) ||
    derived.some(({ column }) => column === databaseName) ||
    propertyName === 'organizationId' ||
    (tracked !== undefined && propertyName === 'position') ||
    generatedType !== undefined;
  const isNeeded = (column: ColumnMetadata): boolean =>
    !column.isNullable && column.default === undefined && !column.isGenerated;
  const { notExported = [] } = list ?? dataset;
  const record = dataset.record.name + (list ? `.${list.name}` : '');
  return (
    all
      .filter((column) => !isFilled(column))
      // A key that no field holds is the database's own.
      .filter((column) => isNeeded(column) || !(column.isPrimary || notExported.includes(column.propertyName)))
      .map((column) => {
        const field = `${record} has no field for ${name}.${column.propertyName}`;
        if (isNeeded(column)) return `${field}, without which no row can be stored.`;
        return (
          `${field}, so an export would lose it. Declare the field, or write notExported: ['${column.propertyName}'] ` +
          `next to key: '${(list ?? dataset).key}'.`
        );
      })
  );
}

/** The fields of numeric columns that would round a value, or could not have each of them. */
function inexactFields({ columns, record }: Table, { name, columns: all }: EntityMetadata): string[] {
  return columns.flatMap(({ property, path }) => {
    const column = all.find(({ propertyName }) => propertyName === property);
    const field = fieldAt(record, path);
    if (!record || !field || field.type === 'integer' || !/^(numeric|decimal)$/.test(String(column?.type))) return [];
    const { precision, scale = 0 } = column as ColumnMetadata;
    const isExact = field.decimal?.scale === scale && field.decimal.integerDigits === Number(precision) - Number(scale);
    const expected = `@Decimal({ precision: ${precision ?? '…'}, scale: ${scale ?? '…'} })`;
    return isExact
      ? []
      : [`${record.name}.${path} cannot have each value of ${name}.${property} unrounded. Use ${expected}.`];
  });
}
