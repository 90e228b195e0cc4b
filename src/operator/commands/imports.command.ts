import type { Command } from 'commander';
import { type AuditedImport, AuditedImports } from '../../access/audited-imports';
import { isUuid } from '../../fields/text';
import { type Counts, Datasets } from '../../datasets/dataset';
import { quote } from '../../datasets/quote';
import { type LeftReason, type Undo, UndoService } from '../../datasets/undo.service';
import { COMMAND_NAME } from '../command-name';
import {
  addCommand,
  findOrganization,
  type GlobalOptions,
  organizationOption,
  parseOrganizationId,
} from '../arguments';
import { outcomesText } from '../import-report';
import type { Session } from '../session';
import { Progress } from '../terminal/progress';
import { formatCount, formatTable } from '../terminal/table';
import { CommandError, printResult, UsageError } from '../terminal/terminal';

interface ImportsOptions extends GlobalOptions {
  organization?: number;
}

interface UndoOptions extends ImportsOptions {
  dryRun?: boolean;
}

const MAX_LISTED_IMPORTS = 50;

const NOT_KEPT = 'No audit log is kept: LANYARD_AUDIT_DAYS is 0.';

const REASONS: Record<LeftReason, string> = { changed: 'changed since', inUse: 'used by others' };

/** The commands `imports …`. */
export function importsCommand(program: Command, session: Session): void {
  const group = addCommand(program, 'imports', {
    summary: 'Show the imports of an organization, and take back what one of them created.',
    example: 'imports list --organization 1',
  });
  addCommand(group, 'list', {
    summary: `Show the last ${MAX_LISTED_IMPORTS} imports, newest first.`,
    notes: 'They are known for LANYARD_AUDIT_DAYS.',
    jsonResult:
      '[{importId, at, organizationId, file, before, keyId, outcomes: {leads: {created, updated, unchanged}, …}, undoneAt}]',
    example: 'imports list --organization 1',
  })
    .option(...organizationOption('organization that received the data'))
    .action((_, self: Command) => listImports(session, self.optsWithGlobals()));
  addCommand(group, 'undo', {
    summary: 'Delete what an import created and nobody has changed since.',
    notes:
      'Records that were changed or are used by others stay, and so do industry events. What the import changed stays, ' +
      'too: the file of "import --before" brings it back. Interrupted, the same command continues.',
    jsonResult:
      '{importId, undoneAt, deleted: {leads, …}, left: {changed: {leads, …}, inUse: {events, …}}, ' +
      'examples: [{resource, id, reason}], changedRecords, linkedRecords, before}, where undoneAt is the time of an earlier ' +
      'undo, and linkedRecords are those of changedRecords of which it changed only associations',
    example: 'imports undo IMPORTID --dry-run',
  })
    .argument('<IMPORTID>', 'ID of the import', parseImportId)
    .option(
      '--organization <ID>',
      'organization that received the data, as a check',
      parseOrganizationId('--organization'),
    )
    .option('--dry-run', 'show what would be deleted and what would stay, but change nothing')
    .action((id: string, _, self: Command) => undoImport(session, id, self.optsWithGlobals()));
}

function parseImportId(value: string): string {
  if (isUuid(value)) return value.toLowerCase();
  throw new UsageError('IMPORTID must be the ID of an import, which is a UUID (run "imports list" for the IDs)');
}

async function listImports(session: Session, { json, organization }: ImportsOptions): Promise<void> {
  const { imports, areKept, datasets } = await session.withServices(async (services) => {
    const { id } = await findOrganization(services, organization);
    const audited = services.get(AuditedImports);
    const imports = audited.areKept ? await audited.list(id, MAX_LISTED_IMPORTS) : [];
    return { imports, areKept: audited.areKept, datasets: services.get(Datasets) };
  });
  const result = imports.map((each) => ({ ...each, finishedAt: undefined }));
  await printResult(json, result, () => {
    if (imports.length > 0) return importsTable(datasets, imports);
    return areKept ? 'No imports.' : NOT_KEPT;
  });
}

const importsTable = (datasets: Datasets, imports: AuditedImport[]): string =>
  formatTable(
    ['import', 'at', 'file', 'by', 'organization', 'records', 'undone'],
    imports.map(({ importId, at, file, keyId, organizationId, outcomes, undoneAt }) => {
      const sums = Object.entries(outcomes).map(([section, { created, updated, unchanged }]) => [
        section,
        created + updated + unchanged,
      ]);
      return [
        importId,
        at.toISOString(),
        fileText(file),
        keyId ?? 'operator',
        organizationId,
        outcomesText(datasets, Object.fromEntries(sums) as Counts, outcomes),
        undoneAt?.toISOString() ?? '',
      ];
    }),
  );

