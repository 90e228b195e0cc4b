import type { Command } from 'commander';
import { escapeInvisible } from '../../datasets/quote';
import { CatalogService } from '../../industry-events/catalog.service';
import { addCommand, parseText } from '../arguments';
import type { Session } from '../session';
import { formatCount } from '../terminal/table';

/** The command `industry-events …`. */
export function industryEventsCommand(program: Command, session: Session): void {
  const group = addCommand(program, 'industry-events', {
    summary: 'Delete industry events from the catalog that all organizations share.',
    example: 'industry-events delete --source-type e2e',
  });
  addCommand(group, 'delete', {
    summary: 'Delete all industry events of one source and their bookmarks, in batches.',
    jsonResult: '{sourceType, deleted}, where deleted is the number of industry events',
    example: 'industry-events delete --source-type e2e',
  })
    .requiredOption(
      '--source-type <TEXT>',
      'exact sourceType of the industry events to delete',
      parseText('--source-type'),
    )
    .action(async ({ sourceType }: { sourceType: string }) => {
      const deleted = await session.withServices((services) => services.get(CatalogService).delete(sourceType));
      await session.print(
        { sourceType, deleted },
        () => `Deleted ${formatCount(deleted, 'industry event')} with the sourceType ${escapeInvisible(sourceType)}.`,
      );
    });
}
