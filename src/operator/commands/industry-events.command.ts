import { Command } from 'commander';
import { escapeInvisible } from '../../datasets/quote';
import { CatalogService } from '../catalog.service';
import { addCommand, type GlobalOptions, parseText } from '../arguments';
import type { Session } from '../session';
import { formatNumber } from '../terminal/table';
import { printResult } from '../terminal/terminal';

/** `industry-events …` */
export function industryEventsCommand(program: Command, session: Session): void {
  const group = addCommand(program, 'industry-events', {
    summary: 'Delete industry events from the catalogue that all organizations share.',
    example: 'industry-events delete --source-type e2e',
  });
  addCommand(group, 'delete', {
    summary: 'Delete all industry events of a source, in batches, with the bookmarks of them.',
    jsonResult: '{sourceType, deleted}, the last being a count',
    example: 'industry-events delete --source-type e2e',
  })
    .requiredOption(
      '--source-type <TEXT>',
      'the `sourceType` that they have, letter by letter',
      parseText('--source-type'),
    )
    .action((_, self: Command) => remove(session, self.optsWithGlobals()));
}

async function remove(session: Session, { json, sourceType }: GlobalOptions & { sourceType: string }): Promise<void> {
  const deleted = await session.withServices((services) => services.get(CatalogService).delete(sourceType));
  await printResult(
    json,
    { sourceType, deleted },
    () => `Deleted ${formatNumber(deleted)} industry events with sourceType ${escapeInvisible(sourceType)}`,
  );
}
