import { Logger, Module, type OnApplicationBootstrap } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { DataSource } from 'typeorm';
import { Config } from '../config';
import { sqlState } from '../database/errors';
import { Sweeper } from '../database/sweeper';
import { ChangeEntity } from './change.entity';
import { ChangesController } from './changes.controller';
import { ChangesService, LOG_CLAIMED } from './changes.service';
import { CLAIMED_AT_ONCE, PRUNE_POSITIONS, SWEEP } from './changes.sql';

const SWEPT_AT_ONCE = 1000;

@Module({
  imports: [TypeOrmModule.forFeature([ChangeEntity])],
  controllers: [ChangesController],
  providers: [ChangesService],
  exports: [ChangesService],
})
export class ChangesModule implements OnApplicationBootstrap {
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
