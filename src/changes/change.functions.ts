import { DATABASE_IDENTITY } from './database-identity';
import { type Followed, FOLLOWED } from './followed';

const COLUMNS = 'organization_id, resource, operation, event_id, id, remote_ids';

/** SQL of a change's key. @param columns of the row that have it */
const keyOf = ({ eventId, id }: Followed['key'], row: string): string =>
  `${eventId ? `${row}.${eventId}` : 'null::bigint'}, ${id ? `${row}.${id}` : 'null::uuid'}`;

/** What comes and goes is logged for each statement, for it may be many rows; what changes for each row. */
const triggersOf = (table: string, differs = 'old.* is distinct from new.*'): string => `
create trigger t60_change_inserted after insert on ${table} referencing new table as changed
  for each statement execute function changes_of_${table}();
create trigger t60_change_deleted after delete on ${table} referencing old table as changed
  for each statement execute function changes_of_${table}();
create trigger t60_change_updated after update on ${table} for each row
  when (${differs}) execute function changes_of_${table}();
`;

/** An update that leaves what the record shows is no change of it. */
const ofRecords = ({ table, number, item, key, remoteIds, shown }: Followed): string => {
  const rendered = (row: string): string => `(select ${item} from (select ${row}.*) ${table})`;
  const update = `insert into changes (${COLUMNS}) values (new.organization_id, ${number}, 'u', ${keyOf(key, 'new')}, null)`;
  return `
create or replace function changes_of_${table}() returns trigger language plpgsql as $$
begin
  if tg_op <> 'UPDATE' then
    insert into changes (${COLUMNS})
    select organization_id, ${number}, case tg_op when 'INSERT' then 'c' else 'd' end, ${keyOf(key, 'changed')},
      ${remoteIds ? `case tg_op when 'DELETE' then ${remoteIds} end` : 'null'} from changed;
  ${
    shown
      ? `else
    ${update};`
      : `elsif ${rendered('old')} is distinct from ${rendered('new')} then
    ${update};`
  }
  end if;
  return null;
end $$;
${triggersOf(table, shown && `${shown('old')} is distinct from ${shown('new')}`)}`;
};

/** A record has changed, too, when a row that it shows comes, goes, changes, or goes to another record. */
const ofParts = ({ number, key, parts }: Followed): string => {
  if (!parts) return '';
  const { table, column } = parts;
  const parent = key.id ? { id: column } : { eventId: column };
  return `
create or replace function changes_of_${table}() returns trigger language plpgsql as $$
begin
  if tg_op = 'UPDATE' then
    insert into changes (${COLUMNS})
    select new.organization_id, ${number}, 'u', parent.*, null
    from (select ${keyOf(parent, 'old')} union select ${keyOf(parent, 'new')}) parent;
  else
    insert into changes (${COLUMNS})
    select distinct organization_id, ${number}, 'u', ${keyOf(parent, 'changed')}, null::jsonb from changed;
  end if;
  return null;
end $$;
${triggersOf(table)}`;
};

/** What writes the log of the feed (docs/decisions/0020). */
export const CHANGE_FUNCTIONS = `
${FOLLOWED.map((resource) => ofRecords(resource) + ofParts(resource)).join('')}
create trigger t00_no_truncate before truncate on event_tag_groups execute function refuse();

-- An emptied log is another one, of which older cursors know nothing.
create or replace function new_generation() returns trigger language plpgsql as $$
begin
  update changes_key set generation = generation + 1;
  return null;
end $$;
create trigger t60_new_generation after truncate on changes execute function new_generation();

-- Takes over a log that was written in another database: its transaction numbers mean nothing here. All rows go, also those
-- that were written since, because every cursor begins after this and a new one needs none of them. At most max_rows of them
-- go at once, so that a caller with a short timeout gets on, too: 'partial' asks for another call. A row from the future
-- (is_foreign) was written elsewhere whatever the identity says.
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
