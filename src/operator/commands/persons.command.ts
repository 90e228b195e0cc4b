import type { INestApplicationContext } from '@nestjs/common';
import type { Command } from 'commander';
import { OrganizationsService } from '../../access/organizations.service';
import { digitsOf, normalizeEmail } from '../../exchange/persons/person-query';
import { type Person, PersonsService } from '../../exchange/persons/persons.service';
import {
  addCommand,
  collect,
  findOrganization,
  organizationOption,
  parseInteger,
  parser,
  parseUuid,
} from '../arguments';
import { hashPerson, readErasures, recordErasure } from '../erasure-file';
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

/** Fewer digits would be found in every second number. */
const MIN_PHONE_DIGITS = 5;

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
    .option('--record <FILE>', 'append a line without the address, to erase the person again after a restore')
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
  const address = normalizeEmail(value);
  return /^\S+@\S+$/.test(address) ? address : undefined;
});

const parsePhone = parser(`--phone must be a phone number with at least ${MIN_PHONE_DIGITS} digits`, (value) => {
  const digits = digitsOf(value);
  return digits.length >= MIN_PHONE_DIGITS ? digits : undefined;
});

const namesNobody = ({ email, phone, lead }: PersonOptions): boolean => [...email, ...phone, ...lead].length === 0;

async function personOf(services: INestApplicationContext, options: PersonOptions): Promise<Person> {
  const { id: organizationId } = await findOrganization(services, options.organization);
  return { organizationId, emails: options.email, phones: options.phone, leads: options.lead };
}

async function findPerson(session: Session, options: FindOptions): Promise<void> {
  if (namesNobody(options)) throw new UsageError('Name the person with --email, --phone or --lead');
  const found = await session.withServices(async (services) =>
    services.get(PersonsService).find(await personOf(services, options)),
  );
  const { output } = options;
  if (output) await writeFile(output, (append) => append(`${JSON.stringify(found, null, 2)}\n`));
  const { events: _, ...result } = found;
  await session.print(result, { shown: { ...result, records: result.records.map(({ id }) => id) } });
}

async function erasePerson(session: Session, options: EraseOptions): Promise<void> {
  const { again, record, yes, alsoAsUser = false } = options;
  requireConsistent(options);
  const erasure = await session
    .withServices(async (services) => {
      const persons = again ? await personsOf(services, again) : [await personOf(services, options)];
      return services.get(PersonsService).erase(persons, alsoAsUser, async (leads) => {
        if (yes !== undefined && yes !== leads) {
          throw new CommandError(`This would delete ${formatCount(leads, 'lead')}, not ${yes}. Nothing was changed.`);
        }
        const recorded = yes !== undefined && record ? persons : [];
        for (const { organizationId, emails } of recorded) await recordErasure(record!, organizationId, emails);
        return yes !== undefined;
      });
    })
    .catch((error: unknown) => {
      const { path } = error as NodeJS.ErrnoException;
      throw path ? new CommandError(`Cannot use ${path}: ${errorMessage(error)}. Nothing was changed.`) : error;
    });
  if (erasure.erased && !record && !again) {
    printStatus(
      'Not recorded: after a restore of an older backup, this person is back and no command knows it. ' +
        '--record FILE keeps a line without the address, for "persons erase --again FILE".',
    );
  }
  await session.print(erasure, {
    hint: erasure.erased ? '' : `To do it: the same command with --yes ${erasure.leads}`,
  });
}

function requireConsistent(options: EraseOptions): void {
  const { again, record, alsoAsUser, organization, phone, lead } = options;
  if (again) {
    const isAlone = namesNobody(options) && !record && !alsoAsUser && organization === undefined;
    if (!isAlone) throw new UsageError('--again takes no other option but --yes');
    return;
  }
  if (namesNobody(options)) throw new UsageError('Name the person with --email, --phone or --lead');
  if (record && [...phone, ...lead].length > 0) {
    throw new UsageError('--record works with --email alone, because only an address can be found again');
  }
}

/** The persons of all organizations of whom a file has a line. */
async function personsOf(services: INestApplicationContext, file: string): Promise<Person[]> {
  const { salt, hashes } = await readErasures(file);
  const persons: Person[] = [];
  for (const { id: organizationId } of await services.get(OrganizationsService).list()) {
    const addresses = await services.get(PersonsService).addresses(organizationId);
    const emails = addresses.filter((address) => hashes.has(hashPerson(salt, organizationId, address)));
    if (emails.length > 0) persons.push({ organizationId, emails, phones: [], leads: [] });
  }
  return persons;
}
