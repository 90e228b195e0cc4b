import type { Command } from 'commander';
import type { CsvService } from '../../exchange/csv/csv.service';
import { addCommand, organizationOption, parseInteger } from '../arguments';
import { wholeRecords } from '../../exchange/datasets/read-json';
import { inventedRecords } from '../demo/seed';
import { Progress } from '../terminal/progress';
import type { Session } from '../session';
import { SUMMARIES } from '../summaries';
import { importInto } from './import.command';

interface SeedOptions {
  organization?: number;
  leads: number;
}

const MAX_LEADS = 10_000_000;

/** The command `seed`. */
export function seedCommand(program: Command, session: Session, service: CsvService): void {
  addCommand(program, 'seed', {
    summary: SUMMARIES.seed,
    notes: 'The same options always produce the same data. To remove it, delete the organization.',
    example: 'seed --organization 1 --leads 100000',
  })
    .option(...organizationOption('organization that receives the data'))
    .option('--leads <N>', 'number of leads; other records are in proportion', parseInteger('--leads', MAX_LEADS), 1000)
    .action((options: SeedOptions) => seed(session, service, options));
}

async function seed(session: Session, service: CsvService, { organization, leads }: SeedOptions): Promise<void> {
  const source = (id: number) => wholeRecords(service.datasets, () => inventedRecords(id, leads));
  const { importId, imported } = await importInto(session, organization, source, new Progress());
  await session.print({ importId, imported });
}
