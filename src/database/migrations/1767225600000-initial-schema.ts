import { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Everything of an organization is keyed by `(organization_id, …)`, and so is every foreign key: the database itself
 * refuses a link between two organizations.
 */
export class InitialSchema1767225600000 implements MigrationInterface {
  async up(db: QueryRunner): Promise<void> {
    await access(db);
    await events(db);
    await leads(db);
    await industryEvents(db);
  }

  async down(db: QueryRunner): Promise<void> {
    await db.query(`
      drop table industry_event_bookmarks, industry_events, lead_activity_events, event_leads, lead_activations,
        lead_tags, leads, activations, event_users, event_tag_groups, events, tag_options, tag_groups, users,
        api_keys, organizations;
      drop function index_industry_event(), words_of(text), event_url_digest(text);
      drop text search configuration lanyard;
    `);
  }
}

const access = (db: QueryRunner): Promise<unknown> =>
  db.query(`
    create table organizations (
      id integer generated always as identity constraint organizations_pkey primary key,
      name text not null,
      created_at timestamptz(3) not null default now()
    );

    create table api_keys (
      id uuid constraint api_keys_pkey primary key,
      organization_id integer not null constraint api_keys_organization_fkey references organizations on delete cascade,
      hash bytea not null constraint api_keys_hash_key unique, -- SHA-256 of the key
      prefix text not null, -- the first characters, for display
      label text,
      max_tokens integer not null,
      refill_rate numeric(10, 3) not null, -- tokens a second
      created_at timestamptz(3) not null default now(),
      expires_at timestamptz(3),
      revoked_at timestamptz(3),
      last_used_at timestamptz(3)
    );
    create index api_keys_organization_idx on api_keys (organization_id, created_at, id);

    create table users (
      id bigint generated always as identity constraint users_pkey primary key,
      organization_id integer not null constraint users_organization_fkey references organizations on delete cascade,
      created_at timestamptz(3) not null default now(),
      email text not null,
      first_name text,
      last_name text,
      constraint users_organization_id_key unique (organization_id, id),
      constraint users_email_key unique (organization_id, email)
    );
  `);

const events = (db: QueryRunner): Promise<unknown> =>
  db.query(`
    create table tag_groups (
      id uuid constraint tag_groups_pkey primary key,
      organization_id integer not null constraint tag_groups_organization_fkey references organizations on delete cascade,
      created_at timestamptz(3) not null default now(),
      name text not null,
      status text not null,
      allows_multiple_selection boolean not null,
      display_order integer not null,
      usage_instructions text,
      required boolean not null,
      all_events boolean not null,
      constraint tag_groups_organization_id_key unique (organization_id, id)
    );
    create index tag_groups_list_idx on tag_groups (organization_id, created_at, id);

    create table tag_options (
      id uuid constraint tag_options_pkey primary key,
      organization_id integer not null,
      tag_group_id uuid not null,
      display_order integer not null,
      value text not null,
      constraint tag_options_organization_id_key unique (organization_id, id),
      constraint tag_options_group_fkey foreign key (organization_id, tag_group_id)
        references tag_groups (organization_id, id) on delete cascade
    );
    create index tag_options_group_idx on tag_options (organization_id, tag_group_id, display_order, id);

    create table events (
      id bigint generated always as identity constraint events_pkey primary key,
      organization_id integer not null constraint events_organization_fkey references organizations on delete cascade,
      -- the name by which datasets refer to an event; an event made through the API gets one of its own
      ref text not null default gen_random_uuid()::text,
      created_at timestamptz(3) not null default now(),
      created_by text,
      name text not null,
      type text not null,
      registration_enabled boolean not null,
      start_date date,
      end_date date,
      location jsonb,
      constraint events_organization_id_key unique (organization_id, id),
      constraint events_ref_key unique (organization_id, ref)
    );
    create index events_list_idx on events (organization_id, created_at, id);

    create table event_tag_groups (
      organization_id integer not null,
      event_id bigint not null,
      tag_group_id uuid not null,
      position integer not null,
      constraint event_tag_groups_pkey primary key (organization_id, event_id, tag_group_id),
      constraint event_tag_groups_event_fkey foreign key (organization_id, event_id)
        references events (organization_id, id) on delete cascade,
      constraint event_tag_groups_tag_group_fkey foreign key (organization_id, tag_group_id)
        references tag_groups (organization_id, id) on delete cascade
    );

    create table event_users (
      organization_id integer not null,
      event_id bigint not null,
      user_id bigint not null,
      constraint event_users_pkey primary key (organization_id, event_id, user_id),
      constraint event_users_event_fkey foreign key (organization_id, event_id)
        references events (organization_id, id) on delete cascade,
      constraint event_users_user_fkey foreign key (organization_id, user_id)
        references users (organization_id, id) on delete cascade
    );

    create table activations (
      id uuid constraint activations_pkey primary key,
      organization_id integer not null,
      event_id bigint not null,
      created_at timestamptz(3) not null default now(),
      created_by text,
      name text not null,
      type text not null,
      start_date date not null,
      end_date date not null,
      start_time time(0) not null,
      end_time time(0) not null,
      location jsonb,
      users text[] not null default '{}', -- e-mail addresses
      number_of_scans integer not null default 0,
      constraint activations_organization_id_key unique (organization_id, id),
      constraint activations_event_fkey foreign key (organization_id, event_id)
        references events (organization_id, id) on delete cascade
    );
    create index activations_list_idx on activations (organization_id, created_at, id);
    create index activations_event_idx on activations (organization_id, event_id);
  `);

const leads = (db: QueryRunner): Promise<unknown> =>
  db.query(`
    create table leads (
      id uuid constraint leads_pkey primary key,
      organization_id integer not null constraint leads_organization_fkey references organizations on delete cascade,
      created_at timestamptz(3) not null default now(),
      created_by text,
      first_name text,
      last_name text,
      email text,
      description text,
      linkedin text,
      facebook text,
      twitter text,
      job_title text,
      address text,
      profile_picture text,
      is_enriched boolean not null default false,
      number_of_scans integer not null default 0,
      last_scanned_by text,
      personal_emails text,
      professional_emails text,
      company_name text,
      company_industry text,
      company_linkedin text,
      company_street_address text,
      company_city text,
      company_state text,
      company_zip text,
      company_country text,
      -- lists of values without a life of their own, replaced as a whole and always read with the lead
      lead_provided_phone_numbers jsonb not null default '[]', -- [{number, type, preferred}]
      service_provided_phone_numbers jsonb not null default '[]',
      remote_ids jsonb not null default '[]', -- [{id, integrationType}], at most one of each integrationType
      constraint leads_organization_id_key unique (organization_id, id)
    );
    create index leads_list_idx on leads (organization_id, created_at, id);

    create table lead_tags (
      organization_id integer not null,
      lead_id uuid not null,
      tag_option_id uuid not null,
      position integer not null,
      constraint lead_tags_pkey primary key (organization_id, lead_id, tag_option_id),
      constraint lead_tags_lead_fkey foreign key (organization_id, lead_id)
        references leads (organization_id, id) on delete cascade,
      constraint lead_tags_tag_option_fkey foreign key (organization_id, tag_option_id)
        references tag_options (organization_id, id) on delete cascade
    );
    create index lead_tags_tag_option_idx on lead_tags (organization_id, tag_option_id);

    create table lead_activations (
      organization_id integer not null,
      lead_id uuid not null,
      activation_id uuid not null,
      position integer not null,
      registered boolean not null,
      checked_in boolean not null,
      constraint lead_activations_pkey primary key (organization_id, lead_id, activation_id),
      constraint lead_activations_lead_fkey foreign key (organization_id, lead_id)
        references leads (organization_id, id) on delete cascade,
      constraint lead_activations_activation_fkey foreign key (organization_id, activation_id)
        references activations (organization_id, id) on delete cascade
    );
    create index lead_activations_activation_idx on lead_activations (organization_id, activation_id);

    create table event_leads (
      organization_id integer not null,
      event_id bigint not null,
      lead_id uuid not null,
      associated_at timestamptz not null, -- the order of the list, in microseconds
      registered boolean not null,
      checked_in boolean not null,
      constraint event_leads_pkey primary key (organization_id, event_id, lead_id),
      constraint event_leads_event_fkey foreign key (organization_id, event_id)
        references events (organization_id, id) on delete cascade,
      constraint event_leads_lead_fkey foreign key (organization_id, lead_id)
        references leads (organization_id, id) on delete cascade
    );
    create index event_leads_list_idx on event_leads (organization_id, event_id, associated_at, lead_id);
    create index event_leads_lead_idx on event_leads (organization_id, lead_id);

    create table lead_activity_events (
      id uuid constraint lead_activity_events_pkey primary key,
      organization_id integer not null,
      created_at timestamptz(3) not null default now(),
      created_by text,
      event_type text not null,
      event_notes text,
      lead_id uuid not null,
      campaign_id uuid,
      event_id bigint,
      activation_id uuid,
      tag_option_id uuid,
      constraint lead_activity_events_lead_fkey foreign key (organization_id, lead_id)
        references leads (organization_id, id) on delete cascade,
      constraint lead_activity_events_event_fkey foreign key (organization_id, event_id)
        references events (organization_id, id) on delete set null (event_id),
      constraint lead_activity_events_activation_fkey foreign key (organization_id, activation_id)
        references activations (organization_id, id) on delete set null (activation_id),
      constraint lead_activity_events_tag_option_fkey foreign key (organization_id, tag_option_id)
        references tag_options (organization_id, id) on delete set null (tag_option_id)
    );
    create index lead_activity_events_list_idx on lead_activity_events (organization_id, created_at, id);
    create index lead_activity_events_lead_idx on lead_activity_events (organization_id, lead_id, created_at, id);
    create index lead_activity_events_type_idx on lead_activity_events (organization_id, event_type, created_at, id);
    create index lead_activity_events_event_idx on lead_activity_events (organization_id, event_id) where event_id is not null;
    create index lead_activity_events_activation_idx on lead_activity_events (organization_id, activation_id) where activation_id is not null;
    create index lead_activity_events_tag_option_idx on lead_activity_events (organization_id, tag_option_id) where tag_option_id is not null;
  `);

const industryEvents = (db: QueryRunner): Promise<unknown> =>
  db.query(`
    create extension if not exists unaccent;
    create text search configuration lanyard (copy = english);
    alter text search configuration lanyard
      alter mapping for word, hword, hword_part with unaccent, english_stem;
    alter text search configuration lanyard
      alter mapping for numword, numhword, hword_numpart with unaccent, simple;

    create table industry_events (
      id uuid constraint industry_events_pkey primary key,
      created_at timestamptz(3) not null default now(),
      updated_at timestamptz(3) not null default now(),
      name text not null,
      start_date timestamptz(3),
      end_date timestamptz(3),
      source_type text,
      source_id text,
      event_type text,
      venue_city text,
      venue_state text,
      venue_country text,
      venue_name text,
      venue_full_address text,
      venue_coordinates text,
      number_of_attendees integer,
      number_of_exhibitors integer,
      attendee_cost text,
      booth_cost text,
      exhibitor_industries text[],
      attendee_personas text[],
      keywords text[],
      website text,
      description text,
      event_url text,
      search tsvector not null -- kept by the trigger below
    );
    create index industry_events_list_idx on industry_events (created_at, id);
    create index industry_events_search_idx on industry_events using gin (search);
    create index industry_events_name_idx on industry_events (name, start_date);

    -- A btree entry holds 2,704 bytes and a URL of 2,048 characters may be longer, so its digest is what is unique.
    -- convert_to is only stable because conversions can be redefined; to UTF8 from UTF8 there is none.
    create function event_url_digest(url text) returns bytea language sql immutable strict parallel safe
      as $$ select sha256(convert_to(url, 'UTF8')) $$;
    create unique index industry_events_event_url_key on industry_events (event_url_digest(event_url));

    -- PostgreSQL reads 'wroc_love.rb' or 'Node.js' as one host name; a person also looks for its parts.
    create function words_of(value text) returns tsvector language sql stable parallel safe as $$
      select to_tsvector('lanyard', value) || case when value ~ '[._/@:]'
        then to_tsvector('lanyard', translate(value, '._/@:', '     ')) else '' end
    $$;

    create function index_industry_event() returns trigger language plpgsql as $$
    begin
      new.search :=
        setweight(words_of(new.name), 'A') ||
        setweight(words_of(concat_ws(' ', new.venue_city, new.venue_state, new.venue_country,
          array_to_string(new.keywords, ' '), array_to_string(new.exhibitor_industries, ' '),
          array_to_string(new.attendee_personas, ' '))), 'B') ||
        setweight(to_tsvector('lanyard', coalesce(new.description, '')), 'D');
      return new;
    end $$;
    create trigger industry_events_search before insert or update on industry_events
      for each row execute function index_industry_event();

    create table industry_event_bookmarks (
      organization_id integer not null
        constraint industry_event_bookmarks_organization_fkey references organizations on delete cascade,
      industry_event_id uuid not null
        constraint industry_event_bookmarks_industry_event_fkey references industry_events on delete cascade,
      constraint industry_event_bookmarks_pkey primary key (organization_id, industry_event_id)
    );
  `);
