import { existsSync, readFileSync } from 'node:fs';
import { Command, Help } from 'commander';
import type { EntityManager } from 'typeorm';
import type { CsvService } from '../../exchange/csv/csv.service';
import { type Mapping, MappingError, parseMapping } from '../../exchange/csv/mapping';
import type { OpenFile } from '../../exchange/csv/open';
import type { CsvImport, CsvPlan } from '../../exchange/csv/plan';
import { exactMapping, proposeMapping } from '../../exchange/csv/propose';
import { csvImportSource } from '../../exchange/csv/read';
import { FormerRecords } from '../../exchange/datasets/former-records';
import type { ImportSource } from '../../exchange/datasets/import-plan';
import { datasetRecords, wholeRecords } from '../../exchange/datasets/read-json';
import { decodeText } from '../../exchange/datasets/open';
import { ImportError, IssueCollector } from '../../exchange/datasets/import-error';
import { type ImportOptions, type ImportResult, ImportService } from '../../exchange/datasets/import.service';
import { COMMAND_NAME } from '../command-name';
import { addCommand, organizationOption, findOrganization } from '../arguments';
import { BeforeFile } from '../before-file';
import { addCsvImportOptions, csvImportOf, type CsvImportOptions, fieldsText } from '../csv.options';
import { errorsJson, reportJson, reportText } from '../import-report';
import { fileSize, fileState, openAgain, readChunks } from '../input';
import { LeftOutList } from '../left-out-list';
import { NewFile } from '../new-file';
import { proposalJson, proposalText } from '../proposal-report';
import type { Session } from '../session';
import { SUMMARIES } from '../summaries';
import { confirm } from '../terminal/confirm';
import { Progress } from '../terminal/progress';
import { CommandError, errorMessage, print, RowsSkipped, UsageError } from '../terminal/terminal';

const helpText = (service: CsvService): string => `
A dataset, as export writes it:
  one JSON object   {"leads": [{"id": "7c9e…", "firstName": "Ada"}],
                    "industryEvents": [{"name": "Pump World"}]}
  NDJSON            {"section": "leads", "record": {"id": "7c9e…"}}
                    one record per line, in any number; each record comes after
                    those that it refers to
Sections: ${new Help().boxWrap(service.datasets.names.join(', '), 68)}.
The import stores everything or nothing, and reports every error it finds.
Records are matched by id, users by email, events by ref, so importing a file
again changes only what differs.

Or CSV of any size, which is read by its mapping:
  $ ${COMMAND_NAME} import scan.csv --organization 1 --csv leads
proposes one, shows what it would do, and stores nothing unless you say so.
Correct scan.csv.mapping.json, and import this file and the next ones of the
same tool with it:
  $ ${COMMAND_NAME} import scan.csv --organization 1 \\
    --mapping scan.csv.mapping.json
A file whose columns all have the names of fields needs no mapping.
Fields:
${fieldsText(service)}
A list is a; b. A row whose id or ref is known (a ref is any text that
identifies the lead in your file) updates the lead; any other row is a new one.`;

interface ImportCommandOptions extends CsvImportOptions {
  organization?: number;
  dryRun?: boolean;
  before?: string;
  all?: boolean;
}

/** The command `import FILE`. */
export function importCommand(program: Command, session: Session, service: CsvService): void {
  const importer = addCommand(program, 'import', {
    summary: SUMMARIES.import,
    example: 'import dataset.json --organization 1',
  })
    .argument('<FILE>', 'file to import; - is standard input')
    .option(...organizationOption('organization that receives the data'))
    .option('--dry-run', 'check the file and report, but store nothing')
    .option(
      '--before <FILE>',
      'new file for the records that the import changes, from which "imports undo" brings them back',
    )
    .option('--all', 'report every error with its own line, not only the first 20');
  addCsvImportOptions(importer, service)
    .addHelpText('after', helpText(service))
    .action(async (file: string, options: ImportCommandOptions) => {
      const { rawArgs } = program as Command & { rawArgs: string[] };
      const command = new ImportCommand(session, service, file, options, rawArgs);
      await command.run().catch((error: unknown) => command.reportError(error));
    });
}

/** One call of `import`. */
class ImportCommand {
  private readonly progress: Progress;
  private readonly open: OpenFile;

