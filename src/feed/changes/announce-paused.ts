import type { DataSource } from 'typeorm';
import type { Config } from '../../config';
import { LOG_CLAIMED } from './changes.service';
import { claimLog } from './claim-log';

const COUNT_PAUSED =
  'select count(*)::integer as paused from feed_readers where paused_at is not null and disabled_at is null';

/**
 * Says at start why nothing, or less than before, is sent to webhooks. A change log that another database has written is taken
 * over before, however many rows it has.
 */
export async function announcePausedWebhooks(
  dataSource: DataSource,
  { webhooks }: Config,
  commandName: string,
  log: (line: string) => void,
): Promise<void> {
  if (webhooks === 'off') log('LANYARD_WEBHOOKS is off: this process delivers no webhooks');
  try {
    if (await claimLog(dataSource)) log(LOG_CLAIMED);
    const [{ paused }] = await dataSource.query<[{ paused: number }]>(COUNT_PAUSED);
    if (paused === 0) return;
    const subject = paused === 1 ? '1 webhook is' : `${paused} webhooks are`;
    log(`${subject} paused because this database is a copy of another one. To resume: ${commandName} webhooks resume`);
  } catch {
    // A database that does not answer at this moment is no reason to stop serving. Who reads the log takes it over, too.
  }
}
