import { Injectable } from '@nestjs/common';
import type { Request } from 'express';
import { Config } from '../config';
import { Statements } from '../data/database/statements';
import { isUuid } from '../fields/text';
import type { OwnRecord } from '../http/pipeline/scopes';

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

/** The records that keys have created lately, and that nobody else has changed since. */
@Injectable()
export class OwnRecords {
  constructor(
    private readonly statements: Statements,
    private readonly config: Config,
  ) {}

  /** Whether the record that the path names is one of those of the request's key. */
  async isOwn({ caller, params }: Request, { resource, parameter }: OwnRecord): Promise<boolean> {
    const id = params[parameter];
    // Without an audit log nobody knows who created it.
    if (!caller || this.config.auditDays === 0 || typeof id !== 'string' || !isUuid(id)) return false;
    const rows = await this.statements.selectJson(caller, IS_OWN_FRESH_RECORD, [resource, id, caller.keyId]);
    return rows.length > 0;
  }
}
