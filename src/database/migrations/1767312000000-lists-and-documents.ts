import { MigrationInterface, QueryRunner } from 'typeorm';
import { LISTS } from '../lists';
import { forgetList, LIST_BLOCKS, trackList } from '../list-triggers';

const { tagGroups, events, leads, activations, eventLeads, industryEvents } = LISTS;
const { leadActivityEvents, leadActivityEventsByLead, leadActivityEventsByType } = LISTS;
const FIRST = [
  ...[tagGroups, events, leads, activations, eventLeads, industryEvents],
  ...[leadActivityEvents, leadActivityEventsByLead, leadActivityEventsByType],
];

/**
 * Pages and totals that do not depend on a list's length (docs/decisions/0007), and the stored JSON of leads
 * (docs/decisions/0009). Both are kept by the database itself, in the transaction of the change, whoever makes it.
 */
export class ListsAndDocuments1767312000000 implements MigrationInterface {
  async up(db: QueryRunner): Promise<void> {
    await lists(db);
    for (const list of FIRST) await db.query(trackList(list));
    await places(db);
    await documents(db);
  }

  async down(db: QueryRunner): Promise<void> {
    await db.query(`
      drop trigger leads_rendered on leads;
      drop trigger tag_options_rendered on tag_options;
      drop function store_lead_document(), render_leads_of_tag_option();
      drop function render_leads_of_rows(), render_leads_of_row() cascade; -- with their triggers
      drop function render_leads(integer, uuid[]);
      alter table leads drop column document;
      drop function lead_document(leads), with_remote_id(jsonb, jsonb);
      alter table leads reset (toast_tuple_target);
      alter table lead_tags alter constraint lead_tags_lead_fkey not deferrable;
      alter table lead_activations alter constraint lead_activations_lead_fkey not deferrable;

      drop trigger leads_place on leads;
      drop trigger events_place on events;
      drop trigger industry_events_place on industry_events;
      drop function place_at_end(), moment_at_end(regclass, integer), uuid_of(timestamptz);
      alter table leads alter created_at set default now();
      alter table events alter created_at set default now();
      alter table industry_events alter created_at set default now();
    `);
    for (const list of FIRST) await db.query(forgetList(list));
    await db.query(`
      drop function defer_lists(), defer_list(text, integer, text, bigint, timestamptz), settle_lists(),
        shift_list(bigint, integer, list_place[]), list_stretch(bigint, integer), in_order(bigint[]),
        draw_boundaries(bigint, integer, integer, bigint, bigint[], timestamptz[], uuid[]);
      drop table list_blocks, lists;
      drop type list_place;
    `);
  }
}

const lists = (db: QueryRunner): Promise<unknown> =>
  db.query(`
    -- A place in a list.
    create type list_place as (at timestamptz, id uuid);

    create table lists (
      id bigint generated always as identity constraint lists_id_key unique,
      name text not null,
      organization_id integer not null, -- 0 when the list is everybody's
      parent text not null, -- what the list is restricted to (an event's id, a type), '' for nothing
      total bigint not null,
      tail bigint not null, -- rows from the last boundary on
      tail_from timestamptz not null default '-infinity', -- the last boundary's moment
      blocks integer[] not null default '{}', -- in their order
      ranks bigint[] not null default '{}', -- rows before each block
      version uuid, -- of a list that is everybody's: another one after each change
      constraint lists_pkey primary key (name, organization_id, parent)
    ) with (fillfactor = 50);
    -- in pieces of their own, so that counting copies a pointer
    alter table lists alter blocks set storage external, alter ranks set storage external;
    ${LIST_BLOCKS}
  `);

/**
 * A new row without a moment of its own comes last: its transaction takes a lock that others of the organization wait
 * for, and then looks at the clock. So rows become visible in the order of their moments, and a client that pages
 * through while others write sees none twice.
 */