  constructor(
    private readonly session: Session,
    private readonly service: CsvService,
    private readonly file: string,
    private readonly options: ImportCommandOptions,
    private readonly rawArgs: string[],
  ) {
    this.progress = new Progress(fileSize(file));
    this.open = openAgain(file, this.progress);
  }

  async run(): Promise<void> {
    const { service, options, open } = this;
    const given = options.mapping === undefined ? undefined : readMapping(options.mapping, service);
    if (given && options.csv !== undefined && options.csv !== given.section) {
      throw new UsageError(`--csv ${options.csv} differs from the section of ${options.mapping}, ${given.section}`);
    }
    const name = given?.section ?? options.csv;
    const wanted = csvImportOf(service, name, options);
    if (name === undefined || !wanted) return this.importDataset();
    const mapping = given ?? (await exactMapping(service.section(name), open));
    return mapping ? this.importCsv({ ...wanted, mapping }) : this.propose(name, wanted);
  }

  /** Reports an error as JSON, too, if that is wanted. */
  async reportError(error: unknown): Promise<never> {
    this.progress.stop();
    const errors = this.session.json && errorsJson(error);
    if (errors) await print(`${JSON.stringify(errors)}\n`);
    throw error;
  }

  private importDataset(): Promise<void> {
    const { datasets } = this.service;
    const source = wholeRecords(datasets, (issues) => {
      const text = decodeText(readChunks(this.file, this.progress.read));
      return datasetRecords(text, datasets, issues, this.commandWith('--csv leads'));
    });
    return this.import(source);
  }

  private importCsv(wanted: CsvImport): Promise<void> {
    const { file, open, options } = this;
    const base = file === '-' ? 'import' : file;
    const leftOut = wanted.lenient
      ? new LeftOutList(options.errors ?? `${base}.errors.csv`, `${base}.skipped.csv`, open, !options.dryRun)
      : undefined;
    return this.import(csvImportSource(this.service, wanted, open) as ImportSource, leftOut);
  }

  private async import(source: ImportSource, leftOut?: LeftOutList): Promise<void> {
    const { session, service, file, options } = this;
    const { organization, dryRun, all: reportsAll } = options;
    const before = beforeFileOf(options);
    let result: ImportResult;
    try {
      result = await importInto(session, organization, () => source, this.progress, {
        dryRun,
        reportsAll,
        receiveLeftOut: async (all, plan) => leftOut?.addAll(all, plan as CsvPlan),
        file,
        before,
      });
    } catch (error) {
      await leftOut?.remove();
      await before?.removeAfter(error);
      throw error;
    }
    const { datasets } = service;
    const finished = { datasets, result, leftOut, before, keepsBefore: options.before !== undefined };
    await session.print(reportJson(finished), { shown: reportText(finished) });
    // It is not a failure, but an exit status of its own.
    if (leftOut && leftOut.rows > 0) throw new RowsSkipped();
  }

  /** Shows how a file would be read and what would happen. It is imported if the person at the terminal says so. */
  private async propose(name: string, wanted: Omit<CsvImport, 'mapping'>): Promise<void> {
    const { session, file, options, open } = this;
    const mappingFile = `${file === '-' ? 'import' : file}.mapping.json`;
    if (existsSync(mappingFile)) {
      const advice = `Import with --mapping ${mappingFile}, or delete it for a new proposal.`;
      throw new CommandError(`${mappingFile} exists already. ${advice}`);
    }
    const mayAsk = process.stdin.isTTY && process.stdout.isTTY && !session.json && !options.dryRun && file !== '-';
    const state = mayAsk ? fileState(file) : undefined;
    const proposal = await proposeMapping(this.service.section(name), open);
    const { mapping } = proposal;
    const { result, error } = await this.tryImport({ ...wanted, mapping });
    const written = new NewFile(mappingFile);
    await written.append(`${mappingText(mapping)}\n`);
    await written.finish();
    const command = this.commandWith(`--mapping ${quoteArgument(mappingFile)}`);
    const keepsBefore = options.before !== undefined;
    const shown = { datasets: this.service.datasets, proposal, mappingFile, result, error, command, keepsBefore };
    await print(`${session.json ? JSON.stringify(proposalJson(shown)) : proposalText(shown)}\n`);
    const isPossible = result !== undefined && (!error || wanted.lenient === true);
    if (!mayAsk || !isPossible || !(await confirm('Import it like this? [y/N] '))) {
      throw new CommandError(session.json ? 'Nothing was imported: this is a proposal.' : '');
    }
    if (fileState(file) !== state) throw new CommandError(`${file} has changed meanwhile. Nothing was imported.`);
    await this.importCsv({ ...wanted, mapping });
  }

