import { setTimeout as pause } from 'node:timers/promises';
import { GoneException } from '@nestjs/common';
import type { Command } from 'commander';
import { ChangesService } from '../../feed/changes/changes.service';
import { MAX_CHANGES } from '../../feed/changes/changes.sql';
import type { JsonText } from '../../data/database/statements';
import { addCommand, organizationOption, findOrganization } from '../arguments';
import type { Session } from '../session';
import { SUMMARIES } from '../summaries';
import { OutputClosed, print, CommandError, UsageError } from '../terminal/terminal';

const POLL_INTERVAL_MS = 1000;

interface ChangesOptions {
  organization?: number;
  follow?: boolean;
}

/** The command `changes …`. */
export function changesCommand(program: Command, session: Session): void {
  const changes = addCommand(program, 'changes', {
    summary: SUMMARIES.changes,
    notes:
      'Without --follow it shows what a new client gets: every record once (a snapshot), then what has changed meanwhile. ' +
      'With --follow it shows changes from now on, polls once a second, and ends with Ctrl-C. The table shows which ' +
      'records change, but not their contents; --json prints whole records, including personal data.',
    example: 'changes --organization 1 --follow',
  })
    .option(...organizationOption('organization whose changes to show'))
    .option('--follow', 'keep polling and show changes from now on')
    .action((options: ChangesOptions) => showChanges(session, options));
  addCommand(changes, 'reset', {
    summary: 'Invalidate all cursors, so that clients and webhooks start again with a snapshot.',
    notes:
      "Run it after you have put back an older copy of the database's files: Lanyard cannot detect cursors that are newer " +
      'than the copy. No records and no changes are deleted.',
    example: 'changes reset',
  }).action(() => session.run(async (services) => ({ generation: await services.get(ChangesService).reset() })));
}

async function showChanges(session: Session, { organization, follow = false }: ChangesOptions): Promise<void> {
  if (session.json && follow)
    throw new UsageError('--json prints one value, which --follow would never complete. Use one of them');
  await session.withServices(async (services) => {
    const { id } = await findOrganization(services, organization);
    const pages = readPages(services.get(ChangesService), id, follow);
    await (session.json ? printArray(pages) : printTable(pages)).catch((error: unknown) => {
      if (error instanceof GoneException)
        throw new CommandError('The change feed was reset in the meantime. Run the command again.');
      if (!(error instanceof OutputClosed)) throw error; // `… | head` has read all that it wanted
    });
  });
}

/** Yields pages until there are no more changes, or endlessly with `follow`. */
async function* readPages(
  service: ChangesService,
  organizationId: number,
  follow: boolean,
): AsyncGenerator<JsonText[]> {
  const caller = { organizationId, keyId: '' };
  const limit = MAX_CHANGES;
  let page = await service.page(caller, follow ? { limit, since: 'now' } : { limit });
  for (;;) {
    yield page.changes;
    if (!page.hasMore && !follow) return;
    if (!page.hasMore) await pause(POLL_INTERVAL_MS);
    page = await service.page(caller, { limit, cursor: page.cursor });
  }
}

async function printArray(pages: AsyncIterable<JsonText[]>): Promise<void> {
  let separator = '[';
  for await (const changes of pages) {
    if (changes.length === 0) continue;
    await print(separator + changes.join(','));
    separator = ',';
  }
  await print(separator === '[' ? '[]\n' : ']\n');
}

interface Change {
  at: string;
  operation: string;
  resource: string;
  id?: string | number;
  eventId?: number;
  leadId?: string;
}

async function printTable(pages: AsyncIterable<JsonText[]>): Promise<void> {
  let header = tableLine({ at: 'at', operation: 'operation', resource: 'resource', id: 'id' });
  for await (const changes of pages) {
    // Not before the first page: who reads the header may change records at once, and waits for them.
    await print(header + changes.map((change) => tableLine(JSON.parse(change) as Change)).join(''));
    header = '';
  }
}

/** The ID comes last because it is long. */
const tableLine = ({ at, operation, resource, id, eventId, leadId }: Change): string =>
  `${at.padEnd(24)}  ${operation.padEnd(9)}  ${resource.padEnd(18)}  ${id ?? `${eventId} ${leadId}`}\n`;
