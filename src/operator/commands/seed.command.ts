import { Command } from 'commander';
import { MAX_INT32 } from '../../fields/schemas';
import { isCalendarDay } from '../../fields/text';
import type { CsvService } from '../../csv/csv.service';
import { addCommand, GlobalOptions, organizationOption, parseInteger } from '../arguments';
import { wholeRecords } from '../../datasets/read-json';
import { inventedRecords, type Seed } from '../../demo/seed';
import { Progress } from '../terminal/progress';
import { printResult, UsageError } from '../terminal/terminal';
import type { Session } from '../session';
import { ImportReport } from '../import-report';
import { importInto } from './import.command';

type SeedOptions = GlobalOptions & Omit<Seed, 'organizationId'> & { organization?: number };

const MAX_LEADS = 10_000_000;

/** The command `seed`. */
export function seedCommand(program: Command, session: Session, service: CsvService): void {
  addCommand(program, 'seed', {
    summary: 'Fill an organization with made-up data.',
    notes: 'The same options always produce the same data. To remove it, delete the organization.',
    jsonResult:
      '{imported: {users, tagGroups, events, activations, leads, leadActivityEvents, industryEvents}}, the number of records per section',
    example: 'seed --organization 1 --leads 100000',
  })
    .option(...organizationOption('organization that receives the data'))
    .option('--leads <N>', 'number of leads; other records are in proportion', parseInteger('--leads', MAX_LEADS), 1000)
    .option(
      '--seed <N>',
      'number that the data is generated from; another number produces other data',
      parseInteger('--seed', MAX_INT32),
      42,
    )
    .option('--until <DATE>', 'end of the three years that the data covers', parseDay, '2026-06-30')
    .action((_, self: Command) => seed(session, service, self.optsWithGlobals()));
}

async function seed(
  session: Session,
  service: CsvService,
  { json, organization, ...options }: SeedOptions,
): Promise<void> {
  const source = (organizationId: number) =>
    wholeRecords(service.datasets, () => inventedRecords({ organizationId, ...options }));
  const result = await importInto(session, organization, source, new Progress());
  const { text, lines } = new ImportReport(service.datasets, result, undefined, false);
  // Repeated, it would add further records, so its success is reported even if the result cannot be printed.
  await printResult(json, { imported: result.imported }, () => lines.join('\n'), `The import was stored. ${text}`);
}

function parseDay(value: string): string {
  if (isCalendarDay(value) && value > '1980' && value < '9000') return value;
  throw new UsageError('--until must be a date such as 2027-03-31');
}