function fileText(file: string | null): string {
  if (file === null) return '';
  return file === '-' ? 'standard input' : quote(file);
}

async function undoImport(
  session: Session,
  importId: string,
  { json, organization, dryRun = false }: UndoOptions,
): Promise<void> {
  const progress = new Progress();
  const { undo, audited, datasets } = await session
    .withServices(async (services) => {
      const audited = await findImport(services.get(AuditedImports), importId, organization);
      const undo = await services.get(UndoService).undo(audited, { dryRun, onProgress: progress.records });
      return { undo, audited, datasets: services.get(Datasets) };
    })
    .finally(() => progress.stop());
  const { undoneAt, before } = audited;
  const changedRecords = countUpdated(audited);
  const result = { importId, undoneAt, ...undo, changedRecords, before, ...(dryRun ? { dryRun } : {}) };
  await printResult(json, result, () => undoText(datasets, audited, undo, dryRun), 'The import was undone.');
}

/** @throws CommandError if the audit log does not have it */
async function findImport(imports: AuditedImports, importId: string, organization?: number): Promise<AuditedImport> {
  if (!imports.areKept) throw new CommandError(`No import can be undone. ${NOT_KEPT}`);
  const found = await imports.find(importId, organization);
  if (found) return found;
  const owner = organization === undefined ? 'No organization has an' : `Organization ${organization} has no`;
  throw new CommandError(
    `${owner} import ${importId} in its audit log, which is kept for LANYARD_AUDIT_DAYS. ` +
      'Run "imports list" for the IDs.',
  );
}

const countUpdated = ({ outcomes }: AuditedImport): number =>
  Object.values(outcomes).reduce((sum, { updated }) => sum + updated, 0);

function undoText(datasets: Datasets, audited: AuditedImport, undo: Undo, isDryRun: boolean): string {
  const { deleted, left, examples } = undo;
  const counts = (some: Counts): string =>
    Object.entries(some)
      .map(([resource, count]) => formatCount(count, nounOf(datasets, resource)))
      .join(', ') || 'nothing';
  const lines = audited.undoneAt ? [`This import was undone at ${audited.undoneAt.toISOString()}.`] : [];
  lines.push(`${isDryRun ? 'Would delete' : 'Deleted'} ${counts(deleted)}.`);
  for (const [reason, some] of Object.entries(left)) {
    if (Object.keys(some).length === 0) continue;
    lines.push(`${isDryRun ? 'Would leave' : 'Left'} ${counts(some)}: ${REASONS[reason as LeftReason]}.`);
  }
  for (const { resource, id, reason } of examples)
    lines.push(`  ${nounOf(datasets, resource)} ${id}: ${REASONS[reason]}`);
  const leftCount = Object.values(left)
    .flatMap(Object.values<number>)
    .reduce((sum, count) => sum + count, 0);
  if (leftCount > examples.length) lines.push(`  and ${formatCount(leftCount - examples.length, 'more record')}`);
  lines.push(...changedLines(audited, undo));
  if (isDryRun) lines.push('This was a dry run: nothing was deleted.');
  return lines.join('\n');
}

/** How to bring back what the import changed. */
function changedLines(audited: AuditedImport, { linkedRecords }: Undo): string[] {
  const { before, organizationId } = audited;
  const lines: string[] = [];
  if (linkedRecords > 0) {
    const records = formatCount(linkedRecords, 'record');
    lines.push(`Of ${records}, the import changed nothing but these associations: there is nothing to bring back.`);
  }
  const changed = countUpdated(audited) - linkedRecords;
  if (changed <= 0) return lines;
  const what = `The import also changed ${formatCount(changed, 'record')}`;
  const command = `${COMMAND_NAME} import "${before}" --organization ${organizationId}`;
  const advice =
    before === null ? 'It had no --before, so only a backup has them as they were.' : `To bring them back: ${command}`;
  return [...lines, `${what}. ${advice}`];
}

/** What a person calls a record. Associations of leads have no section. */
const nounOf = (datasets: Datasets, resource: string): string =>
  datasets.has(resource) ? datasets.of(resource).noun : 'association';
