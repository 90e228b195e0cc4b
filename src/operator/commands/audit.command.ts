import { Command } from 'commander';
import { AuditLog, type AuditRow, INSTALLATION } from '../../access/audit-log.service';
import { isUuid } from '../../fields/text';
import { Config } from '../../config';
import { escapeInvisible } from '../../datasets/quote';
import { addCommand, type GlobalOptions, parseDateTimeOption, parseKeyId, parseOrganizationId } from '../arguments';
import type { Session } from '../session';
import { formatTable } from '../terminal/table';
import { printResult, UsageError } from '../terminal/terminal';

interface AuditOptions extends GlobalOptions {
  organization?: number;
  lead?: string;
  key?: string;
  since?: Date;
}

const DAY_MS = 86_400_000;

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
    .option('--lead <ID>', 'only this lead and its associations with events', parseLeadId)
    .option('--key <KEYID>', 'only what this key wrote', parseKeyId)
    .option(
      '--since <TIME>',
      'date (midnight UTC) or ISO 8601 date-time (default: a day ago)',
      parseDateTimeOption('--since'),
    )
    .action((_, self: Command) => showAudit(session, self.optsWithGlobals()));
}

/** @throws UsageError */
function parseLeadId(text: string): string {
  if (isUuid(text)) return text.toLowerCase();
  throw new UsageError('--lead must be the ID of a lead');
}

async function showAudit(
  session: Session,
  { json, organization: organizationId = INSTALLATION, lead: leadId, key: keyId, since }: AuditOptions,
): Promise<void> {
  const { rows, auditDays } = await session.withServices(async (services) => {
    const { auditDays } = services.get(Config);
    const oldest = Date.now() - auditDays * DAY_MS;
    const wanted = since?.getTime() ?? Date.now() - DAY_MS;
    const query = { organizationId, leadId, keyId, since: new Date(Math.max(oldest, wanted)) };
    return { rows: auditDays === 0 ? [] : await services.get(AuditLog).list(query), auditDays };
  });
  const shown = rows.map((row) => ({ ...row, id: recordId(session, row) }));
  const entries = shown.map(({ at, keyId, operation, resource, id, change, importId }) => ({
    at,
    keyId,
    operation,
    resource,
    id,
    change,
    importId: importId ?? undefined,
  }));
  const empty = auditDays === 0 ? 'No audit log is kept: LANYARD_AUDIT_DAYS is 0.' : 'No entries.';
  await printResult(json, entries, () => (shown.length === 0 ? empty : auditTable(shown)));
}

type ShownRow = Omit<AuditRow, 'id'> & { id: ReturnType<typeof recordId> };

/** The key of a record as the change feed has it. */
function recordId({ feedResources }: Session, { resource, eventId, id }: AuditRow): string | number | object | null {
  if (eventId === null || id === null) return id ?? (eventId === null ? null : Number(eventId));
  const key = feedResources.all.find(({ name }) => name === resource)?.key;
  return { [key?.integer?.name ?? 'eventId']: Number(eventId), [key?.uuid?.name ?? 'id']: id };
}

const auditTable = (rows: ShownRow[]): string =>
  formatTable(
    ['at', 'key', 'operation', 'record', 'change', 'import'],
    rows.map(({ at, keyId, label, prefix, operation, resource, id, change, importId }) => [
      at.toISOString(),
      keyId && [prefix && `${prefix}…`, label && escapeInvisible(label), !prefix && keyId].filter(Boolean).join(' '),
      operation,
      `${resource} ${id !== null && typeof id === 'object' ? Object.values(id).join(' ') : (id ?? '')}`.trim(),
      change,
      importId,
    ]),
  );
