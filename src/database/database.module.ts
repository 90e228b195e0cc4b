import { Global, Module } from '@nestjs/common';
import { DataSourceModule } from './data-source.module';
import { FairQueue } from './fair-queue';
import { IdempotentAnswers } from './idempotent-answers';
import { LargeResults } from './large-results';
import { Statements } from './statements';
import { Sweeper } from './sweeper';
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
    LargeResults,
    Statements,
    Writes,
    IdempotentAnswers,
    Sweeper,
  ],
  exports: [DataSourceModule, Transactions, Statements, Writes, IdempotentAnswers, Sweeper],
})
export class DatabaseModule {}
