import type { ParamsOption, RequestBodyOption } from 'openapi-fetch';
import type { paths as Paths } from './schema';

export type Method = 'get' | 'post' | 'put' | 'patch' | 'delete';

/** The paths that have the method. */
export type PathOf<M extends Method> = {
  [Path in keyof Paths]: Paths[Path] extends Record<M, { responses: unknown }> ? Path : never;
}[keyof Paths];

type Operation<M extends Method, Path extends keyof Paths> = Paths[Path][M];

/** What an operation takes: `params.path`, `params.query`, `body`. */
export type Input<M extends Method, Path extends keyof Paths> = ParamsOption<Operation<M, Path>> &
  RequestBodyOption<Operation<M, Path>>;

type Answer<M extends Method, Path extends keyof Paths> =
  Operation<M, Path> extends { responses: { 200: { content: { 'application/json': infer Body } } } } ? Body : never;

/** `results` of the answer. */
export type Results<M extends Method, Path extends keyof Paths> =
  Answer<M, Path> extends { results: infer Found } ? Found : never;

/** The paths that are read page by page. */
export type ListPath = {
  [Path in PathOf<'get'>]: Answer<'get', Path> extends { pagination: unknown } ? Path : never;
}[PathOf<'get'>];

/** One entry of a list. */
export type Item<Path extends ListPath> = {
  [Key in keyof Results<'get', Path>]: Results<'get', Path>[Key] extends (infer Entry)[] ? Entry : never;
}[keyof Results<'get', Path>];
