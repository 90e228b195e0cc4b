import { setTimeout as pause } from 'node:timers/promises';
import { GoneException } from '@nestjs/common';
import { Command } from 'commander';
import { ChangesService } from '../../changes/changes.service';
import { MAX_CHANGES } from '../../changes/changes.sql';
import type { JsonText } from '../../database/statements';
import { addCommand, type GlobalOptions, organizationOption, findOrganization } from '../arguments';
import type { Session } from '../session';
import { printResult, OutputClosed, print, CommandError, applyStyle, UsageError } from '../terminal/terminal';

interface ChangesOptions extends GlobalOptions {
  organization?: number;
  follow?: boolean;
  ndjson?: boolean;
}

const POLL_INTERVAL_MS = 1000;

const NOTES = `
Without --follow it shows what a new client gets: every record once (a
snapshot), then what has changed meanwhile. With --follow it shows changes from
now on, polls once a second, and ends with Ctrl-C. The table shows which records
change, but not their contents; --json and --ndjson print whole records,
including personal data.`;

const RESET_NOTES = `
Run it after you have put back an older copy of the database's files: Lanyard
cannot detect cursors that are newer than the copy. No records and no changes
are deleted.`;

/** The command `changes …`. */
export function changesCommand(program: Command, session: Session): void {
  const changes = addCommand(program, 'changes', {
    summary: 'Show the change feed of an organization, as clients see it.',
    jsonResult:
      '[{resource, id, operation, at, record, remoteIds}], where eventLeads have eventId and leadId instead of id',
    example: 'changes --organization 1 --follow',
  })
    .option(...organizationOption('organization whose changes to show'))
    .option('--follow', 'keep polling and show changes from now on')
    .option('--ndjson', 'print one change per line, as JSON')
    .addHelpText('after', NOTES)
    .action((_, self: Command) => showChanges(session, self.optsWithGlobals()));
  addCommand(changes, 'reset', {
    summary: 'Invalidate all cursors, so that clients and webhooks start again with a snapshot.',
    jsonResult: '{generation}, the new number of the change log',
    example: 'changes reset',
  })
    .addHelpText('after', RESET_NOTES)
    .action((_, self: Command) => resetLog(session, self.optsWithGlobals()));
}

async function resetLog(session: Session, { json }: GlobalOptions): Promise<void> {
  const generation = await session.withServices((services) => services.get(ChangesService).reset());
  await printResult(
    json,
    { generation },
    () => 'All cursors are now invalid. Clients and webhooks start again with a snapshot.',
  );
}

async function showChanges(
  session: Session,
  { json, ndjson, organization: givenId, follow = false }: ChangesOptions,
): Promise<void> {
  if (json && follow)
    throw new UsageError('--json prints one value, which --follow would never complete. Use --ndjson');
  if (json && ndjson) throw new UsageError('--json and --ndjson cannot be combined. Use one of them');
  const form = json ? JSON_FORMAT : ndjson ? NDJSON_FORMAT : TABLE_FORMAT;
  await session.withServices(async (services) => {
    const { id } = await findOrganization(services, givenId);
    const pages = readPages(services.get(ChangesService), id, follow);
    await showPages(pages, form).catch((error: unknown) => {
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

/** How changes are written. */
interface OutputFormat {
  begin: string;
  between: string;
  change: (change: JsonText) => string;
  end: string;
}

async function showPages(
  pages: AsyncIterable<JsonText[]>,
  { begin, between, change, end }: OutputFormat,
): Promise<void> {
  let [text, isFirst] = [begin, true];
  for await (const changes of pages) {
    for (const each of changes) {
      text += `${isFirst ? '' : between}${change(each)}`;
      isFirst = false;
    }
    await print(text);
    text = '';
  }
  await print(text + end);
}

/** Formats a line of the table. The ID comes last because it is long. */
const tableLine = (at: string, operation: string, resource: string, id: string): string =>
  `${at.padEnd(24)}  ${operation.padEnd(9)}  ${resource.padEnd(18)}  ${id}\n`;

interface Change {
  at: string;
  operation: string;
  resource: string;
  id?: string | number;
  eventId?: number;
  leadId?: string;
}

const JSON_FORMAT: OutputFormat = { begin: '[', between: ',', change: (json) => json, end: ']\n' };
const NDJSON_FORMAT: OutputFormat = { begin: '', between: '', change: (json) => `${json}\n`, end: '' };
const TABLE_FORMAT: OutputFormat = {
  begin: applyStyle('bold', tableLine('at', 'operation', 'resource', 'id')),
  between: '',
  change: (json) => {
    const { at, operation, resource, id, eventId, leadId } = JSON.parse(json) as Change;
    return tableLine(at, operation, resource, String(id ?? `${eventId} ${leadId}`));
  },
  end: '',
};
