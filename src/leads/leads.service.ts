import { Injectable } from '@nestjs/common';
import { NOTHING, one } from '../database/json';
import { LISTS } from '../database/lists';
import { lockOf } from '../database/locks';
import { tracked } from '../database/listings';
import { Json, Page, Statements } from '../database/statements';
import { Writes } from '../database/writes';
import type { Caller } from '../http/caller';
import type { PageQuery } from '../api-schema/parameters';
import type { LeadCreateV0Input, LeadPatchV0Input } from './lead.dto';
import { LEAD } from './lead.response';

const LIST = tracked(LISTS.leads, LEAD);

const ONE = { name: 'lead', text: one('select * from leads where organization_id = $1 and id = $2', LEAD) };

/**
 * Leads of one organization become visible one after another, in the order of their list, so they wait for each other's
 * commit; `$2` holds as many as have gathered.
 */
const CREATE = {
  name: 'lead.create',
  text: `
    with given as materialized (
        select * from rows from (jsonb_to_recordset($2) as ("createdByEmail" text, "firstName" text, "lastName" text,
          "companyName" text, email text, "phoneNumbers" jsonb)) with ordinality as g (created_by, first_name, last_name,
          company_name, email, phone_numbers, n)
      ),
      taken as materialized (select list_take($1, 'leads', count(*)) as start from given),
      created as (
        insert into leads (organization_id, position, created_by, first_name, last_name, company_name, email,
          lead_provided_phone_numbers)
        select $1, start + n - 1, created_by, first_name, last_name, company_name, email, coalesce(phone_numbers, '[]')
        from given, taken
        returning position, document
      )
    select document from created order by position`,
};

/** The columns of text that a patch may change, and their fields. */
const TEXTS = {
  first_name: 'firstName',
  last_name: 'lastName',
  email: 'email',
  address: 'address',
  linkedin: 'linkedin',
  facebook: 'facebook',
  twitter: 'twitter',
  profile_picture: 'profilePicture',
  description: 'description',
  job_title: 'jobTitle',
};

/** `$3` is the patch: a field that it lacks leaves its column as it is, null clears it. */
const PATCH = {
  name: 'lead.patch',
  text: one(
    `update leads set
      ${Object.entries(TEXTS)
        .map(
          ([column, field]) => `${column} = case when $3::jsonb ? '${field}' then $3 ->> '${field}' else ${column} end`,
        )
        .join(', ')},
      lead_provided_phone_numbers =
        case when $3 ? 'phoneNumbers' then $3 -> 'phoneNumbers' else lead_provided_phone_numbers end,
      remote_ids = case when $3 ? 'remoteId' then set_remote_id(remote_ids, $3 -> 'remoteId') else remote_ids end
    where organization_id = $1 and id = $2 returning *`,
    LEAD,
  ),
};

/** Foreign keys remove everything that belongs to the lead, from several lists: so the organization's lock comes first. */
const DELETE = {
  name: 'lead.delete',
  text: one(
    `delete from leads where (select ${lockOf('$1')}) is not null and organization_id = $1 and id = $2 returning id`,
    NOTHING,
  ),
};

@Injectable()
export class LeadsService {
  constructor(
    private readonly statements: Statements,
    private readonly writes: Writes,
  ) {}

  list(caller: Caller, page: PageQuery): Promise<Page> {
    return this.statements.page(caller, LIST, [], page);
  }

  get(caller: Caller, leadId: string): Promise<Json> {
    return this.statements.one(caller, ONE, [leadId]);
  }

  create(caller: Caller, input: LeadCreateV0Input): Promise<Json> {
    return this.writes.batched(caller, CREATE, input);
  }

  patch(caller: Caller, leadId: string, input: LeadPatchV0Input): Promise<Json> {
    // Nothing to change; but under an Idempotency-Key this answer, too, is stored.
    if (Object.keys(input).length === 0) return this.writes.one(caller, ONE, [leadId]);
    const patch = input.phoneNumbers === null ? { ...input, phoneNumbers: [] } : input;
    return this.writes.one(caller, PATCH, [leadId, JSON.stringify(patch)]);
  }

  delete(caller: Caller, leadId: string): Promise<Json> {
    return this.writes.oneElseLong(caller, DELETE, [leadId]);
  }
}
