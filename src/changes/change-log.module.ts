import { Logger, Module, type OnApplicationBootstrap } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { PRUNE_AUDIT_LOG } from '../access/audit-log.service';
import { Config } from '../config';
import { sqlState } from '../database/errors';
import { Pruner } from '../database/pruner';
import { LOG_CLAIMED } from './changes.service';
import { PRUNE_CHANGES, PRUNE_POSITIONS } from './changes.sql';
import { claimLog } from './claim-log';

/** How many rows one statement prunes, so that it stays within its timeout. */
const PRUNE_BATCH_SIZE = 1000;

/** What a server does for the change log when it starts and once a minute. A command leaves the log as it is. */
@Module({})
export class ChangeLogModule implements OnApplicationBootstrap {
  private readonly logger = new Logger('Changes');

  constructor(
    pruner: Pruner,
    { changesDays, auditDays }: Config,
    private readonly dataSource: DataSource,
  ) {
    const batchSize = PRUNE_BATCH_SIZE;
    pruner.add({ noun: 'changes', text: PRUNE_CHANGES, values: [changesDays, batchSize], batchSize });
    pruner.add({ noun: 'positions of cursors', text: PRUNE_POSITIONS, values: [changesDays, batchSize], batchSize });
    pruner.add({ noun: 'audit entries', text: PRUNE_AUDIT_LOG, values: [auditDays, batchSize], batchSize });
  }

  /** Detects a restored log before the first request, however many rows it has. */
  async onApplicationBootstrap(): Promise<void> {
    try {
      if (await claimLog(this.dataSource)) this.logger.warn({ message: LOG_CLAIMED });
    } catch (error) {
      // The first reader of the log checks it, too.
      this.logger.warn({ message: 'Cannot check the change log', sqlState: sqlState(error) });
    }
  }
}
