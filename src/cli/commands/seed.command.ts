import { Command } from 'commander';
import { MAX_INT32 } from '../../api-schema/schemas';
import { isCalendarDay } from '../../api-schema/text';
import { command, GlobalOptions, organization, wholeNumber } from '../arguments';
import type { UncheckedRecord } from '../import/import.service';
import { importedText, importInto, storedText } from './import.command';
import { Progress } from '../terminal/progress';
import { Chance } from '../seed/seed.chance';
import { inventLead, meetings } from '../seed/seed.leads';
import { invent } from '../seed/seed.organization';
import { Seed, seedTotal } from '../seed/seed.plan';
import { answer, UsageError } from '../terminal/terminal';

const MOST_LEADS = 10_000_000;

/** `seed` */
export function seedCommand(program: Command): void {
  command(program, 'seed', {
    about: 'Fill an organization with invented data, of any size and the same each time.',
    result:
      '{imported: {users, tagGroups, events, activations, leads, leadActivityEvents, industryEvents}}, counts of records',
    examples: ['seed --organization 1 --leads 100000', 'seed --organization 1 --leads 500 --seed 7 --until 2027-03-31'],
  })
    .requiredOption('--organization <ID>', 'whose data it becomes', organization)
    .option(
      '--leads <N>',
      `how many leads: 0 to ${MOST_LEADS}; all else is in proportion`,
      wholeNumber('--leads', MOST_LEADS),
      1000,
    )
    .option('--seed <N>', 'the same number gives the same data', wholeNumber('--seed', MAX_INT32), 42)
    .option('--until <DATE>', 'the day before which it happened, but for a few events', day, '2026-06-30')
    .addHelpText(
      'after',
      `
It makes users, tag groups, events, activations, leads, and what was done with them.
Nobody is real: addresses of e-mail and of the web end in .example, phone numbers are kept for fiction. Doing it again
with the same numbers changes nothing. Take an organization of its own: there is no command to take the data away.`,
    )
    .action((_, self: Command) => seed(self.optsWithGlobals()));
}

type SeedOptions = GlobalOptions & Omit<Seed, 'organizationId'> & { organization: number };

async function seed({ json, organization: organizationId, leads, seed: number, until }: SeedOptions): Promise<void> {
  const plan = { organizationId, leads, seed: number, until };
  const progress = new Progress({ records: seedTotal(plan) });
  const { imported } = await importInto(organizationId, progress, (imports) =>
    imports.importRecords(organizationId, seedRecords(plan), progress.records),
  );
  await answer(json, { imported }, () => importedText(imported), storedText(imported));
}

/** The records of an invented organization, parents first, in constant memory. */
async function* seedRecords(plan: Seed): AsyncGenerator<UncheckedRecord> {
  const chance = await Chance.of(plan);
  const world = invent(plan, chance);
  for (const section of ['users', 'tagGroups', 'events'] as const) {
    for (const record of world[section]) yield { section, record };
  }
  for (const record of [...world.activations.values()].flat()) yield { section: 'activations', record };
  for (const meeting of meetings(world, chance, plan.leads)) {
    const { lead, activities } = inventLead(meeting, world, chance);
    yield { section: 'leads', record: lead };
    for (const record of activities) yield { section: 'leadActivityEvents', record };
  }
}

function day(value: string): string {
  if (isCalendarDay(value) && value > '1980' && value < '9000') return value;
  throw new UsageError('--until must be a date, as in 2027-03-31');
}
