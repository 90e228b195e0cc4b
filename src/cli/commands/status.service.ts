import { DataSource } from 'typeorm';

interface DatabaseStatus {
  reachable: boolean;
  /** why not */
  error?: string;
  embedded: boolean;
  version: string | null;
  /** bytes on the disk */
  size: number | null;
}

interface MigrationsStatus {
  applied: number;
  /** names, in their order */
  pending: string[];
}

/** What is stored. Of the keys, `active` ones are valid now, and those of them that end within a week are `expiring`. */
interface Counts {
  organizations: number;
  keys: { active: number; expiring: number; expired: number; revoked: number };
  leads: number;
}

interface BusyKey {
  id: string;
  prefix: string;
  label: string | null;
  organization: { id: number; name: string };
  /** that came with the key within the last hour, as far as processes have written them down (once a minute) */
  requests: number;
}

/** What `status` finds. What cannot be looked up is null. */
export interface Status {
  database: DatabaseStatus;
  /** null when none is configured */
  redis: { reachable: boolean; error?: string; version: string | null } | null;
  migrations: MigrationsStatus | null;
  organizations: number | null;
  keys: Counts['keys'] | null;
  leads: number | null;
  busiestKeys: BusyKey[] | null;
}

const COUNTS = `
  select (select count(*)::integer from organizations) as organizations,
    (select coalesce(sum(rows), 0)::float8 from list_counts where list = 'leads' and shift = 40) as leads,
    (select json_build_object(
        'active', count(*) filter (where is_active),
        'expiring', count(*) filter (where is_active and expires_at <= now() + interval '7 days'),
        'expired', count(*) filter (where not is_active and revoked_at is null),
        'revoked', count(*) filter (where revoked_at is not null))
      from (select *, revoked_at is null and coalesce(expires_at > now(), true) as is_active from api_keys) k) as keys`;

/** Keys that are shown. */
const BUSIEST = 10;

const BUSIEST_KEYS = `
  select k.id, k.prefix, k.label, json_build_object('id', o.id, 'name', o.name) as organization,
    sum(u.requests)::float8 as requests
  from key_usage u join api_keys k on k.id = u.api_key_id join organizations o on o.id = k.organization_id
  where u.minute > now() - interval '1 hour'
  group by k.id, o.id order by requests desc, k.id limit ${BUSIEST}`;

/** What an operator wants to know at a glance. It changes nothing, and bears a database without a table. */
export class StatusService {
  constructor(private readonly dataSource: DataSource) {}

  async database(embedded: boolean): Promise<DatabaseStatus> {
    const [found] = await this.dataSource.query<[{ version: string; size: number }]>(
      `select current_setting('server_version') as version, pg_database_size(current_database())::float8 as size`,
    );
    return { reachable: true, embedded, ...found };
  }

  async migrations(): Promise<MigrationsStatus> {
    const [{ exists }] = await this.dataSource.query<[{ exists: boolean }]>(
      `select to_regclass('migrations') is not null as exists`,
    );
    const rows = exists ? await this.dataSource.query<{ name: string }[]>('select name from migrations') : [];
    const applied = new Set(rows.map(({ name }) => name));
    const known = this.dataSource.migrations.map(({ name, constructor }) => name ?? constructor.name);
    return { applied: applied.size, pending: known.filter((name) => !applied.has(name)) };
  }

  async counts(): Promise<Counts> {
    const [counts] = await this.dataSource.query<[Counts]>(COUNTS);
    return counts;
  }

  /** The keys with the most requests of the last hour, the busiest first. */
  busiestKeys(): Promise<BusyKey[]> {
    return this.dataSource.query(BUSIEST_KEYS);
  }
}