const places = (db: QueryRunner): Promise<unknown> =>
  db.query(`
    -- A uuid of version 7 whose first 60 free bits are the moment in quarters of a microsecond: ids of one millisecond
    -- are in the order of their moments too (RFC 9562, section 6.2, method 3).
    create function uuid_of(moment timestamptz) returns uuid language plpgsql as $$
    declare
      micros bigint := extract(epoch from moment) * 1000000;
    begin
      return lpad(to_hex(micros / 1000), 12, '0') || '7' || lpad(to_hex(micros % 1000 * 4), 3, '0')
        || substr(replace(gen_random_uuid()::text, '-', ''), 17);
    end $$;

    -- The moment of new rows of an organization: no later transaction of it has an earlier one, unless the clock is set
    -- back.
    create function moment_at_end(of_table regclass, owner integer) returns timestamptz language plpgsql as $$
    begin
      perform pg_advisory_xact_lock(of_table::oid::integer, owner);
      return clock_timestamp();
    end $$;

    create function place_at_end() returns trigger language plpgsql as $$
    declare
      owner integer := 0;
      moment timestamptz;
      last_moment timestamptz;
    begin
      if tg_table_name <> 'industry_events' then
        owner := new.organization_id;
      end if;
      moment := moment_at_end(tg_relid, owner);
      if tg_table_name <> 'events' then
        new.id := coalesce(new.id, uuid_of(moment));
      else
        -- An event's number is drawn before the lock is held, so its moment alone must say its place.
        select date_trunc('milliseconds', max(created_at)) into last_moment from events
          where organization_id = owner and created_at < moment + interval '1 second';
        moment := greatest(moment, last_moment + interval '1 millisecond');
      end if;
      new.created_at := date_trunc('milliseconds', moment);
      return new;
    end $$;

    alter table leads alter created_at drop default;
    alter table events alter created_at drop default;
    alter table industry_events alter created_at drop default;
    create trigger leads_place before insert on leads
      for each row when (new.created_at is null) execute function place_at_end();
    create trigger events_place before insert on events
      for each row when (new.created_at is null) execute function place_at_end();
    create trigger industry_events_place before insert on industry_events
      for each row when (new.created_at is null) execute function place_at_end();
  `);

