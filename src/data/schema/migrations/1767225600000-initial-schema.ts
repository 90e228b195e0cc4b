import { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Every key and foreign key of an organization's rows begins with `organization_id`, so the database itself rejects a link
 * between two organizations. A row's `position` is its position in its list (functions/lists.sql).
 */
export class InitialSchema1767225600000 implements MigrationInterface {
  async up(db: QueryRunner): Promise<void> {
    for (const tables of [LISTS, ACCESS, EVENTS, LEADS, LEAD_ACTIVITY_EVENTS, INDUSTRY_EVENTS]) await db.query(tables);
  }

  /** Reverting would delete all data, which nobody who reverts migrations intends. */
  down(): Promise<void> {
    throw new Error(
      'The initial migration cannot be reverted because that would delete all data. Drop the database instead.',
    );
  }
}

const LISTS = `
    create table applied_functions (hash text not null); -- one row: which text of src/data/database/functions is in force

    -- A list is ('organization_id', 'leads'), or (…, 'event_leads/7') where each parent has its own. The catalogue of
    -- industry events has organization 0. This row is also the lock of those who add to the list.
    create table lists (
      organization_id integer not null,
      list text collate "C" not null,
      next_position bigint not null,
      constraint lists_pkey primary key (organization_id, list)
    ) with (fillfactor = 50);

    -- Rows of a list among each 2^shift positions: 256 and 16,384, and (shift 40) all of them.
    create table list_counts (
      organization_id integer not null,
      list text collate "C" not null,
      shift smallint not null,
      bucket bigint not null,
      rows integer not null,
      constraint list_counts_pkey primary key (organization_id, list, shift, bucket)
    ) with (fillfactor = 70);
`;

const ACCESS = `
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

    -- Requests of each key a minute; kept for a day (access.service.ts).
    create table key_usage (
      api_key_id uuid not null constraint key_usage_api_key_fkey references api_keys on delete cascade,
      minute timestamptz not null, -- in which a process wrote its count of the minute before
      requests integer not null,
      constraint key_usage_pkey primary key (api_key_id, minute)
    );
    create index key_usage_minute_idx on key_usage (minute);

    -- Answers to requests with an Idempotency-Key (docs/decisions/0012).
    create table idempotent_answers (
      api_key_id uuid not null constraint idempotent_answers_api_key_fkey references api_keys on delete cascade,
      idempotency_key text not null,
      fingerprint bytea not null, -- SHA-256 of the request
      answer text not null, -- the JSON of its results
      created_at timestamptz not null default now(),
      constraint idempotent_answers_pkey primary key (api_key_id, idempotency_key)
    );
    create index idempotent_answers_created_idx on idempotent_answers (created_at);

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
`;

const EVENTS = `
    create table tag_groups (
      id uuid default uuid_v7() constraint tag_groups_pkey primary key,
      organization_id integer not null constraint tag_groups_organization_fkey references organizations on delete cascade,
      position bigint not null,
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
    create unique index tag_groups_list_idx on tag_groups (organization_id, position);

    create table tag_options (
      id uuid default uuid_v7() constraint tag_options_pkey primary key,
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
      position bigint not null,
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
    create unique index events_list_idx on events (organization_id, position);

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
      position bigint not null,
      constraint event_users_pkey primary key (organization_id, event_id, user_id),
      constraint event_users_event_fkey foreign key (organization_id, event_id)
        references events (organization_id, id) on delete cascade,
      constraint event_users_user_fkey foreign key (organization_id, user_id)
        references users (organization_id, id) on delete cascade
    );
    create unique index event_users_list_idx on event_users (organization_id, event_id, position);

    create table activations (
      id uuid default uuid_v7() constraint activations_pkey primary key,
      organization_id integer not null,
      position bigint not null,
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
    create unique index activations_list_idx on activations (organization_id, position);
    create index activations_event_idx on activations (organization_id, event_id);
`;

const LEADS = `
    create table leads (
      id uuid default uuid_v7() constraint leads_pkey primary key,
      organization_id integer not null constraint leads_organization_fkey references organizations on delete cascade,
      position bigint not null,
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
      document text not null, -- the JSON of the lead as the API shows it (functions/leads.sql)
      constraint leads_organization_id_key unique (organization_id, id)
      -- Rows stay whole and uncompressed: a page is read by walking the table.
    ) with (toast_tuple_target = 8160);
    create unique index leads_list_idx on leads (organization_id, position);
    alter table leads alter column document set statistics 0; -- no condition is on it, and analyze would read it all
    create index leads_email_idx on leads (email_key(organization_id, email), position) where email is not null;
    -- Every look reads the pending entries through, so there are none.
    create index leads_remote_ids_idx on leads using gin (remote_id_keys(organization_id, remote_ids))
      with (fastupdate = off) where remote_ids <> '[]';

    create table lead_tags (
      organization_id integer not null,
      lead_id uuid not null,
      tag_option_id uuid not null,
      position integer not null,
      constraint lead_tags_pkey primary key (organization_id, lead_id, tag_option_id),
      constraint lead_tags_lead_fkey foreign key (organization_id, lead_id)
        references leads (organization_id, id) on delete cascade deferrable,
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
        references leads (organization_id, id) on delete cascade deferrable,
      constraint lead_activations_activation_fkey foreign key (organization_id, activation_id)
        references activations (organization_id, id) on delete cascade
    );
    create index lead_activations_activation_idx on lead_activations (organization_id, activation_id);

    create table event_leads (
      organization_id integer not null,
      event_id bigint not null,
      lead_id uuid not null,
      position bigint not null,
      associated_at timestamptz not null default now(), -- in microseconds: exports keep the order of associations by it
      registered boolean not null,
      checked_in boolean not null,
      constraint event_leads_pkey primary key (organization_id, event_id, lead_id),
      constraint event_leads_event_fkey foreign key (organization_id, event_id)
        references events (organization_id, id) on delete cascade,
      constraint event_leads_lead_fkey foreign key (organization_id, lead_id)
        references leads (organization_id, id) on delete cascade
    );
    create unique index event_leads_list_idx on event_leads (organization_id, event_id, position);
    create index event_leads_lead_idx on event_leads (organization_id, lead_id);
`;

const LEAD_ACTIVITY_EVENTS = `
    create table lead_activity_events (
      id uuid default uuid_v7() constraint lead_activity_events_pkey primary key,
      organization_id integer not null,
      position bigint not null,
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
        references leads (organization_id, id) on delete cascade deferrable,
      constraint lead_activity_events_event_fkey foreign key (organization_id, event_id)
        references events (organization_id, id) on delete set null (event_id),
      constraint lead_activity_events_activation_fkey foreign key (organization_id, activation_id)
        references activations (organization_id, id) on delete set null (activation_id),
      constraint lead_activity_events_tag_option_fkey foreign key (organization_id, tag_option_id)
        references tag_options (organization_id, id) on delete set null (tag_option_id)
    );
    create unique index lead_activity_events_list_idx on lead_activity_events (organization_id, position);
    create index lead_activity_events_lead_idx on lead_activity_events (organization_id, lead_id, position);
    create index lead_activity_events_type_idx on lead_activity_events (organization_id, event_type, position);
    create index lead_activity_events_event_idx on lead_activity_events (organization_id, event_id) where event_id is not null;
    create index lead_activity_events_activation_idx on lead_activity_events (organization_id, activation_id) where activation_id is not null;
    create index lead_activity_events_tag_option_idx on lead_activity_events (organization_id, tag_option_id) where tag_option_id is not null;
`;

const INDUSTRY_EVENTS = `
    -- English stems without stop words, so that \`the\` is found. What is asked for and what is stored are split into
    -- words by functions/search.sql, so only these kinds of words occur.
    create extension if not exists unaccent;
    create text search dictionary english_words (template = snowball, language = english);
    create text search configuration search (copy = simple);
    alter text search configuration search alter mapping for asciiword with english_words;
    alter text search configuration search alter mapping for word with unaccent, english_words;
    alter text search configuration search alter mapping for numword with unaccent, simple;
    -- Between two values of a record stands '<x>', so that no phrase goes from one into the next.
    alter text search configuration search add mapping for tag with simple;

    create table industry_events (
      id uuid default uuid_v7() constraint industry_events_pkey primary key,
      position bigint not null,
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
      search tsvector not null -- set by a trigger (functions/search.sql)
    );
    create unique index industry_events_list_idx on industry_events (position);
    create index industry_events_name_idx on industry_events (name, start_date);
    -- Every search reads the pending entries through, so they are few (kB).
    create index industry_events_search_idx on industry_events using gin (search) with (gin_pending_list_limit = 256);
    create unique index industry_events_event_url_key on industry_events (event_url_digest(event_url));

    create table industry_event_bookmarks (
      organization_id integer not null
        constraint industry_event_bookmarks_organization_fkey references organizations on delete cascade,
      industry_event_id uuid not null
        constraint industry_event_bookmarks_industry_event_fkey references industry_events on delete cascade,
      constraint industry_event_bookmarks_pkey primary key (organization_id, industry_event_id)
    );
`;
