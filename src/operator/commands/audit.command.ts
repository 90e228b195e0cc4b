import type { Command } from 'commander';
import { AuditLog, type AuditQuery, type AuditRow } from '../../access/audit-log.service';
import { addCommand, parseDateTimeOption, parseOrganizationId, parseUuid } from '../arguments';
import type { Session } from '../session';
import { SUMMARIES } from '../summaries';

const dayAgo = (): Date => new Date(Date.now() - 86_400_000);

/** The command `audit`. */
export function auditCommand(program: Command, session: Session): void {
  addCommand(program, 'audit', {
    summary: SUMMARIES.audit,
    notes:
      'Without --organization it shows what belongs to the installation: backups, restores, deleted organizations. ' +
      'Entries are kept for LANYARD_AUDIT_DAYS.',
    example: 'audit --organization 1 --since 2026-11-24',
  })
    .option('--organization <ID>', 'organization of the records', parseOrganizationId('--organization'))
    .option('--lead <ID>', 'only this lead and its associations with events', parseUuid('--lead', 'a lead'))
    .option('--key <KEYID>', 'only what this key wrote', parseUuid('KEYID', 'a key'))
    .option(
      '--since <TIME>',
      'date (midnight UTC) or ISO 8601 date-time (default: a day ago)',
      parseDateTimeOption('--since'),
    )
    .action((options: Partial<AuditQuery>) => showAudit(session, options));
}

async function showAudit(session: Session, options: Partial<AuditQuery>): Promise<void> {
  const { rows, hint } = await session.withServices(async (services) => {
    const log = services.get(AuditLog);
    return { rows: await log.list({ since: dayAgo(), ...options }), hint: log.notKept };
  });
  const entries = rows.map((row) => {
    const { at, keyId, operation, resource, change, importId } = row;
    return { at, keyId, operation, resource, id: recordId(session, row), change, importId: importId ?? undefined };
  });
  const shown = rows.map(({ prefix, label }, index) => ({ ...entries[index], prefix, label }));
  await session.print(entries, { shown, hint });
}

/** The key of a record as the change feed has it. */
function recordId({ feedResources }: Session, { resource, eventId, id }: AuditRow): string | number | object | null {
  if (eventId === null || id === null) return id ?? (eventId === null ? null : Number(eventId));
  const key = feedResources.all.find(({ name }) => name === resource)?.key;
  return { [key?.integer?.name ?? 'eventId']: Number(eventId), [key?.uuid?.name ?? 'id']: id };
}
