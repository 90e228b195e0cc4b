/** Who wrote, by the setting `lanyard.actor` (data/database/actor.ts), and the function that all triggers of the log call. */
export const AUDIT_FUNCTIONS = `
-- Adds an entry for each record. Without organizations, as in the catalog, an entry belongs to that of the actor.
create or replace function audit_records(resource text, change text, organizations integer[], integers bigint[], uuids uuid[])
returns void language plpgsql as $$
declare
  actors constant text[] := string_to_array(coalesce(nullif(current_setting('lanyard.actor', true), ''), '|sql|'), ',');
  import constant uuid := nullif(current_setting('lanyard.import', true), '')::uuid;
begin
  if actors[1] = 'off' or current_setting('lanyard.audit', true) = 'off' then
    return;
  end if;
  -- Several actors have one row each. Otherwise the one is taken apart once, because there may be a million rows.
  if cardinality(actors) = 1 then
    insert into audit_log (organization_id, operation, key_id, import_id, resource, change, event_id, id)
    select coalesce(r.organization, nullif(split_part(actors[1], '|', 1), '')::integer, 0), split_part(actors[1], '|', 2),
      nullif(split_part(actors[1], '|', 3), '')::uuid, import, audit_records.resource, left(audit_records.change, 1),
      r.event_id, r.id
    from unnest(organizations, integers, uuids) r (organization, event_id, id);
  else
    insert into audit_log (organization_id, operation, key_id, import_id, resource, change, event_id, id)
    select coalesce(r.organization, nullif(split_part(actors[n], '|', 1), '')::integer, 0), split_part(actors[n], '|', 2),
      nullif(split_part(actors[n], '|', 3), '')::uuid, import, audit_records.resource, left(audit_records.change, 1),
      r.event_id, r.id
    from unnest(organizations, integers, uuids) with ordinality r (organization, event_id, id, n);
  end if;
end $$;

-- A condition on the rows of the transition table 'changed' of a table: their parents still exist. A row whose parent is
-- gone was deleted with it, by a foreign key.
create or replace function audit_has_parents(of_table oid) returns text language sql stable as $$
  select coalesce(string_agg(format('((%s) is null or exists (select from %s p where (%s) = (%s)))', own[1], parent,
    array_to_string(referenced, ', '), array_to_string(own, ', ')), ' and '), 'true')
  from (
    select confrelid::regclass as parent,
      array(select format('changed.%I', attname) from unnest(conkey) with ordinality k (attnum, n)
        join pg_attribute a on a.attrelid = conrelid and a.attnum = k.attnum order by n desc) as own,
      array(select format('p.%I', attname) from unnest(confkey) with ordinality k (attnum, n)
        join pg_attribute a on a.attrelid = confrelid and a.attnum = k.attnum order by n desc) as referenced
    from pg_constraint where contype = 'f' and confdeltype = 'c' and conrelid = of_table
  ) keys
$$;

-- Whether an update goes with a delete of the same statement: it clears a reference to what is gone, or renders what showed it.
create or replace function audit_follows_delete(of_table oid) returns boolean language sql stable as $$
  -- Null before the first delete of a connection, which is not the same as false in a condition.
  select coalesce(current_setting('lanyard.deleted_at', true), '') = statement_timestamp()::text and (pg_trigger_depth() > 1
    or exists (select from pg_constraint where conrelid = of_table and contype = 'f' and confdeltype = 'n'))
$$;
`;

/** Which columns say whose a record is and name it. */
export interface AuditedColumns {
  organization?: string;
  integer?: string;
  uuid?: string;
  /** The column by which several rows of one statement are those of their callers. */
  order?: string;
}

const PARTS = [
  ['organization', 'integer'],
  ['integer', 'bigint'],
  ['uuid', 'uuid'],
] as const;

/** Statements of a trigger: an entry for each row of the transition table `changed`, but for what goes with a delete. */
export const auditChanged = (resource: string, columns: AuditedColumns): string => {
  const order = columns.order ? ` order by changed.${columns.order}` : '';
  const arrays = PARTS.map(
    ([part, type]) => `array_agg(${columns[part] ? `changed.${columns[part]}` : `null::${type}`}${order})`,
  ).join(', ');
  return `if tg_op = 'INSERT' then
      perform audit_records('${resource}', 'created', ${arrays}) from changed;
    else
      perform set_config('lanyard.deleted_at', statement_timestamp()::text, true);
      execute $sql$ select audit_records('${resource}', 'deleted', ${arrays}) from changed where $sql$
        || audit_has_parents(tg_relid);
    end if;`;
};

/** A statement of a trigger: an entry for the row `new`. */
export const auditUpdated = (resource: string, columns: AuditedColumns): string => {
  const arrays = PARTS.map(([part, type]) => `array[${columns[part] ? `new.${columns[part]}` : `null::${type}`}]`);
  return `if not audit_follows_delete(tg_relid) then
      perform audit_records('${resource}', 'updated', ${arrays.join(', ')});
    end if;`;
};

/** The triggers of a table that the change feed does not follow, such as that of the catalog. */
export const auditFunctions = (table: string, resource: string, columns: AuditedColumns): string => `
create or replace function audit_${table}() returns trigger language plpgsql as $$
begin
  if tg_op = 'UPDATE' then
    ${auditUpdated(resource, columns)}
  else
    ${auditChanged(resource, columns)}
  end if;
  return null;
end $$;
create trigger t60_audit_inserted after insert on ${table} referencing new table as changed
  for each statement execute function audit_${table}();
create trigger t60_audit_deleted after delete on ${table} referencing old table as changed
  for each statement execute function audit_${table}();
create trigger t60_audit_updated after update on ${table} for each row
  when (old.* is distinct from new.*) execute function audit_${table}();
`;
