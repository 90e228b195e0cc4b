-- The SQL that src/access composes, as PostgreSQL gets it. npm run sql writes this file.

-- Functions

CREATE OR REPLACE FUNCTION public.audit_follows_delete(of_table oid)
 RETURNS boolean
 LANGUAGE sql
 STABLE
AS $function$
  -- Null before the first delete of a connection, which is not the same as false in a condition.
  select coalesce(current_setting('lanyard.deleted_at', true), '') = statement_timestamp()::text
    and (
      pg_trigger_depth() > 1
        or exists (select from pg_constraint where conrelid = of_table and contype = 'f' and confdeltype = 'n')
    )
$function$;

CREATE
  OR REPLACE FUNCTION
    public.audit_records(resource text, change text, organizations integer[], integers bigint[], uuids uuid[])
 RETURNS void
 LANGUAGE plpgsql
AS $function$
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
    select coalesce(r.organization, nullif(split_part(actors[1], '|', 1), '')::integer, 0),
      split_part(actors[1], '|', 2),
      nullif(split_part(actors[1], '|', 3), '')::uuid, import, audit_records.resource, left(audit_records.change, 1),
      r.event_id, r.id
    from unnest(organizations, integers, uuids) r (organization, event_id, id);
  else
    insert into audit_log (organization_id, operation, key_id, import_id, resource, change, event_id, id)
    select coalesce(r.organization, nullif(split_part(actors[n], '|', 1), '')::integer, 0),
      split_part(actors[n], '|', 2),
      nullif(split_part(actors[n], '|', 3), '')::uuid, import, audit_records.resource, left(audit_records.change, 1),
      r.event_id, r.id
    from unnest(organizations, integers, uuids) with ordinality r (organization, event_id, id, n);
  end if;
end $function$;
