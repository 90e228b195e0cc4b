import { Param, type PipeTransform } from '@nestjs/common';
import { ApiParam, type ApiParamOptions } from '@nestjs/swagger';
import { InvalidRequest } from '../errors/exceptions';
import { textCheck } from './checks';
import { field } from './field-rules';
import { OneOf, Text, Uuid } from './fields';
import { invalidTextReason } from './invalid-reason';
import { sentIntegerCheck, toInteger } from './page-query';
import { NUMERIC_ID, UUID, ZONED_DATE_TIME } from './value-schemas';
import { isUtc, isUuid, MAX_HEAD_BYTES, parseDecimal, toUtc } from './text';

const uuid: PipeTransform<string, string> = {
  transform: (value, { data: name }) => {
    if (!isUuid(value)) throw new InvalidRequest(`path ${name}`, 'format');
    return value.toLowerCase();
  },
};

const int64: PipeTransform<string, number> = {
  transform: (value, { data: name }) => {
    const id = parseDecimal(value);
    if (!Number.isSafeInteger(id) || id < 1) {
      throw new InvalidRequest(`path ${name}`, /^-?\d+$/.test(value) ? 'range' : 'format');
    }
    return id;
  },
};

function pathParam(name: string, pipe: PipeTransform, schema: object): ParameterDecorator {
  return (target, key, index) => {
    Param(name, pipe)(target, key, index);
    const record = name.replace(/Id$/, '').replace(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`);
    const options = { name, schema, description: `The ID of the ${record}.` };
    const handler = key && Object.getOwnPropertyDescriptor(target, key);
    if (handler) ApiParam(options as ApiParamOptions)(target, key, handler);
  };
}

/** The id of a resource in the path: a uuid in any letter case, else 400. */
export const UuidParam = (name: string, example: string = UUID.example): ParameterDecorator =>
  pathParam(name, uuid, { ...UUID, example });

/** The id of an event in the path: a positive safe integer in decimal digits, else 400. */
export const NumericIdParam = (name: string, example: number = NUMERIC_ID.example): ParameterDecorator =>
  pathParam(name, int64, { ...NUMERIC_ID, example });

// Query parameters have no example, because pages that try out a request would send it.
const query = { optional: true, example: undefined };

/** An optional query parameter with text. For a required one, use `Text`. */
export const QueryText = (description: string, limits: { max?: number; blank?: boolean } = {}) =>
  Text({ ...query, max: MAX_HEAD_BYTES, ...limits, description });

/** An optional query parameter with a uuid. For a required one, use `Uuid`. */
export const QueryUuid = (description: string) => Uuid({ ...query, description });

/** An optional query parameter with one of some values. For a required one, use `OneOf`. */
export const QueryOneOf = (values: readonly string[], name: string, description: string) =>
  OneOf(values, name, { ...query, description });

/** An optional query parameter that is `true` or `false`. */
export const QueryBoolean = (description: string) =>
  field(
    {
      schema: { type: 'boolean' },
      check: (value) => (typeof value === 'boolean' ? undefined : invalidTextReason(value)),
      convert: (value) => BOOLEANS.get(value) ?? value,
    },
    { ...query, description },
  );

const BOOLEANS = new Map<unknown, boolean>([
  ['true', true],
  ['false', false],
]);

/** An optional query parameter with the ID of an event: a positive safe integer in decimal digits. */
export const QueryNumericId = (description: string) =>
  field(
    { schema: NUMERIC_ID, check: sentIntegerCheck(NUMERIC_ID), convert: (value) => toInteger(value) },
    { ...query, description },
  );

/** An optional query parameter with a date-time and its zone, converted to UTC. A blank counts as `+`, as in form encoding. */
export const QueryDateTime = (description: string) =>
  field(
    { kind: 'date-time', schema: ZONED_DATE_TIME, check: textCheck(isUtc), convert: zonedToUtc },
    { ...query, description },
  );

function zonedToUtc(value: unknown): unknown {
  const utc = typeof value === 'string' && value.includes('T') ? toUtc(value.replace(' ', '+')) : undefined;
  return utc ?? value;
}
