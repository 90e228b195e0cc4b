import type { ExecutionContext } from '@nestjs/common';
import { plainToInstance } from 'class-transformer';
import type { Request, Response } from 'express';
import { checkedProperties, toInstance, usesOnlyFieldDecorators } from '../../fields/field-rules';
import { findUnknownPath } from '../../fields/unknown-fields';
import { InvalidField, InvalidRequest } from '../../errors/exceptions';
import { routeArguments } from './handler-metadata';

declare global {
  namespace Express {
    interface Request {
      /** `Prefer: tx=rollback`: a write is carried out and rolled back. */
      isDryRun?: boolean;
      /** `Prefer: handling=strict`: unknown fields, query parameters and preferences are rejected, and ignored simulations. */
      isStrict?: boolean;
      /** Whether the server heeds the `Lanyard-Simulate` of the request. */
      isSimulated?: boolean;
    }
  }
}

/** In a request, the faults that it asks for; in a response, whether the server simulates faults. */
export const SIMULATE_HEADER = 'Lanyard-Simulate';

/** The response repeats at most so many characters of an unknown field. */
const MAX_PATH = 200;

/** A part ends at a comma outside quotes. Quotes that are not closed extend it to the end. */
const HEADER_PARTS = /(?:[^",]|"(?:[^"\\]|\\.)*(?:"|\\?$))+/g;
const TOKEN = "([!#$%&'*+.^_`|~\\w-]+)";
const QUOTED = '"((?:[^"\\\\]|\\\\.)*)"';
/** A name, perhaps with a value, and parameters, which mean nothing here (RFC 7240). */
const PREFERENCE_PATTERN = new RegExp(
  `^${TOKEN}(?:[ \\t]*=[ \\t]*(?:${TOKEN}|${QUOTED})|[ \\t]*=)?[ \\t]*(?:;(?:[^"]|${QUOTED})*)?$`,
);

/** The values of preferences by their names, all in lower case; of several values, the first. */
function preferencesIn(header: string): Record<string, string | undefined> {
  const parts = (header.toLowerCase().match(HEADER_PARTS) ?? []).map((part) => part.trim()).filter(Boolean);
  const all = parts.map((part) => {
    const [, name, token, quoted] = PREFERENCE_PATTERN.exec(part) ?? [];
    // What cannot be read, and says something of `tx`, must not write.
    if (name === undefined) return [/\btx\b/.test(part) ? 'tx' : part, ''];
    return [name, token ?? quoted?.replace(/\\(.)/g, '$1') ?? ''];
  });
  return Object.fromEntries(all.reverse()) as Record<string, string>;
}

/**
 * Reads what a request prefers, and says in its answer what holds.
 * @throws InvalidRequest for a `tx` that is none, a dry run with an Idempotency-Key, an unknown preference in a strict request
 */
export function parsePreferences(request: Request, response: Response): void {
  const { prefer, 'idempotency-key': key } = request.headers;
  if (prefer === undefined) return;
  const { tx: requested, handling = '', ...others } = preferencesIn(String(prefer));
  const tx = /^(POST|PUT|PATCH|DELETE)$/.test(request.method) ? requested : undefined;
  const isTx = tx === 'commit' || tx === 'rollback';
  const applied = [
    ...(isTx ? [`tx=${tx}`] : []),
    ...(/^(strict|lenient)$/.test(handling) ? [`handling=${handling}`] : []),
  ];
  if (applied.length > 0) response.setHeader('Preference-Applied', applied.join(', '));
  request.isDryRun = tx === 'rollback';
  request.isStrict = handling === 'strict';
  if (tx !== undefined && !isTx) throw new InvalidRequest('header Prefer', 'format');
  if (request.isStrict && Object.keys(others).length > 0) throw new InvalidRequest('header Prefer', 'unknown');
  if (request.isDryRun && key !== undefined) throw new InvalidRequest('header Idempotency-Key', 'conflict');
  const isSimulationIgnored = request.headers[SIMULATE_HEADER.toLowerCase()] !== undefined && !request.isSimulated;
  // A test that relies on a fault must not pass because nothing was simulated.
  if (request.isStrict && isSimulationIgnored) throw new InvalidRequest(`header ${SIMULATE_HEADER}`, 'unsupported');
}

/** @throws InvalidRequest or InvalidField for the first field in the order of the request that no parameter declares */
export function rejectUnknownFields(context: ExecutionContext, part: 'QUERY' | 'BODY', sent: object): void {
  const path = unknownField(context, part, sent)?.slice(0, MAX_PATH);
  if (path === undefined) return;
  // What does not look like a name may be anybody's data.
  const fault = part.toLowerCase() + (/^[\w.[\]-]+$/.test(path) ? ` ${path}` : '');
  throw part === 'QUERY' ? new InvalidRequest(fault, 'unknown') : new InvalidField(path, 'unknown', { fault });
}

function unknownField(context: ExecutionContext, part: 'QUERY' | 'BODY', sent: object): string | undefined {
  const parameters = routeArguments(context, part);
  const single = parameters.map(({ name }) => name);
  const others = Object.entries(sent).filter(([name]) => !single.includes(name));
  const whole = parameters.find(({ name }) => name === undefined);
  if (!whole) return others[0]?.[0];
  const { type } = whole;
  // The handler takes anything.
  if (!type || checkedProperties(type).size === 0) return undefined;
  const rest = Object.fromEntries(others);
  // class-transformer would convert unknown fields too, which takes long.
  const known = Object.fromEntries(others.filter(([name]) => checkedProperties(type).has(name)));
  return findUnknownPath(rest, usesOnlyFieldDecorators(type) ? toInstance(type, known) : plainToInstance(type, known));
}
