import { applyDecorators, HttpCode, SetMetadata, Type } from '@nestjs/common';
import { ApiExtraModels, ApiOkResponse, ApiSchema, getSchemaPath } from '@nestjs/swagger';
import { MAX_PAGE_SIZE } from '../../data/database/limits';
import { JsonText, Page, type PageFields } from '../../data/database/statements';
import { Int32, MAX_ENTRIES, Text } from '../../fields/fields';
import { isObject } from '../../fields/field-rules';
import { DEFAULT_PAGE_SIZE } from '../../fields/page-query';
import { int32, int64 } from '../../fields/value-schemas';

/** Metadata of a handler: its envelope, which EnvelopeInterceptor puts around the result. */
export const ENVELOPE = Symbol('envelope');
/** How a handler's result becomes the body of the response: JSON text, in parts. */
export type Envelope = (result: never) => string[];

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
const status: Schema = { ...int32(200, 200), const: 200, description: 'HTTP status code.' };

const capitalized = (word: string): string => word.charAt(0).toUpperCase() + word.slice(1);

/** What a success is, in the API reference: a schema with a title of its own, by which clients know it. */
interface Success {
  title: string;
  /** The description of the schema, which several operations may share. */
  about: string;
  /** The description of a successful response of the operation. */
  description: string;
  models: Type[];
  /** The schemas of the fields of the body, in addition to `status`. */
  properties: Record<string, Schema>;
}

/** Of a handler that gives what the envelope takes. */
type Answers<Result> = <Given extends (...args: never[]) => Promise<Result>>(
  target: object,
  key: string | symbol,
  descriptor: TypedPropertyDescriptor<Given>,
) => void;

/** Every success is 200, also of a POST. */
const returns = ({ title, about, description, models, properties }: Success, envelope: Envelope): MethodDecorator => {
  const schema = { title, ...object({ status, ...properties }, about) };
  return applyDecorators(
    SetMetadata(ENVELOPE, envelope),
    HttpCode(200),
    ApiExtraModels(...models),
    ApiOkResponse({ description, schema }),
  );
};

const textOf = (value: unknown): string => (value instanceof JsonText ? value.text : JSON.stringify(value));

/** The items of a JSON array with a comma before each but the first. They stay parts, because each may be long. */
export const joined = (items: (JsonText | object)[]): string[] =>
  items.map((item, index) => (index === 0 ? textOf(item) : `,${textOf(item)}`));

/**
 * `results` is one resource, or an object that holds it under `key`. The handler returns it as JSON text, in parts where it
 * may be long, or as an object.
 * @param description what a success says
 */
export const Returns = <T extends object>(
  model: Type<T>,
  description: string,
  key?: string,
): Answers<JsonText | string[] | T> => {
  const name = model.name.replace(/(V0Response|Result)$/, '');
  const results = key === undefined ? ref(model) : object({ [key]: ref(model) }, 'Record, by resource name.');
  const [start, end] = key === undefined ? ['', ''] : [`{"${key}":`, '}'];
  return returns(
    { title: `${name}Answer`, about: 'One record.', description, models: [model], properties: { results } },
    (record: JsonText | string[] | T) => [
      `{"status":200,"results":${start}`,
      ...(Array.isArray(record) ? record : [textOf(record)]),
      `${end}}`,
    ],
  );
};

/** `results` is an empty object. */
export const ReturnsNothing = (description: string): Answers<void> =>
  returns(
    {
      title: 'EmptyAnswer',
      about: 'Success, without a result.',
      description,
      models: [],
      properties: { results: object({}, 'Nothing.') },
    },
    () => ['{"status":200,"results":{}}'],
  );

/** `results.<key>` is an array, without pagination. The handler returns its items, or the array as JSON text. */
export const ReturnsList = (
  key: string,
  model: Type,
  description: string,
  max = MAX_ENTRIES,
): Answers<JsonText | (JsonText | object)[]> =>
  returns(
    {
      title: `${capitalized(key)}List`,
      about: 'A whole list.',
      description,
      models: [model],
      properties: { results: object({ [key]: array(model, max) }, 'Records, by resource name.') },
    },
    (list: JsonText | (JsonText | object)[]) => {
      const array = list instanceof JsonText ? [list.text] : ['[', ...joined(list), ']'];
      return [`{"status":200,"results":{"${key}":`, ...array, '}}'];
    },
  );

@ApiSchema({ description: 'Position of the page in the list.' })
export class Pagination {
  @Int32({
    min: 1,
    max: MAX_PAGE_SIZE,
    example: DEFAULT_PAGE_SIZE,
    description: 'Effective page size, after clamping.',
  })
  limit: number;
  @Int32({ description: 'Zero-based index of this page.' })
  offset: number;
}

const total: Schema = {
  ...int64(0),
  description: 'Number of matching records on all pages.',
  example: 1,
};

const pageBody = (status: number, key: string, { limit, offset, items, total }: PageFields): string[] => [
  `{"status":${status},"pagination":{"limit":${limit},"offset":${offset}},"results":{"${key}":[`,
  ...joined(items),
  `],"total":${total}}}`,
];

/**
 * `results.<key>` is a page of a list, with `results.total` and `pagination`.
 * @param name tells the page from that of another list with the same key
 */
export const ReturnsPage = (key: string, model: Type, name = key): Answers<PageFields> =>
  returns(
    {
      title: `${capitalized(name)}Page`,
      about: 'One page of a list.',
      description: 'One page of the list. A page after the last one is empty.',
      models: [model, Pagination],
      properties: {
        pagination: ref(Pagination),
        results: object({ [key]: array(model, MAX_PAGE_SIZE), total }, 'The records of the page, with the total.'),
      },
    },
    (page: PageFields) => pageBody(200, key, page),
  );

/**
 * The body of a handler without a decorator of this file.
 * @param key under which the items of a `Page` stand
 * @throws Error when the result has the fields of a page and is none, because a list without `pagination` would be sent
 */
export function plainEnvelope(status: number, key: string, result: unknown): string[] {
  if (Page.isPage(result)) return pageBody(status, key, result);
  if (hasFieldsOfPage(result))
    throw new Error('A handler returned { limit, offset, items, total }. To send a page, return new Page({ … }).');
  const isList = Array.isArray(result) && result.every((item) => item instanceof JsonText);
  const parts = isList ? ['[', ...joined(result), ']'] : [textOf(result ?? {})];
  return [`{"status":${status},"results":`, ...parts, '}'];
}

/** Whether a result has exactly the fields of a page of objects. */
function hasFieldsOfPage(result: unknown): boolean {
  if (!isObject(result)) return false;
  const { items, limit, offset, total, ...others } = result as Record<string, unknown>;
  if (![limit, offset, total].every(Number.isInteger) || !Array.isArray(items)) return false;
  return Object.keys(others).length === 0 && items.every(isObject);
}

@ApiSchema({ description: 'Body of every error response.' })
export class ErrorResponse {
  @Int32({ min: 400, max: 599, description: 'HTTP status code.' })
  status: number;
  @Text({ description: 'Error message: the name of the status, or the field that is missing or invalid.' })
  error: string;
}
