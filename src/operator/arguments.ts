import { Command } from 'commander';
import type { INestApplicationContext } from '@nestjs/common';
import { type Organization, OrganizationsService } from '../access/organizations.service';
import { MAX_INT32 } from '../fields/value-schemas';
import { isBlank, parseDecimal, isWithinLength, isStorableText, isUuid, toUtc } from '../fields/text';
import { COMMAND_NAME } from './command-name';
import { CommandError, UsageError } from './terminal/terminal';

/** Parsers of arguments and options. Their errors never repeat the value, which may be a key pasted by mistake. */

export interface CommandDescription {
  /** What the command does, in one or two sentences. Lists of commands show it, too. */
  summary: string;
  /** More about the command, which only its own help shows. */
  notes?: string;
  /** An example of its use, without the name of the program. */
  example: string;
}

/** Adds a command with a complete help text. */
export function addCommand(parent: Command, name: string, { summary, notes, example }: CommandDescription): Command {
  return parent
    .command(name)
    .summary(summary)
    .description(notes ? `${summary} ${notes}` : summary)
    .addHelpText('after', `\nExample:\n  $ ${COMMAND_NAME} ${example}`);
}

/**
 * @param read returns undefined for a value that does not meet the requirement
 * @param requirement the error for such a value
 */
export const parser =
  <T>(requirement: string, read: (value: string) => T | undefined) =>
  (value: string): T => {
    const result = read(value);
    if (result === undefined) throw new UsageError(requirement);
    return result;
  };

/** Collects the values of an option that may be given several times. */
export const collect =
  <T>(parse: (value: string) => T) =>
  (value: string, before: T[] = []): T[] => [...before, parse(value)];

/** Parses text that is stored: at most 255 characters, not all of them blank. */
export const parseText =
  (option: string) =>
  (value: string): string => {
    // Node decodes bytes that are not UTF-8 to this character, so a name in Latin-1 would be stored damaged.
    if (value.includes('\ufffd')) {
      throw new UsageError(`${option} must be UTF-8, without the replacement character U+FFFD`);
    }
    if (!isBlank(value) && isWithinLength(value, 255) && isStorableText(value)) return value;
    throw new UsageError(`${option} must have 1 to 255 characters, not all of them blank`);
  };

/** Parses a plain decimal number. The result is NaN for anything else, which fails the check of its range. */
export const parseNumber = (value: string): number => (/^\d+(\.\d+)?$/.test(value) ? Number(value) : NaN);

/** Parses one of a few words. */
export const parseChoice = <T extends string>(option: string, choices: readonly T[]) =>
  parser(`${option} must be one of ${choices.join(', ')}`, (value) => choices.find((choice) => choice === value));

/** Parses an ID that is a UUID. @param owner what has it, such as `a key` */
export const parseUuid = (name: string, owner: string) =>
  parser(`${name} must be the ID of ${owner}, which is a UUID`, (value) =>
    isUuid(value) ? value.toLowerCase() : undefined,
  );

/** Parses the ID of an organization. */
export const parseOrganizationId = (name: string) =>
  parser(
    `${name} must be the ID of an organization, which is a number (run "organizations list" for the IDs)`,
    (value) => {
      const id = parseDecimal(value);
      return Number.isSafeInteger(id) ? id : undefined;
    },
  );

/** Parses a date or a date-time. */
export const parseDateTimeOption = (option: string) =>
  parser(`${option} must be a date such as 2027-01-31 or a date-time such as 2027-01-31T18:00:00Z`, (value) => {
    const utc = toUtc(value);
    return utc === undefined ? undefined : new Date(utc);
  });

/** Parses an integer from 0 to a maximum. */
export const parseInteger = (option: string, max: number) =>
  parser(`${option} must be an integer from 0 to ${max}`, (value) => {
    const number = parseDecimal(value);
    return number <= max ? number : undefined;
  });

const SECONDS_PER_UNIT: Record<string, number> = { s: 1, m: 60, h: 3_600, d: 86_400 };
const MAX_DURATION_S = 999_999_999;

/** Describes durations in help and errors. */
export const DURATION_HELP = 'such as 90s, 15m, 24h or 7d, or a number of seconds';

/** Parses a duration such as `90s`, `15m`, `24h` or `7d`, or a number of seconds. The result is in seconds. */
export const parseDuration = (option: string) =>
  parser(`${option} must be a duration ${DURATION_HELP}, and at most ${MAX_DURATION_S} seconds`, (value) => {
    const [, number, unit = 's'] = /^(\d{1,9})([smhd])?$/.exec(value) ?? [];
    const seconds = Number(number) * (SECONDS_PER_UNIT[unit] ?? NaN);
    return seconds <= MAX_DURATION_S ? seconds : undefined;
  });

/** The option that names an organization, for commands that need one: without it they use the only one there is. */
export const organizationOption = (purpose: string) =>
  ['--organization <ID>', `${purpose} (default: the only one)`, parseOrganizationId('--organization')] as const;

/** How many organizations an error lists at most. */
const MAX_LISTED_ORGANIZATIONS = 10;

/**
 * @returns the organization with the ID or, without an ID, the only one
 * @throws CommandError if it does not exist, UsageError if there is more than one to choose from
 */
export async function findOrganization(services: INestApplicationContext, id?: number): Promise<Organization> {
  const organizations = services.get(OrganizationsService);
  if (id !== undefined) return requireFound('Organization', id, id <= MAX_INT32 ? await organizations.find(id) : null);
  const all = await organizations.list();
  const [only] = all;
  if (!only) {
    throw new CommandError(
      `There are no organizations yet. To create one: ${COMMAND_NAME} organizations create --name NAME`,
    );
  }
  if (all.length === 1) return only;
  const names = all.slice(0, MAX_LISTED_ORGANIZATIONS).map(({ id, name }) => `${id} (${name})`);
  const more = all.length > names.length ? ` and ${all.length - names.length} more` : '';
  throw new UsageError(`Choose an organization with --organization ID: ${names.join(', ')}${more}`);
}

/** @throws CommandError if there is none with the ID */
export function requireFound<T>(kind: 'Key' | 'Organization' | 'Webhook', id: string | number, found: T | null): T {
  if (found !== null) return found;
  throw new CommandError(`${kind} ${id} does not exist. Run "${kind.toLowerCase()}s list" for the IDs.`);
}
