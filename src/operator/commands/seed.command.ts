import type { Command } from 'commander';
import { isCalendarDay } from '../../fields/text';
import type { CsvService } from '../../csv/csv.service';
import { addCommand, organizationOption, parseInteger, parser } from '../arguments';
import { wholeRecords } from '../../datasets/read-json';
import { inventedRecords, type Seed } from '../../demo/seed';
import { Progress } from '../terminal/progress';
import type { Session } from '../session';
import { ImportReport } from '../import-report';
import { importInto } from './import.command';

type SeedOptions = Pick<Seed, 'leads' | 'until'> & { organization?: number };

const MAX_LEADS = 10_000_000;
/** Another number would produce other data. */
const SEED = 42;

const parseDay = parser('--until must be a date such as 2027-03-31', (value) =>
  isCalendarDay(value) && value > '1980' && value < '9000' ? value : undefined,
);

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
    .option('--until <DATE>', 'end of the three years that the data covers', parseDay, '2026-06-30')
    .action((options: SeedOptions) => seed(session, service, options));
}

async function seed(session: Session, service: CsvService, { organization, ...options }: SeedOptions): Promise<void> {
  const source = (organizationId: number) =>
    wholeRecords(service.datasets, () => inventedRecords({ organizationId, seed: SEED, ...options }));
  const result = await importInto(session, organization, source, new Progress());
  const { text, lines } = new ImportReport(service.datasets, result, false);
  // Repeated, it would add further records, so its success is reported even if the result cannot be printed.
  await session.print({ imported: result.imported }, () => lines.join('\n'), `The import was stored. ${text}`);
}
