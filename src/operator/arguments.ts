import { Command } from 'commander';
import type { INestApplicationContext } from '@nestjs/common';
import { type Organization, OrganizationsService } from '../access/organizations.service';
import { MAX_INT32 } from '../fields/schemas';
import { parseDecimal, isWithinLength, isStorableText, isUuid, toUtc } from '../fields/text';
import { escapeInvisible } from '../datasets/quote';
import { COMMAND_NAME } from './command-name';
import { configureUsageErrors } from './program';
import { CommandError, UsageError } from './terminal/terminal';

/** Parsers of arguments and options. Their errors never repeat the value, which may be a key pasted by mistake. */

/** Options of every command. */
export interface GlobalOptions {
  json?: boolean;
}

export interface CommandDescription {
  /** What the command does, in one or two sentences. Lists of commands show it, too. */
  summary: string;
  /** More about the command, which only its own help shows. */
  notes?: string;
  /** The shape of the JSON that it prints with --json. */
  jsonResult?: string;
  /** An example of its use, without the name of the program. */
  example: string;
}

/** Adds a command with a complete help text. */
export function addCommand(
  parent: Command,
  name: string,
  { summary, notes, jsonResult, example }: CommandDescription,
): Command {
  const text = notes ? `${summary} ${notes}` : summary;
  return configureUsageErrors(parent.command(name))
    .summary(summary)
    .description(jsonResult ? `${text}\n\nWith --json it prints ${jsonResult}.` : text)
    .addHelpText('after', `\nExample:\n  $ ${COMMAND_NAME} ${example}`);
}

/** Parses text that is stored: at most 255 characters, not all of them blank. */
export const parseText =
  (option: string) =>
  (value: string): string => {
    // Node decodes bytes that are not UTF-8 to this character, so a name in Latin-1 would be stored damaged.
    if (value.includes('\ufffd')) {
      throw new UsageError(`${option} must be UTF-8, without the replacement character U+FFFD`);
    }
    if (/\S/.test(value) && isWithinLength(value, 255) && isStorableText(value)) return value;
    throw new UsageError(`${option} must have 1 to 255 characters, not all of them blank`);
  };

/** Parses a plain decimal number. The result is NaN for anything else, which fails the check of its range. */
export const parseNumber = (value: string): number => (/^\d+(\.\d+)?$/.test(value) ? Number(value) : NaN);

/** Parses the ID of an organization. */
export const parseOrganizationId =
  (name: string) =>
  (value: string): number => {
    const id = parseDecimal(value);
    if (id >= 0 && Number.isSafeInteger(id)) return id;
    throw new UsageError(
      `${name} must be the ID of an organization, which is a number (run "organizations list" for the IDs)`,
    );
  };

/** The option that names an organization, for commands that need one: without it they use the only one there is. */
export const organizationOption = (purpose: string) =>
  ['--organization <ID>', `${purpose} (default: the only one)`, parseOrganizationId('--organization')] as const;

/**
 * @returns the organization with the ID or, without an ID, the only one
 * @throws CommandError if it does not exist, UsageError if there is more than one to choose from
 */
export async function findOrganization(services: INestApplicationContext, id?: number): Promise<Organization> {
  const organizations = services.get(OrganizationsService);
  if (id === undefined) return onlyOrganization(await organizations.list());
  const organization = id <= MAX_INT32 ? await organizations.find(id) : null;
  if (organization) return organization;
  throw new CommandError(`Organization ${id} does not exist. Run "organizations list" for the IDs.`);
}

/** How many organizations an error lists at most. */
const MAX_LISTED_ORGANIZATIONS = 10;

function onlyOrganization(organizations: Organization[]): Organization {
  const [first, ...others] = organizations;
  if (!first) {
    throw new CommandError(
      `There are no organizations yet. To create one: ${COMMAND_NAME} organizations create --name NAME`,
    );
  }
  if (others.length === 0) return { id: first.id, name: first.name };
  const listed = organizations.slice(0, MAX_LISTED_ORGANIZATIONS);
  const names = listed.map(({ id, name }) => `${id} (${escapeInvisible(name)})`);
  const moreCount = organizations.length - listed.length;
  const more = moreCount > 0 ? ` and ${moreCount} more` : '';
  throw new UsageError(`Choose an organization with --organization ID: ${names.join(', ')}${more}`);
}

/** Parses the ID of an API key. */
export function parseKeyId(value: string): string {
  if (isUuid(value)) return value.toLowerCase();
  throw new UsageError(
    'KEYID must be the ID of a key, which is a UUID, and not the key itself (run "keys list" for the IDs)',
  );
}

/** Parses a date or a date-time. */
export const parseDateTimeOption =
  (option: string) =>
  (value: string): Date => {
    const utc = toUtc(value);
    if (utc !== undefined) return new Date(utc);
    throw new UsageError(`${option} must be a date such as 2027-01-31 or a date-time such as 2027-01-31T18:00:00Z`);
  };

const SECONDS_PER_UNIT: Record<string, number> = { s: 1, m: 60, h: 3_600, d: 86_400 };
const MAX_DURATION_S = 999_999_999;

/** Describes durations in help and errors. */
export const DURATION_HELP = 'such as 90s, 15m, 24h or 7d, or a number of seconds';

/** Parses a duration such as `90s`, `15m`, `24h` or `7d`, or a number of seconds. The result is in seconds. */
export const parseDuration =
  (option: string) =>
  (value: string): number => {
    const [, number, unit = 's'] = /^(\d{1,9})([smhd])?$/.exec(value) ?? [];
    const seconds = Number(number) * (SECONDS_PER_UNIT[unit] ?? NaN);
    if (seconds <= MAX_DURATION_S) return seconds;
    throw new UsageError(`${option} must be a duration ${DURATION_HELP}, and at most ${MAX_DURATION_S} seconds`);
  };

/** Parses an integer from 0 to a maximum. */
export const parseInteger =
  (option: string, max: number) =>
  (value: string): number => {
    const number = parseDecimal(value);
    if (number <= max) return number;
    throw new UsageError(`${option} must be an integer from 0 to ${max}`);
  };
