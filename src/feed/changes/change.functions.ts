import { auditChanged, type AuditedColumns, auditUpdated } from '../../access/audit.functions';
import { changeTriggers } from '../../data/schema/functions';
import { DATABASE_IDENTITY } from './database-identity';
import type { FeedResource } from './feed-resource';

const COLUMNS = 'organization_id, resource, operation, event_id, id, remote_ids';

/** SQL for the key of a changed record. @param row the row that holds the columns */
const keySql = (columns: { integer?: string; uuid?: string }, row: string): string => {
  const integer = columns.integer ? `${row}.${columns.integer}` : 'null::bigint';
  const uuid = columns.uuid ? `${row}.${columns.uuid}` : 'null::uuid';
  return `${integer}, ${uuid}`;
};

const logTriggers = (table: string): string =>
  changeTriggers('t60_change', table, 'old.* is distinct from new.*', `changes_of_${table}`);

/** The trigger function that logs changes of a record. An update that leaves the rendered record as it is logs nothing. */
const recordFunction = (resource: FeedResource): string => {
  const { name, table, number, recordSql, key, remoteIds, changeDetector } = resource;
  const columns = { integer: key.integer?.column, uuid: key.uuid?.column };
  const rendered = (row: string): string => `(select ${recordSql} from (select ${row}.*) ${table})`;
  const visible = changeDetector ?? rendered;
  const remoteIdsSql = remoteIds ? `case tg_op when 'DELETE' then ${remoteIds.column} end` : 'null';
  const audited: AuditedColumns = { organization: 'organization_id', ...columns, order: 'position' };
  return `
create or replace function changes_of_${table}() returns trigger language plpgsql as $$
begin
  if tg_op <> 'UPDATE' then
    insert into changes (${COLUMNS})
    select organization_id, ${number}, case tg_op when 'INSERT' then 'c' else 'd' end, ${keySql(columns, 'changed')},
      ${remoteIdsSql} from changed;
    ${auditChanged(name, audited)}
  else
    if ${visible('old')} is distinct from ${visible('new')} then
      insert into changes (${COLUMNS}) values (new.organization_id, ${number}, 'u', ${keySql(columns, 'new')}, null);
    end if;
    ${auditUpdated(name, audited)}
  end if;
  return null;
end $$;
${logTriggers(table)}`;
};

/** A record also changes when a row of its child table is inserted, deleted, updated, or moved to another record. */
const childFunction = ({ name: resource, table, number, key, childTable }: FeedResource): string => {
  if (!childTable) return '';
  const { name, parentColumn } = childTable;
  const columns = key.uuid ? { uuid: parentColumn } : { integer: parentColumn };
  const id = (key.uuid ?? key.integer)?.column;
  // A parent that the same transaction writes has an entry of its own.
  const parents = (rows: string): string =>
    `perform audit_records('${resource}', 'updated', array[p.organization_id], ${
      key.uuid ? `null::bigint[], array[p.${id}]` : `array[p.${id}], null::uuid[]`
    }) from ${table} p where p.${id} in (${rows}) and p.xmin::text <> (pg_current_xact_id()::text::bigint & 4294967295)::text;`;
  return `
create or replace function changes_of_${name}() returns trigger language plpgsql as $$
begin
  if tg_op = 'UPDATE' then
    insert into changes (${COLUMNS})
    select new.organization_id, ${number}, 'u', parent.*, null
    from (select ${keySql(columns, 'old')} union select ${keySql(columns, 'new')}) parent;
    ${parents(`old.${parentColumn}, new.${parentColumn}`)}
  else
    insert into changes (${COLUMNS})
    select distinct organization_id, ${number}, 'u', ${keySql(columns, 'changed')}, null::jsonb from changed;
    ${parents(`select ${parentColumn} from changed`)}
  end if;
  return null;
end $$;
${logTriggers(name)}
-- Row triggers do not see a truncate, so that the feed would miss it.
create or replace trigger t00_no_truncate before truncate on ${name} execute function refuse();
`;
};

/** The functions and triggers that log the changes of a resource (docs/decisions/0020). */
export const changeFunctions = (resource: FeedResource): string => recordFunction(resource) + childFunction(resource);

/** The functions and triggers of the log itself. */
export const LOG_FUNCTIONS = `
-- A log that was emptied counts as another log, because older cursors may have missed what it lost.
create or replace function new_generation() returns trigger language plpgsql as $$
begin
  update changes_key set generation = generation + 1;
  return null;
end $$;
create trigger t60_new_generation after truncate on changes execute function new_generation();

-- Takes over a log that was written in another database, where its transaction numbers mean something else. All rows are
-- deleted, also those that were written since: every existing cursor becomes invalid, and a new one needs none of them. At
-- most max_rows are deleted at once, so that a caller with a short timeout makes progress, too: 'partial' asks for another
-- call. A row with a future transaction number (is_foreign) was written elsewhere, whatever the identity says.
create or replace function claim_log(max_rows integer, is_foreign boolean) returns text language plpgsql as $$
declare
  deleted integer;
begin
  if pg_is_in_recovery() then
    return 'own';
  end if;
  perform from changes_key where is_foreign or database_identity is distinct from ${DATABASE_IDENTITY} for update;
  if not found then
    return 'own';
  end if;
  delete from changes where ctid = any(array(
    select ctid from changes order by organization_id, resource, xid, seq limit max_rows));
  get diagnostics deleted = row_count;
  if deleted = max_rows then
    return 'partial';
  end if;
  update changes_key set generation = generation + 1, database_identity = ${DATABASE_IDENTITY};
  return 'claimed';
end $$;
`;
