import { existsSync } from 'node:fs';
import { Command } from 'commander';
import type { DataSource } from 'typeorm';
import { OrganizationsService } from '../access/organizations.service';
import { MAX_INT32 } from '../api-schema/schemas';
import { decimal as digits, hasAtMost, isStorableText, isUuid, toUtc } from '../api-schema/text';
import { Refusal, UsageError } from './terminal/terminal';

/**
 * Readers of arguments and options. What they refuse is not repeated: somebody may have pasted a key.
 */

/** Options that every command has. */
export interface GlobalOptions {
  json?: boolean;
}

/** How the command line is run from the project's directory, and where nothing can be built, as in a container. */
export const PROGRAM = existsSync('scripts/build.mjs') ? 'npm run --silent operator --' : 'node dist/src/cli/main.js';

interface About {
  /** what it does, in one sentence or two */
  about: string;
  /** the result with --json */
  result?: string;
  /** command lines, from the command on, or whole ones that contain the program */
  examples: string[];
}

/** A command whose help a stranger can work from. */
export function command(parent: Command, name: string, { about, result, examples }: About): Command {
  const lines = examples.map((line) => `  $ ${line.includes(PROGRAM) ? line : `${PROGRAM} ${line}`}`);
  return parent
    .command(name)
    .summary(about)
    .description(result ? `${about}\n\nWith --json it prints ${result}.` : about)
    .addHelpText('after', `\nExamples:\n${lines.join('\n')}`);
}

/** What Node reads in the place of bytes that are no UTF-8: of a name in Latin-1, ü would be stored as this. */
const REPLACEMENT = '\ufffd';

/** Text that is stored: not blank, at most 255 characters. */
export const text =
  (option: string) =>
  (value: string): string => {
    if (value.includes(REPLACEMENT)) {
      throw new UsageError(`${option} must be UTF-8: it has bytes that are none, or the sign U+FFFD in their place`);
    }
    if (/\S/.test(value) && hasAtMost(value, 255) && isStorableText(value)) return value;
    throw new UsageError(`${option} must be a text of 1 to 255 characters that is not blank`);
  };

/** A plain decimal number, or NaN, which the check of its bounds refuses. */
export const decimal = (value: string): number => (/^\d+(\.\d+)?$/.test(value) ? Number(value) : NaN);

/** The id of an organization. */
export function organization(value: string): number {
  const id = digits(value);
  if (id >= 0 && Number.isSafeInteger(id)) return id;
  throw new UsageError('--organization must be the number of an organization (organizations list shows them)');
}

/** @throws Refusal when there is no such organization */
export async function requireOrganization(dataSource: DataSource, id: number): Promise<void> {
  const exists = id <= MAX_INT32 && (await new OrganizationsService(dataSource.manager).exists(id));
  if (!exists) throw new Refusal(`organization ${id} does not exist`);
}

/** The id of a key. */
export function keyId(value: string): string {
  if (isUuid(value)) return value.toLowerCase();
  throw new UsageError('KEYID must be the id of a key, a uuid (keys list shows them), not the key itself');
}

/** A day or a date-time. */
export function moment(value: string): Date {
  const utc = toUtc(value);
  if (utc !== undefined) return new Date(utc);
  throw new UsageError('--expires-at must be a date (2027-01-31) or an ISO 8601 date-time (2027-01-31T18:00:00Z)');
}

/** A whole number from 0 on. */
export const wholeNumber =
  (option: string, most: number) =>
  (value: string): number => {
    const number = digits(value);
    if (number <= most) return number;
    throw new UsageError(`${option} must be a whole number from 0 to ${most}`);
  };
