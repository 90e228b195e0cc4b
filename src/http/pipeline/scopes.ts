import { applyDecorators, SetMetadata } from '@nestjs/common';
import { ApiExtension } from '@nestjs/swagger';
import { declaredFor, type HandlerContext, oncePerHandler } from './handler-metadata';

/** What requests with a key may do: everything, read, or what an app at a booth needs. */
export const KEY_SCOPES = ['all', 'read', 'capture'] as const;
export type Scope = (typeof KEY_SCOPES)[number];

const SCOPES_METADATA = 'lanyard:scopes';
const OWN_RECORD_METADATA = 'lanyard:own record';

/** Where the OpenAPI document finds that a handler is open to a scope: one place each, as a controller may add others. */
export const scopeExtension = (scope: Scope): `x-${string}` => `x-lanyard-scope-${scope}`;

const describeScopes = (scopes: readonly Scope[]) => scopes.map((scope) => ApiExtension(scopeExtension(scope), true));

/** Adds scopes to those that may call a handler by default: `all`, and for GET and HEAD also `read`. */
export const Scopes = (...scopes: Scope[]): MethodDecorator & ClassDecorator =>
  applyDecorators(SetMetadata(SCOPES_METADATA, scopes), ...describeScopes(scopes));

/** A record that the key itself may have created, and the parameter of the path that names it. */
export interface OwnRecord {
  resource: string;
  parameter: string;
}

/**
 * Lets a key of scope `capture` call the handler for a record that this key has created in the last 24 hours, and that nothing
 * else has changed since.
 */
export const OpenToCreator = (resource: string, parameter: string): MethodDecorator =>
  applyDecorators(
    SetMetadata(OWN_RECORD_METADATA, { resource, parameter } satisfies OwnRecord),
    ...describeScopes(['capture']),
  );

/** The scopes that may send a request with this method, whatever the record is. */
export const scopesOfMethod = (method: string, added: readonly Scope[]): Scope[] => {
  const isRead = ['GET', 'HEAD'].includes(method.toUpperCase());
  return KEY_SCOPES.filter((scope) => scope === 'all' || (scope === 'read' && isRead) || added.includes(scope));
};

const declaredScopes = oncePerHandler((context) => ({
  added: declaredFor<Scope>(context, SCOPES_METADATA),
  ownRecord: Reflect.getMetadata(OWN_RECORD_METADATA, context.getHandler()) as OwnRecord | undefined,
}));

export const scopesOf = (context: HandlerContext, method: string): Scope[] =>
  scopesOfMethod(method, declaredScopes(context).added);

export const ownRecordOf = (context: HandlerContext): OwnRecord | undefined => declaredScopes(context).ownRecord;

/** All scopes that may call a handler, for any record or for those that their key has created. */
export function requiredScopesOf(context: HandlerContext, method: string): Scope[] {
  const scopes = scopesOf(context, method);
  return KEY_SCOPES.filter((scope) => scopes.includes(scope) || (scope === 'capture' && ownRecordOf(context)));
}
