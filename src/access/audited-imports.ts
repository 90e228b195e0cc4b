import { Injectable } from '@nestjs/common';
import { DataSource, type EntityManager } from 'typeorm';
import { AuditLog, recordAudit } from './audit-log.service';

/** What the audit log keeps of an import, beside the records that it wrote. */
export interface ImportDetails {
  /** The name of the file as the operator gave it, or null for records that a program made. */
  file: string | null;
  /** The file that has the changed records as they were, or null. */
  before: string | null;
  outcomes: Record<string, { created: number; updated: number; unchanged: number }>;
}

/** An import as the audit log has it. */
export interface AuditedImport extends ImportDetails {
  importId: string;
  organizationId: number;
  at: Date;
  /** When its last record was written. */
  finishedAt: Date;
  /** The key that imported, or null for the operator. */
  keyId: string | null;
  undoneAt: Date | null;
}

/** The columns of an `AuditedImport`. An import of an earlier release has no details. */
const COLUMNS = `
  i.id as "importId", i.organization_id as "organizationId", i.at, i.key_id as "keyId",
  i.details ->> 'file' as file, i.details ->> 'before' as before, coalesce(i.details -> 'outcomes', '{}') as outcomes,
  coalesce((i.details ->> 'finishedAt')::timestamptz(3), now()) as "finishedAt",
  (select max(u.at) from audit_log u where u.id = i.id and u.resource = 'imports' and u.change = 'd') as "undoneAt"`;

const IS_IMPORT = `i.resource = 'imports' and i.change = 'c'`;

const LIST = `
  select ${COLUMNS} from audit_log i where i.organization_id = $1 and i.at >= $2 and ${IS_IMPORT}
  order by i.at desc, i.seq desc limit $3`;

const FIND = `
  select ${COLUMNS} from audit_log i
  where i.id = $1 and i.at >= $2 and ${IS_IMPORT} and i.organization_id = coalesce($3, i.organization_id)`;

const ADD_DETAILS = `
  update audit_log set details = $2::jsonb || jsonb_build_object('finishedAt', clock_timestamp()::timestamptz(3))
  where id = $1 and resource = 'imports' and change = 'c'`;

/** Adds to the entry of an import what it was, when its last record is written. */
export async function completeAuditedImport(
  manager: EntityManager,
  importId: string,
  details: ImportDetails,
): Promise<void> {
  await manager.query(ADD_DETAILS, [importId, details]);
}

/** Adds an entry that says that an import was undone. */
export async function recordUndo(
  manager: EntityManager,
  { organizationId, importId }: Pick<AuditedImport, 'organizationId' | 'importId'>,
): Promise<void> {
  await recordAudit(manager, {
    organizationId,
    operation: 'imports undo',
    resource: 'imports',
    change: 'deleted',
    id: importId,
    importId,
  });
}

/** Reads the imports of the audit log, as long as it is kept. */
@Injectable()
export class AuditedImports {
  constructor(
    private readonly dataSource: DataSource,
    private readonly log: AuditLog,
  ) {}

  /** The last imports, newest first. */
  list(organizationId: number, limit: number): Promise<AuditedImport[]> {
    return this.dataSource.query(LIST, [organizationId, this.log.keptSince, limit]);
  }

  /** @param organizationId the only one whose import it may be, if it is not undefined */
  async find(importId: string, organizationId?: number): Promise<AuditedImport | undefined> {
    const values = [importId, this.log.keptSince, organizationId];
    const [found] = await this.dataSource.query<AuditedImport[]>(FIND, values);
    return found;
  }
}
