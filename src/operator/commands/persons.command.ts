import type { INestApplicationContext } from '@nestjs/common';
import type { Command } from 'commander';
import { ErasedPersonsService, type KeptLead } from '../../exchange/persons/erased-persons.service';
import type { LeadSummary } from '../../exchange/persons/lead-matches';
import { MIN_PHONE_DIGITS, type Person } from '../../exchange/persons/person-query';
import { PersonsService } from '../../exchange/persons/persons.service';
import { isStorableText } from '../../fields/text';
import {
  addCommand,
  collect,
  findOrganization,
  organizationOption,
  parseInteger,
  parser,
  parseUuid,
} from '../arguments';
import { formerHash, readErasures, recordErasure, requireErasureFile } from '../erasure-file';
import { writeFile } from '../output-file';
import type { Session } from '../session';
import { SUMMARIES } from '../summaries';
import { formatCount } from '../terminal/table';
import { CommandError, errorMessage, printStatus, UsageError } from '../terminal/terminal';

interface PersonOptions {
  organization?: number;
  email: string[];
  phone: string[];
  lead: string[];
}

interface FindOptions extends PersonOptions {
  output?: string;
}

interface EraseOptions extends PersonOptions {
  yes?: number;
  alsoAsUser?: boolean;
  record?: string;
  again?: string;
}

/** The command `persons …`. */
export function personsCommand(program: Command, session: Session): void {
  const group = addCommand(program, 'persons', {
    summary: SUMMARIES.persons,
    example: 'persons find --email a@b.example',
  });
  const find = addCommand(group, 'find', {
    summary: 'Show what an organization has about a person, and where else the address or number occurs.',
    example: 'persons find --email a@b.example',
  });
  withPersonOptions(find)
    .option('--output <FILE>', 'also write it as one JSON document, which only its owner can read')
    .action((options: FindOptions) => findPerson(session, options));
  const erase = addCommand(group, 'erase', {
    summary: 'Erase a person. Without --yes it only shows what it would do.',
    notes: 'Texts that mention the person are listed and never changed.',
    example: 'persons erase --email a@b.example --yes 1',
  });
  withPersonOptions(erase)
    .option('--yes <N>', 'do it; N is the number of leads that are deleted', parseInteger('--yes', 999_999_999))
    .option('--also-as-user', 'also remove the address from users, creators and scanners')
    .option('--record <FILE>', 'append a line of hashes, to erase the person again after a restore')
    .option('--again <FILE>', 'erase everybody whom FILE has a line of, in all organizations')
    .action((options: EraseOptions) => erasePerson(session, options));
}

const withPersonOptions = (command: Command): Command =>
  command
    .option(...organizationOption('whose records to search'))
    .option('--email <ADDRESS>', 'e-mail address, in any case (may be given several times)', collect(parseEmail), [])
    .option(
      '--phone <NUMBER>',
      'phone number, compared by digits (may be given several times)',
      collect(parsePhone),
      [],
    )
    .option('--lead <ID>', 'ID of a lead (may be given several times)', collect(parseUuid('--lead', 'a lead')), []);

const parseEmail = parser('--email must be an e-mail address', (value) => {
  const address = value.trim();
  return /^.+@.+$/s.test(address) && isStorableText(address) ? address : undefined;
});

const parsePhone = parser(`--phone must be a phone number with at least ${MIN_PHONE_DIGITS} digits`, (value) =>
  value.replace(/[^0-9]/g, '').replace(/^00/, '').length >= MIN_PHONE_DIGITS && isStorableText(value)
    ? value
    : undefined,
);

const namesNobody = ({ email, phone, lead }: PersonOptions): boolean => [...email, ...phone, ...lead].length === 0;

async function personOf(services: INestApplicationContext, options: PersonOptions): Promise<Person> {
  const { id: organizationId } = await findOrganization(services, options.organization);
  return { organizationId, emails: options.email, phones: options.phone, leads: options.lead };
}

async function findPerson(session: Session, options: FindOptions): Promise<void> {
  if (namesNobody(options)) throw new UsageError('Name the person with --email, --phone or --lead');
  const { data, leads, document } = await session.withServices(async (services) =>
    services.get(PersonsService).find(await personOf(services, options)),
  );
  const { output } = options;
  if (output) await writeFile(output, (append) => append(`${JSON.stringify(document, null, 2)}\n`));
  const activityEvents = data.activityEvents.length;
  await session.print(data, { shown: { ...data, records: leads, activityEvents } });
}

/** Whom a command erases, and who stays though a record of erasures names what they have. */
interface Selection {
  persons: Person[];
  kept: KeptLead[];
}

async function selectPersons(services: INestApplicationContext, options: EraseOptions): Promise<Selection> {
  if (!options.again) return { persons: [await personOf(services, options)], kept: [] };
  const record = await readErasures(options.again);
  return services.get(ErasedPersonsService).find(record, formerHash(record.salt));
}

async function erasePerson(session: Session, options: EraseOptions): Promise<void> {
  const { again, record, alsoAsUser = false } = options;
  requireConsistent(options);
  const { erasure, kept } = await session
    .withServices(async (services) => {
      if (record) await requireErasureFile(record);
      const { persons, kept } = await selectPersons(services, options);
      const confirm = (leads: LeadSummary[]): Promise<boolean> => confirmErasure(services, options, persons, leads);
      const erasure = await services.get(PersonsService).erase(persons, { alsoAsUser, onWait: announceWait, confirm });
      return { erasure, kept };
    })
    .catch((error: unknown) => {
      const { path } = error as NodeJS.ErrnoException;
      throw path ? new CommandError(`Cannot use ${path}: ${errorMessage(error)}. Nothing was changed.`) : error;
    });
  if (erasure.erased && !record && !again) {
    printStatus(
      'Not recorded: after a restore of an older backup, this person is back, and no command knows it. ' +
        'An erasure with --record FILE keeps a line of hashes, for "persons erase --again FILE".',
    );
  }
  await session.print(again ? { ...erasure, kept } : erasure, {
    hint: erasure.erased ? '' : hintFor(options, erasure.leads),
  });
}

const announceWait = (organizationId: number): void =>
  printStatus(`Waiting for an import of organization ${organizationId} to end.`);

/** Records the person before anything is deleted. @throws CommandError if there are not as many leads as `--yes` says */
async function confirmErasure(
  services: INestApplicationContext,
  { yes, record }: EraseOptions,
  persons: Person[],
  leads: LeadSummary[],
): Promise<boolean> {
  if (yes === undefined) return false;
  if (yes !== leads.length) {
    throw new CommandError(`This would delete ${formatCount(leads.length, 'lead')}, not ${yes}. Nothing was changed.`);
  }
  const leadIds = leads.map(({ id }) => id);
  for (const person of record ? persons : []) {
    await recordErasure(record!, (salt) => services.get(ErasedPersonsService).hash(salt, person, leadIds));
  }
  return true;
}

function hintFor({ again, record }: EraseOptions, leads: number): string {
  if (again && leads === 0) return '';
  const hint = `To do it: the same command with --yes ${leads}`;
  if (again || record) return hint;
  return `${hint} and, to be able to do it again after a restore, with --record FILE`;
}

function requireConsistent(options: EraseOptions): void {
  const { again, record, alsoAsUser, organization } = options;
  if (again) {
    const isAlone = namesNobody(options) && !record && !alsoAsUser && organization === undefined;
    if (!isAlone) throw new UsageError('--again takes no other option but --yes');
    return;
  }
  if (namesNobody(options)) throw new UsageError('Name the person with --email, --phone or --lead');
}
