import { setTimeout as pause } from 'node:timers/promises';
import { GoneException } from '@nestjs/common';
import { Command } from 'commander';
import { ChangesService } from '../../changes/changes.service';
import { MAX_CHANGES } from '../../changes/changes.sql';
import type { JsonText } from '../../database/statements';
import { addCommand, type GlobalOptions, parseOrganizationId, findOrganization } from '../arguments';
import type { Session } from '../session';
import { printResult, OutputClosed, print, CommandError, applyStyle, UsageError } from '../terminal/terminal';

interface ChangesOptions extends GlobalOptions {
  organization?: number;
  follow?: boolean;
  ndjson?: boolean;
}

const POLL_INTERVAL_MS = 1000;

const NOTES = `
Without --follow it shows what a client is told that begins now: every record
once (snapshot), then what has changed meanwhile. With --follow it shows what
changes from now on, looks each second, and ends with Ctrl-C. The table says
which records change, and nothing of what they hold; --json and --ndjson have
whole records, personal data included.`;

const RESET_NOTES = `
Run it after a copy of the database's files was put back: cursors that are newer
than the copy cannot tell. No record and no change is deleted.`;

/** `changes`; its option is no required one of commander's, because reset goes without. */
export function changesCommand(program: Command, session: Session): void {
  const changes = addCommand(program, 'changes', {
    summary: 'Show the feed of changes of an organization, which clients follow that keep a copy.',
    jsonResult: '[{resource, id, operation, at, record, remoteIds}], with eventId and leadId for the id of eventLeads',
    example: 'changes --organization 1 --follow',
  })
    .option('--organization <ID>', 'organization whose changes are shown (required)', parseOrganizationId)
    .option('--follow', 'show changes as they come, from now on')
    .option('--ndjson', 'one change a line, as JSON')
    .addHelpText('after', NOTES)
    .action((_, self: Command) => showChanges(session, self.optsWithGlobals()));
  addCommand(changes, 'reset', {
    summary: 'Invalidate all cursors: clients and webhooks begin again with a snapshot of all records.',
    jsonResult: '{generation}, the number of the log',
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
    () => 'All cursors are invalid: clients and webhooks begin again with a snapshot.',
  );
}

async function showChanges(
  session: Session,
  { json, ndjson, organization: id, follow = false }: ChangesOptions,
): Promise<void> {
  if (json && follow) throw new UsageError('--json is one value, which --follow never ends: use --ndjson');
  if (json && ndjson) throw new UsageError('--json and --ndjson are two forms: use one of them');
  if (id === undefined) throw new UsageError("required option '--organization <ID>' not specified");
  const form = json ? JSON_FORMAT : ndjson ? NDJSON_FORMAT : TABLE_FORMAT;
  await session.withServices(async (services) => {
    await findOrganization(services, id);
    const pages = readPages(services.get(ChangesService), id, follow);
    await showPages(pages, form).catch((error: unknown) => {
      if (error instanceof GoneException) throw new CommandError('the feed was begun anew meanwhile: run this again');
      if (!(error instanceof OutputClosed)) throw error; // who wanted the first changes (`… | head`) has them
    });
  });
}

/** Until there is no more, or without end. */
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

/** A line of the table; the id, which is long, comes last. */
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
