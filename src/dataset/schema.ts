import type { RecordClass } from './dataset';

/** Where @ApiProperty keeps what it is given; mapped types copy it. */
const NAMES = 'swagger/apiModelPropertiesArray';
const SCHEMA = 'swagger/apiModelProperties';

/** What the decorators of api-schema say of a field. */
export interface FieldSchema {
  type?: string | (() => RecordClass);
  isArray?: boolean;
  nullable?: boolean;
  required?: boolean;
}

/** The fields of a record, in the order of its class. */
export function fieldsOf({ prototype }: RecordClass): Map<string, FieldSchema> {
  const holder = prototype as object;
  const names = (Reflect.getMetadata(NAMES, holder) ?? []) as string[];
  return new Map(
    names.map((name) => [name.slice(1), Reflect.getMetadata(SCHEMA, holder, name.slice(1)) as FieldSchema]),
  );
}

/** The class of the objects that a field holds. */
export const classOf = ({ type }: FieldSchema): RecordClass | undefined =>
  typeof type === 'function' ? type() : undefined;
