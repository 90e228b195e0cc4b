import { type CallHandler, type ExecutionContext, Injectable, type NestInterceptor } from '@nestjs/common';
import type { Request } from 'express';
import type { Observable } from 'rxjs';
import type { LimitedCaller } from '../http/pipeline/caller';
import { KEY_SCOPES, type OwnRecord, ownRecordOf, scopesOf } from '../http/pipeline/scopes';
import { isUuid } from '../fields/text';
import { Config } from '../config';
import { Statements } from '../data/database/statements';
import { OutOfScope } from '../errors/exceptions';

/**
 * A row if the key `$4` has created the record `$3` of the resource `$2` in the last 24 hours, and the audit log has nothing
 * else of it.
 */
export const IS_OWN_FRESH_RECORD = {
  name: 'access.isOwnFreshRecord',
  text: `
    select 'true' from audit_log
    where organization_id = $1 and resource = $2 and id = $3
    having bool_and(key_id = $4 and import_id is null and change <> 'd') is true
      and bool_or(change = 'c' and at > now() - interval '24 hours')
      and count(key_id) = count(*)`,
};

/** Rejects what the scope of the key does not allow, before anything else of the request is looked at. */
@Injectable()
export class ScopeInterceptor implements NestInterceptor {
  constructor(
    private readonly statements: Statements,
    private readonly config: Config,
  ) {}

  /** @throws OutOfScope */
  async intercept(context: ExecutionContext, next: CallHandler): Promise<Observable<unknown>> {
    if (context.getType() !== 'http') return next.handle();
    const request = context.switchToHttp().getRequest<Request>();
    const { caller } = request;
    if (!caller || caller.scope === 'all') return next.handle();
    const scopes = scopesOf(context, request.method);
    if (scopes.includes(caller.scope)) return next.handle();
    const ownRecord = ownRecordOf(context);
    const mayOwn = caller.scope === 'capture' && ownRecord !== undefined;
    if (mayOwn && (await this.isOwn(caller, ownRecord, request))) return next.handle();
    throw new OutOfScope(KEY_SCOPES.filter((scope) => scopes.includes(scope) || (ownRecord && scope === 'capture')));
  }

  private async isOwn(
    caller: LimitedCaller,
    { resource, parameter }: OwnRecord,
    { params }: Request,
  ): Promise<boolean> {
    const id = params[parameter];
    // Without an audit log nobody knows who created it.
    if (this.config.auditDays === 0 || typeof id !== 'string' || !isUuid(id)) return false;
    const rows = await this.statements.selectJson(caller, IS_OWN_FRESH_RECORD, [resource, id, caller.keyId]);
    return rows.length > 0;
  }
}
