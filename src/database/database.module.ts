import { Global, Module } from '@nestjs/common';
import { DataSourceModule } from './data-source.module';
import { FairQueue } from './fair-queue';
import { IdempotencyStore } from './idempotency-store';
import { LargeResultGuard } from './large-result-guard';
import { Statements } from './statements';
import { Pruner } from './pruner';
import { ReservedConnection } from './reserved-connection';
import { TransactionalDataSource } from './transactional-data-source';
import { Transactions } from './transactions';
import { Writes } from './writes';

/** The one data source of the application, and what runs statements on it. */
@Global()
@Module({
  imports: [DataSourceModule],
  providers: [
    {
      provide: FairQueue,
      inject: [TransactionalDataSource],
      useFactory: ({ queue }: TransactionalDataSource) => queue,
    },
    {
      provide: Transactions,
      inject: [TransactionalDataSource],
      useFactory: ({ transactions }: TransactionalDataSource) => transactions,
    },
    LargeResultGuard,
    Statements,
    Writes,
    IdempotencyStore,
    Pruner,
    ReservedConnection,
  ],
  exports: [DataSourceModule, Transactions, Statements, Writes, IdempotencyStore, Pruner, ReservedConnection],
})
export class DatabaseModule {}
