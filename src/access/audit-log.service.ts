import { Injectable } from '@nestjs/common';
import { DataSource, type EntityManager } from 'typeorm';
import { Config } from '../config';

/** The organization of entries that belong to the installation. */
const INSTALLATION = 0;

export type AuditChange = 'created' | 'updated' | 'deleted';

/** What an administrator did, as the log names it. */
export interface AdministrativeEntry {
  /** Without it, the entry belongs to the installation. */
  organizationId?: number;
  /** The command, such as `keys issue`. */
  operation: string;
  resource: string;
  change: AuditChange;
  /** A uuid or a number. */
  id?: string | number;
  importId?: string;
  /** The API key of a request. A command has none. */
  keyId?: string;
}

/** An entry as it is read. */
export interface AuditRow {
  at: Date;
  keyId: string | null;
  /** The label and the first characters of the key, if it still exists. */
  label: string | null;
  prefix: string | null;
  operation: string;
  resource: string;
  change: AuditChange;
  eventId: string | null;
  id: string | null;
  importId: string | null;
}

/** Which entries to list: those of an organization, or of the installation, a lead or a key, by their IDs. */
export interface AuditQuery {
  organization?: number;
  lead?: string;
  key?: string;
  since: Date;
}

const RECORD = `
  insert into audit_log (organization_id, operation, resource, change, event_id, id, import_id, key_id)
  select $1, $2, $3, $4, $5, $6, $7, $8 where current_setting('lanyard.audit', true) is distinct from 'off'`;

/** Of an organization `$1`, and of the installation what is about that organization. */
const LIST = `
  select at, key_id as "keyId", label, prefix, operation, resource,
    case change when 'c' then 'created' when 'u' then 'updated' else 'deleted' end as change,
    event_id as "eventId", a.id, import_id as "importId"
  from audit_log a
    left join lateral (select label, prefix from api_keys k where k.id = a.key_id) key on true
  where organization_id in ($1, ${INSTALLATION})
    and (organization_id = $1 or (resource = 'organizations' and event_id = $1))
    and at >= $2 and ($3::uuid is null or a.id = $3 and resource in ('leads', 'eventLeads'))
    and ($4::uuid is null or key_id = $4)
  order by at, seq`;

/** Deletes at most `$2` entries older than `$1` days, organization by organization, deleted ones included. */
export const PRUNE_AUDIT_LOG = `
  with recursive owners as (
    (select organization_id from audit_log order by 1 limit 1)
    union all
    select next.* from owners cross join lateral (
      select organization_id from audit_log a where a.organization_id > owners.organization_id order by 1 limit 1) next
  ), old as (
    select ctid from owners cross join lateral (
      select a.ctid from audit_log a where a.organization_id = owners.organization_id
        and at < now() - $1 * interval '1 day' order by at limit $2) each limit $2
  )
  delete from audit_log where ctid = any(array(select ctid from old)) returning 1`;

/** Adds an entry of what an administrator did. @param manager of its transaction, so that both happen or neither */
export async function recordAudit(manager: EntityManager, entry: AdministrativeEntry): Promise<void> {
  const { organizationId = INSTALLATION, operation, resource, change, id, importId, keyId } = entry;
  const integer = typeof id === 'number' ? id : null;
  const uuid = typeof id === 'string' ? id : null;
  await manager.query(RECORD, [organizationId, operation, resource, change[0], integer, uuid, importId, keyId]);
}

/**
 * Adds an entry of what only reads the database, outside of its transaction. A standby, and a database of an earlier release,
 * can be read and take none.
 */
export async function recordAuditIfWritable(manager: EntityManager, entry: AdministrativeEntry): Promise<void> {
  const [{ isWritable }] = await manager.query<[{ isWritable: boolean }]>(
    `select to_regclass('audit_log') is not null and not pg_is_in_recovery() as "isWritable"`,
  );
  if (isWritable) await recordAudit(manager, entry);
}

/** Names the import in the entries of all records that the transaction writes from now on. */
export async function setAuditedImport(
  manager: EntityManager,
  organizationId: number,
  operation: string,
  importId: string,
): Promise<void> {
  await manager.query(`select set_config('lanyard.actor', $1, true), set_config('lanyard.import', $2, true)`, [
    `${organizationId}|${operation}|`,
    importId,
  ]);
}

/** Names the import in the entries of all records that the transaction writes from now on, and adds its own entry. */
export async function beginAuditedImport(
  manager: EntityManager,
  organizationId: number,
  importId: string,
): Promise<void> {
  await setAuditedImport(manager, organizationId, 'import', importId);
  await recordAudit(manager, {
    organizationId,
    operation: 'import',
    resource: 'imports',
    change: 'created',
    id: importId,
    importId,
  });
}

const DAY_MS = 86_400_000;

/** Reads the audit log, for the operator alone. Triggers write what changes records. */
@Injectable()
export class AuditLog {
  constructor(
    private readonly dataSource: DataSource,
    private readonly config: Config,
  ) {}

  /** Why there are no entries, if no log is kept; otherwise empty. */
  get notKept(): string {
    return this.config.auditDays > 0 ? '' : 'No audit log is kept: LANYARD_AUDIT_DAYS is 0.';
  }

  /** Since when it is kept. Servers delete older entries, but not at once. */
  get keptSince(): Date {
    return new Date(Date.now() - this.config.auditDays * DAY_MS);
  }

  /** Of the installation, or of an organization. Oldest first. */
  list({ organization = INSTALLATION, lead, key, since }: AuditQuery): Promise<AuditRow[]> {
    const { keptSince } = this;
    return this.dataSource.query(LIST, [organization, since > keptSince ? since : keptSince, lead, key]);
  }
}
