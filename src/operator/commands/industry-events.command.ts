import { Command } from 'commander';
import { escapeInvisible } from '../../datasets/quote';
import { CatalogService } from '../catalog.service';
import { command, type GlobalOptions, text } from '../arguments';
import type { Session } from '../session';
import { figure } from '../terminal/table';
import { answer } from '../terminal/terminal';

/** `industry-events …` */
export function industryEventsCommand(program: Command, session: Session): void {
  const group = command(program, 'industry-events', {
    about: 'Delete industry events from the catalogue that all organizations share.',
    example: 'industry-events delete --source-type e2e',
  });
  command(group, 'delete', {
    about: 'Delete all industry events of a source, in batches, with the bookmarks of them.',
    result: '{sourceType, deleted}, the last being a count',
    example: 'industry-events delete --source-type e2e',
  })
    .requiredOption('--source-type <TEXT>', 'the `sourceType` that they have, letter by letter', text('--source-type'))
    .action((_, self: Command) => remove(session, self.optsWithGlobals()));
}

async function remove(session: Session, { json, sourceType }: GlobalOptions & { sourceType: string }): Promise<void> {
  const deleted = await session.withServices((services) => services.get(CatalogService).delete(sourceType));
  await answer(
    json,
    { sourceType, deleted },
    () => `Deleted ${figure(deleted)} industry events with sourceType ${escapeInvisible(sourceType)}`,
  );
}
