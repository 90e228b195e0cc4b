import { Injectable } from '@nestjs/common';
import { fieldsOf } from '../api-schema/fields';
import type { PageQuery } from '../api-schema/parameters';
import { columnOf } from '../database/data-source';
import { lockOf } from '../database/locks';
import { arrivalList } from '../database/paginate';
import { type Json, type Page, Statements } from '../database/statements';
import { Writes } from '../database/writes';
import type { Caller } from '../http/caller';
import { type LeadCreateV0Input, LeadPatchV0Input } from './lead.dto';
import { LEAD } from './lead.response';

const LIST = arrivalList({ table: 'leads', item: LEAD });

const GET = { name: 'lead.get', text: `select ${LEAD} from leads where organization_id = $1 and id = $2` };

/** `$2` is an array of inputs. Leads of one organization wait for each other's commit in any case, so they are batched. */
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

/** Fields of a patch that replace the column of their name. */
const COLUMNS = fieldsOf(LeadPatchV0Input).filter((field) => !['phoneNumbers', 'remoteId'].includes(field));

/** `$3` is the patch: a field that is left out keeps its column, null clears it. */
const PATCH = {
  name: 'lead.patch',
  text: `
    update leads set
      ${COLUMNS.map((field) => {
        const column = columnOf(field);
        return `${column} = case when $3::jsonb ? '${field}' then $3 ->> '${field}' else ${column} end,`;
      }).join('\n      ')}
      lead_provided_phone_numbers = case when $3 ? 'phoneNumbers'
        then coalesce(nullif($3 -> 'phoneNumbers', 'null'), '[]') else lead_provided_phone_numbers end,
      remote_ids = case when $3 ? 'remoteId' then set_remote_id(remote_ids, $3 -> 'remoteId') else remote_ids end
    where organization_id = $1 and id = $2
    returning ${LEAD}`,
};

/** Foreign keys remove what belongs to the lead, from several lists: so the organization's lock comes first. */
const DELETE = {
  name: 'lead.delete',
  text: `
    delete from leads where (select ${lockOf('$1')}) is not null and organization_id = $1 and id = $2 returning ''`,
};

@Injectable()
export class LeadsRepository {
  constructor(
    private readonly statements: Statements,
    private readonly writes: Writes,
  ) {}

  list(caller: Caller, page: PageQuery): Promise<Page> {
    return this.statements.paginate(caller, LIST, [], page);
  }

  get(caller: Caller, leadId: string): Promise<Json> {
    return this.statements.one(caller, GET, [leadId]);
  }

  create(caller: Caller, input: LeadCreateV0Input): Promise<Json> {
    return this.writes.batched(caller, CREATE, input);
  }

  patch(caller: Caller, leadId: string, input: LeadPatchV0Input): Promise<Json> {
    if (Object.keys(input).length === 0) return this.get(caller, leadId);
    return this.writes.one(caller, PATCH, [leadId, JSON.stringify(input)]);
  }

  async delete(caller: Caller, leadId: string): Promise<void> {
    await this.writes.oneElseLong(caller, DELETE, [leadId]);
  }
}
