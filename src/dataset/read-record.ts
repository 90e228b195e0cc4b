import { defaultMetadataStorage } from 'class-transformer/cjs/storage';
import { getMetadataStorage, type ValidationArguments, type ValidatorConstraintInterface } from 'class-validator';
import type { RecordClass } from './dataset';
import { classOf, fieldsOf } from './schema';

type Plain = Record<string, unknown>;

/** A field of a record, with all that its decorators say. */
interface Rule {
  name: string;
  convert: (value: unknown, from: Plain) => unknown;
  inner?: () => Reader;
  checks: ValidatorConstraintInterface[];
}

/**
 * Reads plain values into records of a class, as the API reads a body. The rules of a class are those that its decorators
 * gave to class-transformer and class-validator, looked up once: a lead takes 100 µs by `plainToInstance` and
 * `validateSync`, which look them up for each value, and 10 so.
 */
class Reader {
  private readonly rules: Rule[];

  constructor(private readonly type: RecordClass) {
    const storage = getMetadataStorage();
    const all = storage.getTargetValidationMetadatas(type, '', false, false);
    this.rules = [...fieldsOf(type)].map(([name, schema]) => {
      const nested = classOf(schema);
      const transforms = nested ? [] : defaultMetadataStorage.findTransformMetadatas(type, name, 0);
      const own = all.filter(({ propertyName, constraintCls }) => propertyName === name && constraintCls);
      return {
        name,
        convert: (given, obj) =>
          transforms.reduce<unknown>((value, { transformFn }) => transformFn({ value, obj } as never), given),
        inner: nested && (() => readerOf(nested)),
        checks: own.flatMap(
          ({ constraintCls }) => storage.getTargetValidatorConstraints(constraintCls)[0]?.instance ?? [],
        ),
      };
    });
  }

  read(from: Plain): { record: object; faults: string[] } {
    const record = new this.type() as Plain;
    const inside = this.rules.map(({ name, convert, inner }) => {
      const given = from[name];
      if (given === undefined) return [];
      if (!inner) record[name] = convert(given, from);
      else if (given === null || typeof given !== 'object') record[name] = given;
      else return this.readInner(record, name, given, inner());
      return [];
    });
    return { record, faults: this.rules.flatMap((rule, nth) => [...faultsOf(rule, record), ...(inside[nth] ?? [])]) };
  }

  /** @returns the paths of the faults in an object, or in an array of objects */
  private readInner(record: Plain, name: string, given: object, reader: Reader): string[] {
    const faults: string[] = [];
    const part = (value: unknown, path: string): unknown => {
      if (typeof value !== 'object' || value === null || Array.isArray(value)) {
        faults.push(path);
        return value;
      }
      const read = reader.read(value as Plain);
      for (const fault of read.faults) faults.push(`${path}.${fault}`);
      return read.record;
    };
    record[name] = Array.isArray(given) ? given.map((value, n) => part(value, `${name}[${n}]`)) : part(given, name);
    return faults;
  }
}

/** The path of what is wrong with a field itself. */
function faultsOf({ name, checks }: Rule, object: Plain): string[] {
  const args = { object, property: name, value: object[name] } as ValidationArguments;
  const failed = checks.find((check) => !check.validate(args.value, args));
  return failed ? [`${name}${failed.defaultMessage?.(args) ?? ''}`] : [];
}

const readers = new WeakMap<RecordClass, Reader>();

function readerOf(type: RecordClass): Reader {
  const reader = readers.get(type) ?? new Reader(type);
  readers.set(type, reader);
  return reader;
}

/**
 * @param isGiven whether a fault counts; of a CSV file that lacks a column, it does not
 * @returns the record, or the path of the first field at fault
 */
export function readRecord<T extends object>(
  type: RecordClass<T>,
  value: object,
  isGiven: (path: string) => boolean = () => true,
): { record: T } | { fault: string } {
  const { record, faults } = readerOf(type).read(value as Plain);
  const fault = faults.find(isGiven);
  return fault === undefined ? { record: record as T } : { fault };
}
