import { Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import type { Scope } from '../http/pipeline/scopes';
import type { ReaderState } from '../feed/changes/feed-reader.entity';
import { READERS, STATE_COUNTS } from '../feed/changes/feed-readers.sql';
import { COUNT_SERVERS_WITHOUT_REDIS } from '../http/rate-limit/local-limits';

export type StateCounts = Record<ReaderState, number>;

interface Counts {
  organizations: number;
  /** `active` keys are valid now. `expiring` counts those of them that expire within a week, `scopes` those of each scope. */
  keys: { active: number; expiring: number; expired: number; revoked: number; scopes: Record<Scope, number> };
  leads: number;
  webhooks: StateCounts;
  /** Of each name of `@OnChanges`: its organizations by state, and since when the oldest change waits that is known to wait. */
  subscriptions: (StateCounts & { name: string; lastError: string | null; waitingSince: string | null })[];
  /** Servers store the number of requests once a minute. */
  busiestKeys: {
    id: string;
    prefix: string;
    label: string | null;
    organization: { id: number; name: string };
    requests: number;
  }[];
}

/** What a database can be asked for. A value that could not be looked up is null. */
export type DatabaseStatus = { [Name in keyof Counts]: Counts[Name] | null } & {
  /** `error` says why the database is unreachable. `size` is in bytes on disk. */
  database: { reachable: boolean; error?: string; embedded: boolean; version: string | null; size: number | null };
  /** Servers without Redis that use this database now. Each of them enforces rate limits on its own. */
  serversWithoutRedis: number | null;
  /** `pending` has the names of migrations in the order in which they will be applied. */
  migrations: { applied: number; pending: string[] } | null;
};

const MAX_BUSIEST_KEYS = 10;

const COUNTS = `
  select (select count(*)::integer from organizations) as organizations,
    (select coalesce(sum(rows), 0)::float8 from list_counts where list = 'leads' and shift = 40) as leads,
    (select json_build_object(
        'active', count(*) filter (where is_active),
        'expiring', count(*) filter (where is_active and expires_at <= now() + interval '7 days'),
        'expired', count(*) filter (where not is_active and revoked_at is null),
        'revoked', count(*) filter (where revoked_at is not null),
        'scopes', json_build_object(
          'all', count(*) filter (where is_active and scope = 'all'),
          'read', count(*) filter (where is_active and scope = 'read'),
          'capture', count(*) filter (where is_active and scope = 'capture')))
      from (select *, revoked_at is null and coalesce(expires_at > now(), true) as is_active from api_keys) k) as keys,
    (select to_json(w) from (select ${STATE_COUNTS} from ${READERS} where subscription is null) w) as webhooks,
    (select coalesce(json_agg(s order by s.name), '[]') from (
        select subscription as name, ${STATE_COUNTS},
          max(last_error) filter (where failing_since is not null) as "lastError", min(waiting_since) as "waitingSince"
        from ${READERS} where subscription is not null group by subscription) s) as subscriptions,
    (select coalesce(json_agg(b), '[]') from (
        select k.id, k.prefix, k.label, json_build_object('id', o.id, 'name', o.name) as organization,
          sum(u.requests) as requests
        from key_usage u join api_keys k on k.id = u.api_key_id join organizations o on o.id = k.organization_id
        where u.minute > now() - interval '1 hour'
        group by k.id, o.id order by requests desc, k.id limit ${MAX_BUSIEST_KEYS}) b) as "busiestKeys"`;

export const UNKNOWN_COUNTS = {
  organizations: null,
  keys: null,
  leads: null,
  webhooks: null,
  subscriptions: null,
  busiestKeys: null,
};

/** The state of the database. */
@Injectable()
export class StatusService {
  constructor(private readonly dataSource: DataSource) {}

  /** It only reads, also where no migration was applied yet. */
  async status(embedded: boolean): Promise<DatabaseStatus> {
    const [about] = await this.dataSource.query<[{ version: string; size: number }]>(
      `select current_setting('server_version') as version, pg_database_size(current_database())::float8 as size`,
    );
    const [{ servers: serversWithoutRedis }] =
      await this.dataSource.query<[{ servers: number }]>(COUNT_SERVERS_WITHOUT_REDIS);
    const migrations = await this.migrations();
    const database = { reachable: true, embedded, ...about };
    // A pending migration may be the one that creates a table.
    if (migrations.pending.length > 0) return { database, serversWithoutRedis, migrations, ...UNKNOWN_COUNTS };
    const [counts] = await this.dataSource.query<[Counts]>(COUNTS);
    return { database, serversWithoutRedis, migrations, ...counts };
  }

  private async migrations() {
    const [{ exists }] = await this.dataSource.query<[{ exists: boolean }]>(
      `select to_regclass('migrations') is not null as exists`,
    );
    const rows = exists ? await this.dataSource.query<{ name: string }[]>('select name from migrations') : [];
    const applied = new Set(rows.map(({ name }) => name));
    const known = this.dataSource.migrations.map(({ name, constructor }) => name ?? constructor.name);
    return { applied: applied.size, pending: known.filter((name) => !applied.has(name)) };
  }
}
