import type { Command } from 'commander';
import { AuditLog, type AuditRow } from '../../access/audit-log.service';
import { escapeInvisible } from '../../datasets/quote';
import { addCommand, parseDateTimeOption, parseKeyId, parseOrganizationId, parseUuid } from '../arguments';
import type { Session } from '../session';
import { formatTable } from '../terminal/table';

interface AuditOptions {
  organization?: number;
  lead?: string;
  key?: string;
  since?: Date;
}

const dayAgo = (): Date => new Date(Date.now() - 86_400_000);

/** The command `audit`. */
export function auditCommand(program: Command, session: Session): void {
  addCommand(program, 'audit', {
    summary: 'Show who created, updated and deleted which record, oldest first.',
    notes:
      'Without --organization it shows what belongs to the installation: backups, restores, deleted organizations. ' +
      'Entries are kept for LANYARD_AUDIT_DAYS.',
    jsonResult:
      '[{at, keyId, operation, resource, id, change, importId}], where keyId is null for commands and for SQL, and importId is there for imports',
    example: 'audit --organization 1 --since 2026-11-24',
  })
    .option('--organization <ID>', 'organization of the records', parseOrganizationId('--organization'))
    .option(
      '--lead <ID>',
      'only this lead and its associations with events',
      parseUuid('--lead must be the ID of a lead'),
    )
    .option('--key <KEYID>', 'only what this key wrote', parseKeyId)
    .option(
      '--since <TIME>',
      'date (midnight UTC) or ISO 8601 date-time (default: a day ago)',
      parseDateTimeOption('--since'),
    )
    .action((options: AuditOptions) => showAudit(session, options));
}

async function showAudit(session: Session, { organization, lead, key, since = dayAgo() }: AuditOptions): Promise<void> {
  const { rows, isKept } = await session.withServices(async (services) => {
    const log = services.get(AuditLog);
    const query = { organizationId: organization, leadId: lead, keyId: key };
    return { rows: await log.list({ ...query, since }), isKept: log.isKept };
  });
  const entries = rows.map((row) => {
    const { at, keyId, operation, resource, change, importId } = row;
    return { at, keyId, operation, resource, id: recordId(session, row), change, importId: importId ?? undefined };
  });
  await session.print(entries, () => {
    if (!isKept) return 'No audit log is kept: LANYARD_AUDIT_DAYS is 0.';
    return rows.length === 0 ? 'No entries.' : auditTable(rows);
  });
}

/** The key of a record as the change feed has it. */
function recordId({ feedResources }: Session, { resource, eventId, id }: AuditRow): string | number | object | null {
  if (eventId === null || id === null) return id ?? (eventId === null ? null : Number(eventId));
  const key = feedResources.all.find(({ name }) => name === resource)?.key;
  return { [key?.integer?.name ?? 'eventId']: Number(eventId), [key?.uuid?.name ?? 'id']: id };
}

const auditTable = (rows: AuditRow[]): string =>
  formatTable(
    ['at', 'key', 'operation', 'record', 'change', 'import'],
    rows.map(({ at, keyId, label, prefix, operation, resource, eventId, id, change, importId }) => [
      at,
      keyId && [prefix ? `${prefix}…` : keyId, label && escapeInvisible(label)].filter(Boolean).join(' '),
      operation,
      [resource, eventId, id].filter(Boolean).join(' '),
      change,
      importId,
    ]),
  );
