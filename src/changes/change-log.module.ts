import { Logger, Module, type OnApplicationBootstrap } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { Config } from '../config';
import { sqlState } from '../database/errors';
import { Sweeper } from '../database/sweeper';
import { LOG_CLAIMED } from './changes.service';
import { CLAIM_BATCH_SIZE, PRUNE_CHANGES, PRUNE_POSITIONS } from './changes.sql';

/** How many rows one statement prunes, so that it stays within its timeout. */
const PRUNE_BATCH_SIZE = 1000;

/** What a server does for the change log when it starts and once a minute. A command leaves the log as it is. */
@Module({})
export class ChangeLogModule implements OnApplicationBootstrap {
  private readonly logger = new Logger('Changes');

  constructor(
    sweeper: Sweeper,
    { changesDays }: Config,
    private readonly dataSource: DataSource,
  ) {
    const limit = PRUNE_BATCH_SIZE;
    sweeper.add({ what: 'changes', text: PRUNE_CHANGES, values: [changesDays, limit], limit });
    sweeper.add({ what: 'positions of cursors', text: PRUNE_POSITIONS, values: [changesDays, limit], limit });
  }

  /** Detects a restored log before the first request, however many rows it has. */
  async onApplicationBootstrap(): Promise<void> {
    try {
      const outcome = await this.claimLog();
      if (outcome === 'claimed') this.logger.warn({ message: LOG_CLAIMED });
    } catch (error) {
      // The first reader of the log checks it, too.
      this.logger.warn({ message: 'Cannot check the change log', sqlState: sqlState(error) });
    }
  }

  private async claimLog(): Promise<string> {
    for (;;) {
      const [{ outcome }] = await this.dataSource.query<[{ outcome: string }]>(
        'select claim_log($1, false) as outcome',
        [CLAIM_BATCH_SIZE],
      );
      if (outcome !== 'partial') return outcome;
    }
  }
}
