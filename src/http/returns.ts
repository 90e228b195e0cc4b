import { applyDecorators, HttpCode, Type } from '@nestjs/common';
import { ApiExtraModels, ApiOkResponse, getSchemaPath } from '@nestjs/swagger';
import type { Json, Page } from '../database/statements';

/** Metadata of a handler whose result is wrapped: by what. */
export const ENVELOPE = Symbol('envelope');
/** How a handler's result becomes the body of the answer. */
type Envelope = (result: never) => string;
type Handler = (...args: unknown[]) => Promise<unknown>;

type Schema = Record<string, unknown>;
const ref = (model: Type): Schema => ({ $ref: getSchemaPath(model) });
const object = (properties: Record<string, Schema>): Schema => ({
  type: 'object',
  properties,
  required: Object.keys(properties),
});
const status: Schema = { type: 'integer', enum: [200] };
const pagination: Schema = object({
  limit: { type: 'integer', format: 'int32', description: 'Page size in force after clamping.' },
  offset: { type: 'integer', format: 'int32', description: 'Zero-based page index.' },
});

/** Every success is 200, also of a POST. */
const returns = (models: Type[], schema: Schema, envelope: Envelope): MethodDecorator =>
  applyDecorators(wrappedIn(envelope), HttpCode(200), ApiExtraModels(...models), ApiOkResponse({ schema }));

/** Replaces a handler by one that wraps its result. An interceptor would cost as much as the whole handler. */
const wrappedIn =
  (envelope: Envelope): MethodDecorator =>
  (_target, key, descriptor) => {
    const handler = descriptor.value as Handler;
    const wrapped: Handler = async function (this: unknown, ...args) {
      return envelope((await handler.apply(this, args)) as never);
    };
    for (const key of Reflect.getMetadataKeys(handler) as unknown[]) {
      Reflect.defineMetadata(key, Reflect.getMetadata(key, handler), wrapped);
    }
    Reflect.defineMetadata(ENVELOPE, envelope, wrapped);
    // Nest finds what it knows of a handler's parameters by its name.
    Object.defineProperty(wrapped, 'name', { value: key });
    descriptor.value = wrapped as never;
  };

/** `results` is one resource, or an object that holds it under `key`. The handler gives the resource's JSON text. */
export const Returns = (model: Type, key?: string): MethodDecorator =>
  key === undefined
    ? returns([model], object({ status, results: ref(model) }), (json: Json) => `{"status":200,"results":${json}}`)
    : returns(
        [model],
        object({ status, results: object({ [key]: ref(model) }) }),
        (json: Json) => `{"status":200,"results":{"${key}":${json}}}`,
      );

/** `results` is an empty object. */
export const ReturnsNothing = (): MethodDecorator =>
  returns([], object({ status, results: object({}) }), () => '{"status":200,"results":{}}');

/** `results.<key>` is an array, without pagination. The handler gives the items' JSON texts, joined by commas. */
export const ReturnsList = (key: string, model: Type): MethodDecorator =>
  returns(
    [model],
    object({ status, results: object({ [key]: { type: 'array', items: ref(model) } }) }),
    (items: Json) => `{"status":200,"results":{"${key}":[${items}]}}`,
  );

/** `results.<key>` is a page of a list, with `results.total` and `pagination`. */
export const ReturnsPage = (key: string, model: Type): MethodDecorator =>
  returns(
    [model],
    object({
      status,
      pagination,
      results: object({
        [key]: { type: 'array', items: ref(model) },
        total: { type: 'integer', description: 'Number of all records that match.' },
      }),
    }),
    ({ limit, offset, items, total }: Page) =>
      `{"status":200,"pagination":{"limit":${limit},"offset":${offset}},"results":{"${key}":[${items}],"total":${total}}}`,
  );
