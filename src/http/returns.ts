import { applyDecorators, HttpCode, Type } from '@nestjs/common';
import { ApiExtraModels, ApiOkResponse, getSchemaPath } from '@nestjs/swagger';
import type { Json, Page } from '../database/statements';
import { MOST_ENTRIES } from './fields';
import { Pagination } from './pagination.response';
import { LARGEST_PAGE_SIZE } from './parameters';
import { int64, whole } from './schemas';

/** Metadata of a handler whose result is wrapped: by what. */
export const ENVELOPE = Symbol('envelope');
/** How a handler's result becomes the body of the answer. */
type Envelope = (result: never) => string;
type Handler = (...args: unknown[]) => Promise<unknown>;

/**
 * The text of an answer, until it is sent. Promises keep what they came to until they are collected themselves, and those
 * of a request that waited are in the old generation by then: its answer, too, would stay until the next big collection.
 */
export class AnswerText {
  constructor(private text: string) {}

  /** The text, which is not held here any longer. */
  take(): string {
    const { text } = this;
    this.text = '';
    return text;
  }
}

type Schema = Record<string, unknown>;
const ref = (model: Type): Schema => ({ $ref: getSchemaPath(model) });
const object = (properties: Record<string, Schema>, description?: string): Schema => ({
  type: 'object',
  ...(description && { description }),
  properties,
  required: Object.keys(properties),
});
const array = (model: Type, maxItems: number): Schema => ({
  type: 'array',
  description: 'The records.',
  items: ref(model),
  maxItems,
});
const status: Schema = { ...whole(200, 200), const: 200, description: 'The HTTP status once more.' };

const capitalized = (word: string): string => word.charAt(0).toUpperCase() + word.slice(1);

/** What a success is, in the API reference: a schema with a title of its own, by which clients know it. */
interface Success {
  title: string;
  description: string;
  models: Type[];
  /** of the body, beside `status` */
  properties: Record<string, Schema>;
}

/** Of a handler that gives what the envelope takes. */
type Answers<Result> = <Given extends (...args: never[]) => Promise<Result>>(
  target: object,
  key: string | symbol,
  descriptor: TypedPropertyDescriptor<Given>,
) => void;

/** Every success is 200, also of a POST. */
const returns = ({ title, description, models, properties }: Success, envelope: Envelope): MethodDecorator => {
  const schema = { title, ...object({ status, ...properties }, description) };
  return applyDecorators(
    wrappedIn(envelope),
    HttpCode(200),
    ApiExtraModels(...models),
    ApiOkResponse({ description, schema }),
  );
};

/** Replaces a handler by one that wraps its result. An interceptor would cost as much as the whole handler. */
const wrappedIn =
  (envelope: Envelope): MethodDecorator =>
  (_target, key, descriptor) => {
    const handler = descriptor.value as Handler;
    const wrapped: Handler = async function (this: unknown, ...args) {
      return new AnswerText(envelope((await handler.apply(this, args)) as never));
    };
    for (const name of Reflect.getMetadataKeys(handler) as unknown[]) {
      Reflect.defineMetadata(name, Reflect.getMetadata(name, handler), wrapped);
    }
    Reflect.defineMetadata(ENVELOPE, envelope, wrapped);
    // Nest finds what it knows of a handler's parameters by its name.
    Object.defineProperty(wrapped, 'name', { value: key });
    descriptor.value = wrapped as never;
  };

/** `results` is one resource, or an object that holds it under `key`. The handler gives the resource's JSON text. */
export const Returns = (model: Type, key?: string): Answers<Json> => {
  const name = model.name.replace(/(V0Response|Result)$/, '');
  const results = key === undefined ? ref(model) : object({ [key]: ref(model) }, 'The record, under its name.');
  return returns(
    { title: `${name}Answer`, description: 'Done.', models: [model], properties: { results } },
    key === undefined
      ? (json: Json) => `{"status":200,"results":${json}}`
      : (json: Json) => `{"status":200,"results":{"${key}":${json}}}`,
  );
};

/** `results` is an empty object. */
export const ReturnsNothing = (): Answers<Json> =>
  returns(
    {
      title: 'EmptyAnswer',
      description: 'Done. There is nothing to tell.',
      models: [],
      properties: { results: object({}, 'Nothing.') },
    },
    () => '{"status":200,"results":{}}',
  );

/** `results.<key>` is an array, without pagination. The handler gives the items' JSON texts, joined by commas. */
export const ReturnsList = (key: string, model: Type, most = MOST_ENTRIES): Answers<Json> =>
  returns(
    {
      title: `${capitalized(key)}List`,
      description: 'All of them, without pages.',
      models: [model],
      properties: { results: object({ [key]: array(model, most) }, 'The records, under their name.') },
    },
    (items: Json) => `{"status":200,"results":{"${key}":[${items}]}}`,
  );

const total: Schema = {
  ...int64(0),
  description: 'How many records match, on all pages together.',
  example: 1,
};

/** The items of a page, which does not hold them any longer. */
const taken = ({ items }: Page): string => items.splice(0).join();

/** `results.<key>` is a page of a list, with `results.total` and `pagination`. */
export const ReturnsPage = (key: string, model: Type): Answers<Page> =>
  returns(
    {
      title: `${capitalized(key)}Page`,
      description: 'One page of the list. A page behind the last one is empty.',
      models: [model, Pagination],
      properties: {
        pagination: ref(Pagination),
        results: object({ [key]: array(model, LARGEST_PAGE_SIZE), total }, 'The records, and how many there are.'),
      },
    },
    (page: Page) =>
      `{"status":200,"pagination":{"limit":${page.limit},"offset":${page.offset}},"results":{"${key}":[${taken(page)}],"total":${page.total}}}`,
  );
