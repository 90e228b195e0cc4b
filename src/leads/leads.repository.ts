import { Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import { fieldsOf } from '../api-schema/fields';
import { columnOf } from '../database/data-source';
import { Overloaded } from '../database/errors';
import { lockOf } from '../database/locks';
import { arrivalList, lookupList } from '../database/paginate';
import { type Json, type Page, Statements } from '../database/statements';
import { Writes } from '../database/writes';
import type { Caller } from '../http/caller';
import {
  type LeadCreateV0Input,
  LeadPatchV0Input,
  type LeadsQuery,
  type LeadUpsertV0Input,
  type MatchBy,
} from './lead.dto';
import { LEAD } from './lead.response';

const list = { table: 'leads', item: LEAD };
const LIST = arrivalList(list);

/** As `organization_id = $1`, but no condition of an index: what is looked for has an index of its own, with the organization. */
const OWN = '(organization_id = $1) is true';
const hasEmail = (email: string): string =>
  `email is not null and email_key(organization_id, email) = email_key($1, ${email})`;
const hasRemoteId = (integrationType: string, id: string): string =>
  `remote_ids <> '[]' and
    remote_id_keys(organization_id, remote_ids) @> array[remote_id_key($1, ${integrationType}, ${id})]`;

const BY_EMAIL = lookupList({ ...list, name: 'leads.byEmail', where: `${OWN} and ${hasEmail('$2')}` });
const BY_REMOTE_ID = lookupList({
  ...list,
  name: 'leads.byRemoteId',
  where: `${OWN} and ${hasRemoteId('$2', '$3')}`,
});
const BY_EMAIL_AND_REMOTE_ID = lookupList({
  ...list,
  name: 'leads.byEmailAndRemoteId',
  where: `${OWN} and ${hasEmail('$2')} and ${hasRemoteId('$3', '$4')}`,
});

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

/** Columns that a patch changes, with the SQL of their new values: a field that is left out keeps its column, null clears it. */
const patched = (patch: string): [column: string, value: string][] => [
  ...fieldsOf(LeadPatchV0Input)
    .filter((field) => !['phoneNumbers', 'remoteId'].includes(field))
    .map((field): [string, string] => [
      columnOf(field),
      `case when ${patch} ? '${field}' then ${patch} ->> '${field}' else ${columnOf(field)} end`,
    ]),
  [
    'lead_provided_phone_numbers',
    `case when ${patch} ? 'phoneNumbers' then coalesce(nullif(${patch} -> 'phoneNumbers', 'null'), '[]')
        else coalesce(lead_provided_phone_numbers, '[]') end`,
  ],
  [
    'remote_ids',
    `case when ${patch} ? 'remoteId' then set_remote_id(coalesce(remote_ids, '[]'), ${patch} -> 'remoteId')
        else coalesce(remote_ids, '[]') end`,
  ],
];

const PATCH = {
  name: 'lead.patch',
  text: `
    update leads set
      ${patched('$3::jsonb')
        .map(([column, value]) => `${column} = ${value}`)
        .join(',\n      ')}
    where organization_id = $1 and id = $2
    returning ${LEAD}`,
};

/**
 * Other writers of the list wait, so that what a batch does not find is not created meanwhile. Without scans of the table,
 * for which a plan of 200 look-ups may have been made when there were few leads.
 */
const LOCK_LIST = {
  name: 'leads.lock',
  text: `select set_config('enable_seqscan', 'off', true) from list_take($1, 'leads', 0)`,
};

/**
 * For each of the JSON array of values `$2` the lead to update, which is locked in the order of ids.
 * @param key SQL by which two values are the same, from a `value`
 * @param has the condition of a lead that has the `value`
 */
const match = (name: string, key: string, has: string) => ({
  name,
  text: `
    with given as materialized (
        select value, n, min(n) over (partition by ${key}) as first
        from jsonb_array_elements($2::jsonb) with ordinality g (value, n)
      ),
      found as materialized (
        select value, n, first,
          -- The offset keeps PostgreSQL from looking for the value lead by lead in the order of the list.
          (select id from (select id, position from leads where ${OWN} and ${has} offset 0) leads
            order by position limit 1) as id
        from given
      ),
      locked as materialized (
        select * from leads where ${OWN} and id = any(array(select id from found)) order by id for no key update
      )
    select json_build_object('id', found.id, 'first', first - 1, 'isLocked', leads.id is not null)::text
    from found left join locked leads on leads.id = found.id and ${has} order by n`,
});

const EMAIL = `value #>> '{}'`;
const MATCH = {
  email: match('leads.matchEmail', `lower(${EMAIL})`, hasEmail(EMAIL)),
  remoteId: match('leads.matchRemoteId', 'value', hasRemoteId(`value ->> 'integrationType'`, `value ->> 'id'`)),
};

const PATCHED = patched('entry');
const COLUMNS = PATCHED.map(([column]) => column);
const columnsOf = (row: string): string => COLUMNS.map((column) => `${row}.${column}`).join(', ');

/** `$2` is an array of entries, `$3` the ids of the leads that they update, null where one creates. */
const UPSERT = {
  name: 'leads.upsert',
  text: `
    with stored as materialized (select * from leads where ${OWN} and id = any($3::uuid[])),
      wanted as materialized (
        select given.id, n, row_number() over (partition by given.id is null order by n) - 1 as nth,
          entry ->> 'createdByEmail' as created_by, entry ->> 'companyName' as company_name, document,
          ${PATCHED.map(([column, value]) => `${value} as ${column}`).join(',\n          ')}
        from rows from (jsonb_array_elements($2::jsonb), unnest($3::uuid[])) with ordinality as given (entry, id, n)
          left join stored on stored.id = given.id
      ),
      updated as (
        update leads set ${COLUMNS.map((column) => `${column} = w.${column}`).join(', ')}
        from wanted w
        where ${OWN} and leads.id = any($3) and leads.id = w.id and (${columnsOf('leads')}) is distinct from (${columnsOf('w')})
        returning w.n, leads.document
      ),
      taken as materialized (
        select list_take($1, 'leads', count(*)) as start from wanted where id is null having count(*) > 0
      ),
      created as (
        insert into leads (organization_id, position, created_by, company_name, ${COLUMNS.join(', ')})
        select $1, start + nth, created_by, w.company_name, ${columnsOf('w')}
        from wanted w, taken where id is null order by nth
        returning position, document
      )
    select format('{"outcome":"%s","lead":%s}',
      case when c.nth is not null then 'created' when u.n is not null then 'updated' else 'unchanged' end,
      coalesce(c.document, u.document, w.document))
    from wanted w left join updated u on u.n = w.n
      left join (select position - start as nth, document from created, taken) c on w.id is null and c.nth = w.nth
    order by w.n`,
};

/** What an entry of a batch found: the lead to update, and the first entry that looks for the same value. */
export interface Match {
  id: string | null;
  /** zero-based */
  first: number;
}

/** Foreign keys remove what belongs to the lead, from several lists: so the organization's lock comes first. */
const DELETE = {
  name: 'lead.delete',
  text: `
    delete from leads where (select ${lockOf('$1')}) is not null and organization_id = $1 and id = $2 returning ''`,
};

/** Two were seen when all leads of a batch were changed at once. */
const MAX_MATCH_ATTEMPTS = 10;

const noMatch = (_: unknown, n: number): Match => ({ id: null, first: n });

@Injectable()
export class LeadsRepository {
  constructor(
    private readonly statements: Statements,
    private readonly writes: Writes,
  ) {}

  list(caller: Caller, { email, remoteId, integrationType, ...page }: LeadsQuery): Promise<Page> {
    const ofRemoteId = [integrationType, remoteId];
    if (email && remoteId) {
      return this.statements.paginate(caller, BY_EMAIL_AND_REMOTE_ID, [email, ...ofRemoteId], page);
    }
    if (email) return this.statements.paginate(caller, BY_EMAIL, [email], page);
    if (remoteId) return this.statements.paginate(caller, BY_REMOTE_ID, ofRemoteId, page);
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

  /**
   * Updates the lead that an entry matches, or creates one. Entries that match one lead by different remote ids count as
   * one, in which the later field wins.
   * @param check is given what was found, and throws when the batch may not be written
   * @returns the JSON texts of the outcomes in the order of the entries
   */
  upsert(
    caller: Caller,
    matchBy: MatchBy,
    leads: LeadUpsertV0Input[],
    check: (matches: Match[]) => void,
  ): Promise<Json[]> {
    return this.writes.transaction(caller, async (manager) => {
      await this.statements.one(caller, LOCK_LIST, [], { manager });
      const matches = matchBy === 'none' ? leads.map(noMatch) : await this.match(caller, matchBy, leads, manager);
      check(matches);
      const entries = new Map<string | number, object>();
      const keys = matches.map(({ id }, n) => id ?? n);
      for (const [n, key] of keys.entries()) entries.set(key, { ...entries.get(key), ...leads[n] });
      const ids = [...entries.keys()].map((key) => (typeof key === 'string' ? key : null));
      const values = [JSON.stringify([...entries.values()]), ids];
      const outcomes = await this.statements.all(caller, UPSERT, values, { manager });
      const outcomeOf = new Map([...entries.keys()].map((key, n) => [key, outcomes[n]]));
      return keys.map((key) => outcomeOf.get(key) as Json);
    });
  }

  /**
   * While it waits for the lock of a lead, others may delete that lead, or change its value: then it looks again. What is
   * locked stays so, so it need not wait as often again.
   */
  private async match(
    caller: Caller,
    matchBy: keyof typeof MATCH,
    leads: LeadUpsertV0Input[],
    manager: EntityManager,
  ): Promise<Match[]> {
    const values = JSON.stringify(leads.map((lead) => lead[matchBy]));
    for (let attempt = 1; attempt <= MAX_MATCH_ATTEMPTS; attempt++) {
      const rows = await this.statements.all(caller, MATCH[matchBy], [values], { manager });
      const matches = rows.map((row) => JSON.parse(row) as Match & { isLocked: boolean });
      if (matches.every(({ id, isLocked }) => id === null || isLocked)) return matches;
    }
    throw new Overloaded('The leads of a batch change all the time');
  }

  async delete(caller: Caller, leadId: string): Promise<void> {
    await this.writes.oneElseLong(caller, DELETE, [leadId]);
  }
}
