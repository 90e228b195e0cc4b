import type { Command } from 'commander';
import { AuditLog } from '../../access/audit-log.service';
import { AuditedImports } from '../../access/audited-imports';
import { UndoService } from '../../exchange/datasets/undo.service';
import { COMMAND_NAME } from '../command-name';
import { addCommand, findOrganization, organizationOption, parseOrganizationId, parseUuid } from '../arguments';
import type { Session } from '../session';
import { SUMMARIES } from '../summaries';
import { Progress } from '../terminal/progress';
import { CommandError } from '../terminal/terminal';

interface ImportsOptions {
  organization?: number;
  dryRun?: boolean;
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
    summary: 'Delete what an import created and nobody has changed since.',
    notes:
      'Records that were changed or are used by others stay, and so do industry events. What the import changed stays, ' +
      'too: the file of "import --before" brings it back. Interrupted, the same command continues.',
    example: 'imports undo IMPORTID --dry-run',
  })
    .argument('<IMPORTID>', 'ID of the import (see "imports list")', parseUuid('IMPORTID', 'an import'))
    .option(
      '--organization <ID>',
      'organization that received the data, as a check',
      parseOrganizationId('--organization'),
    )
    .option('--dry-run', 'show what would be deleted and what would stay, but change nothing')
    .action((id: string, options: ImportsOptions) => undoImport(session, id, options));
}

async function undoImport(
  session: Session,
  importId: string,
  { organization, dryRun = false }: ImportsOptions,
): Promise<void> {
  const progress = new Progress();
  const { audited, undo } = await session
    .withServices(async (services) => {
      const { notKept } = services.get(AuditLog);
      if (notKept) throw new CommandError(`No import can be undone. ${notKept}`);
      const audited = await services.get(AuditedImports).find(importId, organization);
      if (!audited) throw new CommandError(notFound(importId, organization));
      const undo = await services.get(UndoService).undo(audited, { dryRun, onProgress: progress.records });
      return { audited, undo };
    })
    .finally(() => progress.stop());
  const { undoneAt, before, organizationId, outcomes } = audited;
  const changedRecords = Object.values(outcomes).reduce((sum, { updated }) => sum + updated, 0);
  const result = { importId, undoneAt, ...undo, changedRecords, before, ...(dryRun ? { dryRun } : {}) };
  const restoring =
    before === null
      ? 'What the import changed is only in a backup as it was, because it had no --before.'
      : `To bring back what the import changed: ${COMMAND_NAME} import "${before}" --organization ${organizationId}`;
  await session.print(result, { hint: changedRecords > 0 ? restoring : '' });
}

const notFound = (importId: string, organization?: number): string =>
  `${organization === undefined ? 'No organization has an' : `Organization ${organization} has no`} import ${importId} ` +
  'in its audit log, which is kept for LANYARD_AUDIT_DAYS. Run "imports list" for the IDs.';
