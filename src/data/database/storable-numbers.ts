import type { Driver } from 'typeorm';
import type { ColumnMetadata } from 'typeorm/metadata/ColumnMetadata';
import { UnstorableField } from '../../errors/exceptions';

/** The integer types, each from the negative limit to the number below the positive one. */
const INTEGER_LIMITS: Partial<Record<string, number>> = { smallint: 2 ** 15, integer: 2 ** 31, bigint: 2 ** 63 };

/**
 * Makes TypeORM reject a number that its column would round, or cannot hold. PostgreSQL rounds without a word, and where it
 * does reject a number, it does not say of which column. TypeORM asks its driver for each value that it writes, and for none
 * that it only compares with.
 */
export function rejectUnstorableNumbers(driver: Driver): void {
  const prepareValue = driver.preparePersistentValue.bind(driver);
  driver.preparePersistentValue = (value: unknown, column: ColumnMetadata): unknown => {
    const prepared: unknown = prepareValue(value, column);
    const holds = checkOf(column, driver.normalizeType(column));
    if (holds && ![prepared].flat().every((each) => !isNumeric(each) || holds(each))) {
      throw new UnstorableField(column.propertyPath);
    }
    return prepared;
  };
}

type Numeric = number | string;

const isNumeric = (value: unknown): value is Numeric => typeof value === 'number' || typeof value === 'string';

/** Whether a column holds a number as it is, for the types that may not. */
function checkOf({ precision, scale }: ColumnMetadata, type: string): ((value: Numeric) => boolean) | undefined {
  const limit = INTEGER_LIMITS[type];
  if (limit !== undefined) return (value) => isIntegerWithin(Number(value), limit);
  if (type !== 'numeric' || typeof precision !== 'number') return undefined;
  return (value) => isWithinDigits(value, precision - (scale ?? 0), scale ?? 0);
}

function isWithinDigits(value: Numeric, integerDigits: number, scale: number): boolean {
  // An exponent is how JSON writes very large and very small numbers. A text of more digits than a number keeps has none.
  if (typeof value === 'number' || /e/i.test(value)) {
    const number = Number(value);
    return Number(number.toFixed(scale)) === number && Math.abs(number) < 10 ** integerDigits;
  }
  const [integer = '', fraction = ''] = value
    .trim()
    .replace(/^[+-]?0*/, '')
    .split('.');
  return integer.length <= integerDigits && !/[1-9]/.test(fraction.slice(scale));
}

const isIntegerWithin = (value: number, limit: number): boolean =>
  Number.isInteger(value) && value >= -limit && value <= limit - 1;
