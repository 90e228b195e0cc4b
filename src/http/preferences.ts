import type { ExecutionContext, Type } from '@nestjs/common';
import { plainToInstance } from 'class-transformer';
import type { Request, Response } from 'express';
import { checkedProperties, instanceOf, isObject, isOfFields } from '../api-schema/fields';
import { InvalidField, InvalidRequest } from './errors';
import { ROUTE_ARGS_METADATA, RouteParamtypes } from './nest-internals';

declare module 'express-serve-static-core' {
  interface Request {
    /** `Prefer: tx=rollback`: a write is carried out and rolled back */
    isDryRun?: boolean;
    /** `Prefer: handling=strict`: what nobody knows is refused */
    isStrict?: boolean;
  }
}

/** Characters of an unknown field that an answer repeats. */
const MAX_PATH = 200;

/** Up to a comma that stands in no quotes; where these are not closed, up to the end. */
const PIECES = /(?:[^",]|"(?:[^"\\]|\\.)*(?:"|\\?$))+/g;
const TOKEN = "([!#$%&'*+.^_`|~\\w-]+)";
const QUOTED = '"((?:[^"\\\\]|\\\\.)*)"';
/** A name, perhaps with a value, and parameters, which mean nothing here (RFC 7240). */
const PREFERENCE = new RegExp(
  `^${TOKEN}(?:[ \\t]*=[ \\t]*(?:${TOKEN}|${QUOTED})|[ \\t]*=)?[ \\t]*(?:;(?:[^"]|${QUOTED})*)?$`,
);

/** The values of preferences by their names, all in lower case; of several values, the first. */
function preferencesIn(header: string): Record<string, string | undefined> {
  const pieces = (header.toLowerCase().match(PIECES) ?? []).map((piece) => piece.trim()).filter(Boolean);
  const all = pieces.map((piece) => {
    const [, name, token, quoted] = PREFERENCE.exec(piece) ?? [];
    // What cannot be read, and says something of `tx`, must not write.
    if (name === undefined) return [/\btx\b/.test(piece) ? 'tx' : piece, ''];
    return [name, token ?? quoted?.replace(/\\(.)/g, '$1') ?? ''];
  });
  return Object.fromEntries(all.reverse()) as Record<string, string>;
}

/**
 * Reads what a request prefers, and says in its answer what holds.
 * @throws InvalidRequest for a `tx` that is none, a dry run with an Idempotency-Key, an unknown preference in a strict request
 */
export function applyPreferences(request: Request, response: Response): void {
  const { prefer, 'idempotency-key': key } = request.headers;
  if (prefer === undefined) return;
  const { tx: asked, handling = '', ...others } = preferencesIn(String(prefer));
  const tx = /^(POST|PUT|PATCH|DELETE)$/.test(request.method) ? asked : undefined;
  const isTx = tx === 'commit' || tx === 'rollback';
  const applied = [
    ...(isTx ? [`tx=${tx}`] : []),
    ...(/^(strict|lenient)$/.test(handling) ? [`handling=${handling}`] : []),
  ];
  if (applied.length > 0) response.setHeader('Preference-Applied', applied.join(', '));
  request.isDryRun = tx === 'rollback';
  request.isStrict = handling === 'strict';
  const isUnknown = request.isStrict && Object.keys(others).length > 0;
  if (isUnknown || (tx !== undefined && !isTx)) throw new InvalidRequest('header Prefer');
  if (request.isDryRun && key !== undefined) throw new InvalidRequest('header Idempotency-Key');
}

/** @throws InvalidRequest, or InvalidField with the path, for the first field, as they were sent, that no parameter takes */
export function refuseUnknown(context: ExecutionContext, part: 'QUERY' | 'BODY', sent: object): void {
  const path = unknownField(context, RouteParamtypes[part], sent)?.slice(0, MAX_PATH);
  if (path === undefined) return;
  // What does not look like a name may be anybody's data.
  const fault = part.toLowerCase() + (/^[\w.[\]-]+$/.test(path) ? ` ${path}` : '');
  throw part === 'QUERY' ? new InvalidRequest(fault) : new InvalidField(path, fault);
}

/** What a handler without a parameter for it takes of a query; one class, since class-transformer keeps each that it sees. */
class Nothing {}

function unknownField(context: ExecutionContext, part: RouteParamtypes, sent: object): string | undefined {
  const [controller, { name: handler }] = [context.getClass(), context.getHandler()];
  type Parameters = Record<string, { index: number; data?: string }>;
  const all = (Reflect.getMetadata(ROUTE_ARGS_METADATA, controller, handler) ?? {}) as Parameters;
  const parameters = Object.entries(all).flatMap(([name, each]) => (name.startsWith(`${part}:`) ? each : []));
  const whole = parameters.find(({ data }) => data === undefined);
  const types = Reflect.getMetadata('design:paramtypes', controller.prototype as object, handler) as Type<object>[];
  const type = whole ? types[whole.index] : Nothing;
  if (!type || type === Object) return undefined; // a handler that takes anything
  const rest = Object.entries(sent).filter(([name]) => !parameters.some(({ data }) => data === name));
  const known = Object.fromEntries(rest.filter(([name]) => checkedProperties(type).has(name)));
  return unknownIn(Object.fromEntries(rest), isOfFields(type) ? instanceOf(type, known) : plainToInstance(type, known));
}

/** @param made what was made of it, whose class says what it knows */
function unknownIn(sent: object, made: unknown): string | undefined {
  const type = isObject(made) ? ((Object.getPrototypeOf(made) as object).constructor as Type<object>) : Object;
  if (type === Object) return undefined;
  for (const [name, value] of Object.entries(sent) as [string, unknown][]) {
    if (!checkedProperties(type).has(name)) return name;
    const inner = [(made as Record<string, unknown>)[name]].flat();
    for (const [nth, entry] of [value].flat().entries()) {
      const path = isObject(entry) ? unknownIn(entry, inner[nth]) : undefined;
      if (path !== undefined) return `${name}${Array.isArray(value) ? `[${nth}]` : ''}.${path}`;
    }
  }
  return undefined;
}
