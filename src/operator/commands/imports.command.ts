import { existsSync } from 'node:fs';
import type { Command } from 'commander';
import { AuditLog } from '../../access/audit-log.service';
import { type AuditedImport, AuditedImports } from '../../access/audited-imports';
import { Datasets } from '../../exchange/datasets/dataset';
import type { LeftReason } from '../../exchange/datasets/undo-merge';
import { type Undo, UndoService } from '../../exchange/datasets/undo.service';
import { addCommand, findOrganization, organizationOption, parseOrganizationId, parseUuid } from '../arguments';
import { readBeforeFile } from '../before-file';
import type { Session } from '../session';
import { SUMMARIES } from '../summaries';
import { Progress } from '../terminal/progress';
import { formatCount, formatResult } from '../terminal/table';
import { CommandError, UsageError } from '../terminal/terminal';

interface ImportsOptions {
  organization?: number;
  dryRun?: boolean;
  before?: string;
}

const MAX_LISTED_IMPORTS = 50;

/** The commands `imports …`. */
export function importsCommand(program: Command, session: Session): void {
  const group = addCommand(program, 'imports', {
    summary: SUMMARIES.imports,
    example: 'imports list --organization 1',
  });
  addCommand(group, 'list', {
    summary: `Show the last ${MAX_LISTED_IMPORTS} imports, newest first.`,
    notes: 'They are known for LANYARD_AUDIT_DAYS.',
    example: 'imports list --organization 1',
  })
    .option(...organizationOption('organization that received the data'))
    .action(async ({ organization }: ImportsOptions) => {
      const { imports, hint } = await session.withServices(async (services) => {
        const { id } = await findOrganization(services, organization);
        const imports = await services.get(AuditedImports).list(id, MAX_LISTED_IMPORTS);
        return { imports, hint: services.get(AuditLog).notKept };
      });
      await session.print(
        imports.map(({ finishedAt: _, ...each }) => each),
        { hint },
      );
    });
  addCommand(group, 'undo', {
    summary: 'Take an import back, as far as nobody has changed its records since.',
    notes:
      'It deletes what the import created, and brings back what it changed field by field, from the file of ' +
      '"import --before". What others have changed since stays, and so does what they use. Interrupted, the same ' +
      'command continues.',
    example: 'imports undo IMPORTID --dry-run',
  })
    .argument('<IMPORTID>', 'ID of the import (see "imports list")', parseUuid('IMPORTID', 'an import'))
    .option(
      '--organization <ID>',
      'organization that received the data, as a check',
      parseOrganizationId('--organization'),
    )
    .option('--before <FILE>', 'file of "import --before", if it is no longer where it was written')
    .option('--dry-run', 'show what would be deleted, brought back and left, but change nothing')
    .action((id: string, options: ImportsOptions) => undoImport(session, id, options));
}

async function undoImport(session: Session, importId: string, options: ImportsOptions): Promise<void> {
  const { organization, dryRun = false } = options;
  if (options.before === '' || options.before === '-') throw new UsageError('--before must be a file name');
  const progress = new Progress();
  const { audited, undo, before } = await session
    .withServices(async (services) => {
      const { notKept } = services.get(AuditLog);
      if (notKept) throw new CommandError(`No import can be undone. ${notKept}`);
      const audited = await services.get(AuditedImports).find(importId, organization);
      if (!audited) throw new CommandError(notFound(importId, organization));
      const before = options.before ?? existingFile(audited.before);
      const changes = before === null ? undefined : readBeforeFile(before, services.get(Datasets));
      const undo = await services.get(UndoService).undo(audited, { changes, dryRun, onProgress: progress.records });
      return { audited, undo, before };
    })
    .finally(() => progress.stop());
  const { undoneAt } = audited;
  const result = { importId, ...undo, undoneAt, before, ...(dryRun ? { dryRun } : {}) };
  await session.print(result, { shown: undoText(result, before === null ? untouchedRecords(audited) : '') });
}

const existingFile = (path: string | null): string | null => (path !== null && existsSync(path) ? path : null);

const REASONS: Record<LeftReason, string> = {
  changed: 'changed since',
  inUse: 'in use',
  deleted: 'deleted since',
  gone: 'what it referred to was deleted',
  taken: 'another record has it now',
};

/** @param hint what to know beside the result */
function undoText({ laterImports, left, examples, ...counts }: Undo, hint: string): string {
  const later = laterImports.map(
    ({ importId, at, file }) =>
      `Undo this later import of the same records first: ${importId} (${at.toISOString()}, ${file})`,
  );
  const leftCounts = Object.entries(left).filter(([, byResource]) => Object.keys(byResource).length > 0);
  const lines = examples.map(({ resource, id, field, reason }) => {
    const place = [resource, id, field].filter((part) => part !== null).join(' ');
    return `${place}: ${REASONS[reason]}`;
  });
  const result = formatResult({ ...counts, left: Object.fromEntries(leftCounts) });
  return [...later, result, ...lines, hint].filter(Boolean).join('\n');
}

/** Says that what an import changed stays as it is. Empty if it changed nothing. */
function untouchedRecords({ outcomes, before }: AuditedImport): string {
  const count = Object.values(outcomes).reduce((sum, { updated }) => sum + updated, 0);
  if (count === 0) return '';
  const reason = before === null ? 'it had no --before' : `${before} is not there. Name it with --before FILE`;
  return `${formatCount(count, 'record')} that the import changed ${count === 1 ? 'stays' : 'stay'} as it left them: ${reason}.`;
}

const notFound = (importId: string, organization?: number): string =>
  `${organization === undefined ? 'No organization has an' : `Organization ${organization} has no`} import ${importId} ` +
  'in its audit log, which is kept for LANYARD_AUDIT_DAYS. Run "imports list" for the IDs.';
