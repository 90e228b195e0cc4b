import type { DataSource } from 'typeorm';
import type { Config } from '../config';

/** Says at start why nothing, or less than before, is sent to webhooks. */
export async function announcePausedWebhooks(
  dataSource: DataSource,
  { webhooks }: Config,
  commandName: string,
  log: (line: string) => void,
): Promise<void> {
  if (webhooks === 'off') log('LANYARD_WEBHOOKS is off: this process delivers no webhooks');
  // A database that does not answer at this moment is no reason to stop serving.
  const [row] = await dataSource
    .query<{ paused: number }[]>(
      'select count(*)::integer as paused from feed_readers where paused_at is not null and disabled_at is null',
    )
    .catch(() => []);
  const paused = row?.paused ?? 0;
  if (paused === 0) return;
  const subject = paused === 1 ? '1 webhook is' : `${paused} webhooks are`;
  log(`${subject} paused because this database is a copy of another one. To resume: ${commandName} webhooks resume`);
}
