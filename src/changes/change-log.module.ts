import { Logger, Module, type OnApplicationBootstrap } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { Config } from '../config';
import { sqlState } from '../database/errors';
import { Sweeper } from '../database/sweeper';
import { LOG_CLAIMED } from './changes.service';
import { CLAIMED_AT_ONCE, PRUNE_POSITIONS, SWEEP } from './changes.sql';

const SWEPT_AT_ONCE = 1000;

/** What a server does for the change log at its start and once a minute. A command leaves the log as it is. */
@Module({})
export class ChangeLogModule implements OnApplicationBootstrap {
  private readonly logger = new Logger('Changes');

  constructor(
    sweeper: Sweeper,
    { changesDays }: Config,
    private readonly dataSource: DataSource,
  ) {
    const limit = SWEPT_AT_ONCE;
    sweeper.add({ what: 'changes', text: SWEEP, values: [changesDays, limit], limit });
    sweeper.add({ what: 'positions of cursors', text: PRUNE_POSITIONS, values: [changesDays, limit], limit });
  }

  /** A restore is noticed before the first request, however many rows it brought. */
  async onApplicationBootstrap(): Promise<void> {
    try {
      const outcome = await this.claimLog();
      if (outcome === 'claimed') this.logger.warn({ message: LOG_CLAIMED });
    } catch (error) {
      // Whoever reads the log first notices it, too.
      this.logger.warn({ message: 'The change log cannot be checked', sqlState: sqlState(error) });
    }
  }

  private async claimLog(): Promise<string> {
    for (;;) {
      const [{ outcome }] = await this.dataSource.query<[{ outcome: string }]>(
        'select claim_log($1, false) as outcome',
        [CLAIMED_AT_ONCE],
      );
      if (outcome !== 'partial') return outcome;
    }
  }
}
