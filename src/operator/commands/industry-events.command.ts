import type { Command } from 'commander';
import { CatalogService } from '../../contexts/industry-events/catalog.service';
import { addCommand, parseText } from '../arguments';
import type { Session } from '../session';
import { SUMMARIES } from '../summaries';

/** The command `industry-events …`. */
export function industryEventsCommand(program: Command, session: Session): void {
  const group = addCommand(program, 'industry-events', {
    summary: SUMMARIES['industry-events'],
    example: 'industry-events delete --source-type e2e',
  });
  addCommand(group, 'delete', {
    summary: 'Delete all industry events of one source and their bookmarks, in batches.',
    example: 'industry-events delete --source-type e2e',
  })
    .requiredOption(
      '--source-type <TEXT>',
      'exact sourceType of the industry events to delete',
      parseText('--source-type'),
    )
    .action(({ sourceType }: { sourceType: string }) =>
      session.run(async (services) => ({ sourceType, deleted: await services.get(CatalogService).delete(sourceType) })),
    );
}