const documents = (db: QueryRunner): Promise<unknown> =>
  db.query(`
    -- The JSON of a lead as the API shows it: the one place that renders it.
    create function lead_document(lead leads) returns text language plpgsql stable as $$
    begin
      return (select row_to_json(r)::text from (
        select lead.id, to_char(lead.created_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as "createdAt",
          lead.is_enriched as "isEnriched", lead.first_name as "firstName", lead.last_name as "lastName", lead.email,
          lead.description, lead.linkedin, lead.facebook, lead.twitter, lead.job_title as "jobTitle", lead.address,
          (select row_to_json(o) from (select lead.lead_provided_phone_numbers as "leadProvided",
            lead.service_provided_phone_numbers as "serviceProvided") o) as "phoneNumbers",
          (select row_to_json(o) from (select lead.company_name as name, lead.company_industry as industry,
            lead.company_linkedin as linkedin, lead.company_street_address as "streetAddress",
            lead.company_city as city, lead.company_state as state, lead.company_zip as zip,
            lead.company_country as country) o) as company,
          lead.number_of_scans as "numberOfScans", lead.last_scanned_by as "lastScannedBy",
          coalesce((select json_agg(row_to_json(o)) from (
            select a.activation_id as "activationId", a.checked_in as "checkedIn", a.registered
            from lead_activations a where a.organization_id = lead.organization_id and a.lead_id = lead.id
            order by a.position) o), '[]'::json) as activations,
          coalesce((select json_agg(row_to_json(o)) from (
            select t.tag_option_id as "tagOptionId", (select o.value from tag_options o
              where o.organization_id = t.organization_id and o.id = t.tag_option_id) as value
            from lead_tags t where t.organization_id = lead.organization_id and t.lead_id = lead.id
            order by t.position) o), '[]'::json) as tags,
          coalesce((select json_agg(e.id order by e.created_at, e.id) from lead_activity_events e
            where e.organization_id = lead.organization_id and e.lead_id = lead.id), '[]'::json) as "leadActivityEvents",
          lead.remote_ids as "remoteIds", lead.personal_emails as "personalEmails",
          lead.professional_emails as "professionalEmails"
      ) r);
    end $$;

    -- Remote ids with the one of an integration type replaced where it stands, added at the end, or (null) removed.
    create function with_remote_id(all_ids jsonb, changed jsonb) returns jsonb language sql immutable as $$
      select coalesce(jsonb_agg(value order by n), '[]') from (
        select n, case when value -> 'integrationType' = changed -> 'integrationType'
          then changed else value end as value from jsonb_array_elements(all_ids) with ordinality e (value, n)
        union all
        select null, changed
          where not all_ids @> jsonb_build_array(jsonb_build_object('integrationType', changed -> 'integrationType'))
      ) ids
      where value ->> 'id' is not null
    $$;

    alter table leads add document text;
    -- Whole rows in their place, not pressed and not in pieces elsewhere: a page is read by walking the table.
    alter table leads set (toast_tuple_target = 8160);
    update leads set document = lead_document(leads);
    alter table leads alter document set not null;

    create function store_lead_document() returns trigger language plpgsql as $$
    begin
      new.document := lead_document(new);
      return new;
    end $$;
    -- Triggers run in the order of their names, and this one needs what leads_place gives.
    create trigger leads_rendered before insert or update on leads for each row execute function store_lead_document();

    -- An update of a lead renders it anew. One by one, in the order of their ids: so that two changes do not lock each
    -- other out, and because the plan of one look-up is good at any size of the table.
    create function render_leads(of_organization integer, ids uuid[]) returns void language plpgsql as $$
    declare
      lead_id uuid;
    begin
      for lead_id in select distinct i from unnest(ids) i order by i loop
        update leads set document = '' where organization_id = of_organization and id = lead_id;
      end loop;
    end $$;

    create function render_leads_of_rows() returns trigger language plpgsql as $$
    begin
      perform render_leads(organization_id, array_agg(lead_id)) from changed group by organization_id;
      return null;
    end $$;

    create function render_leads_of_row() returns trigger language plpgsql as $$
    begin
      perform render_leads(old.organization_id, array[old.lead_id, new.lead_id]);
      return null;
    end $$;

    create function render_leads_of_tag_option() returns trigger language plpgsql as $$
    begin
      perform render_leads(new.organization_id, array(
        select lead_id from lead_tags where organization_id = new.organization_id and tag_option_id = new.id));
      return null;
    end $$;

    create trigger tag_options_rendered after update on tag_options
      for each row when (old.value is distinct from new.value) execute function render_leads_of_tag_option();
    ${renderedWith('lead_tags', 'lead_id, tag_option_id, position')}
    ${renderedWith('lead_activations', 'lead_id, activation_id, position, registered, checked_in')}
    ${renderedWith('lead_activity_events', 'lead_id, id, created_at')}

    -- An import writes what belongs to a lead before the lead, which is then rendered once.
    alter table lead_tags alter constraint lead_tags_lead_fkey deferrable;
    alter table lead_activations alter constraint lead_activations_lead_fkey deferrable;
  `);

/** A table whose rows are part of the documents of leads, through these columns. */
const renderedWith = (table: string, columns: string): string => {
  const of = (row: string): string => columns.replace(/\w+/g, `${row}.$&`);
  return `
    create trigger ${table}_rendered_inserted after insert on ${table}
      referencing new table as changed for each statement execute function render_leads_of_rows();
    create trigger ${table}_rendered_deleted after delete on ${table}
      referencing old table as changed for each statement execute function render_leads_of_rows();
    create trigger ${table}_rendered_updated after update on ${table}
      for each row when ((${of('old')}) is distinct from (${of('new')})) execute function render_leads_of_row();`;
};