  /** What a dry run says of a file, and all its errors. */
  private async tryImport(wanted: CsvImport): Promise<{ result?: ImportResult; error?: ImportError }> {
    const { session, options, file, progress } = this;
    const leftOutIssues = new IssueCollector(options.all);
    const source = csvImportSource(this.service, { ...wanted, lenient: true }, this.open) as ImportSource;
    try {
      const result = await importInto(session, options.organization, () => source, progress, {
        dryRun: true,
        leftOutIssues,
        file,
      });
      return { result, error: leftOutIssues.hasAny ? leftOutIssues.error : undefined };
    } catch (error) {
      if (error instanceof ImportError) return { error };
      throw error;
    }
  }

  /** The command as it was called, with other options of the format. */
  private commandWith(format: string): string {
    const isFormat = (argument = ''): boolean => argument === '--csv';
    const args = this.rawArgs.filter((argument, index, all) => {
      const isOfFormat = isFormat(argument) || isFormat(all[index - 1]) || argument.startsWith('--csv=');
      return !isOfFormat && argument !== '--dry-run' && argument !== '--json';
    });
    return [COMMAND_NAME, ...args.map(quoteArgument), format].join(' ');
  }
}

/** @throws UsageError if it cannot be read, or has an error */
function readMapping(file: string, service: CsvService): Mapping {
  try {
    return parseMapping(readFileSync(file, 'utf8').replace(/^\uFEFF/, ''), service);
  } catch (error) {
    if (error instanceof MappingError) throw new UsageError(`${file}: ${error.message}`);
    throw new UsageError(`Cannot read ${file}: ${errorMessage(error)}`);
  }
}

/** A mapping as a person edits it: each column in a line. */
function mappingText({ columns, ...mapping }: Mapping): string {
  const lines = Object.entries(mapping)
    .filter(([, value]) => value !== undefined)
    .map(([key, value]) => `  ${JSON.stringify(key)}: ${JSON.stringify(value)},`);
  const columnLines = columns.map((column) => {
    const pairs = Object.entries(column).filter(([, value]) => value !== undefined);
    return `    { ${pairs.map(([key, value]) => `${JSON.stringify(key)}: ${JSON.stringify(value)}`).join(', ')} }`;
  });
  return ['{', ...lines, '  "columns": [', columnLines.join(',\n'), '  ]', '}'].join('\n');
}

/** A dry run changes nothing, so it writes no such file. */
function beforeFileOf({ before, dryRun }: ImportCommandOptions): BeforeFile | undefined {
  if (before === '' || before === '-') throw new UsageError('--before must be a file name');
  return before === undefined || dryRun ? undefined : new BeforeFile(before);
}

/** An argument as a shell reads it. */
const quoteArgument = (argument: string): string =>
  /^[\w./:@%+=,-]+$/.test(argument) ? argument : `"${argument.replace(/[\\"$`]/g, '\\$&')}"`;

/** Imports into an organization. Without an ID it is the only one. */
export async function importInto(
  session: Session,
  givenId: number | undefined,
  source: (id: number) => ImportSource,
  progress: Progress,
  { before, ...options }: Omit<ImportOptions, 'before'> & { before?: BeforeFile } = {},
): Promise<ImportResult> {
  try {
    return await session.withServices(async (services, _, finish) => {
      const { id } = await findOrganization(services, givenId);
      const onWritten = async (transaction: EntityManager): Promise<void> => {
        await before?.write(services.get(FormerRecords).read(transaction, id));
        finish();
      };
      const all = { ...options, before: before?.path, onProgress: progress.records, onWritten };
      return services.get(ImportService).importRecords(id, source(id), all);
    });
  } finally {
    progress.stop();
  }
}
