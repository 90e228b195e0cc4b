import { Global, Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { Config } from '../config';
import { dataSourceOptions } from './data-source';
import { Statements } from './statements';
import { CurrentTransaction } from './current-transaction';
import { FairQueue } from './fair-queue';
import { IdempotentAnswers } from './idempotent-answers';
import { LargeResults } from './large-results';
import { Sweeper } from './sweeper';
import { Writes } from './writes';

/** The one data source of the process. `config.databaseUrl` is set by then, also on the embedded PostgreSQL. */
@Global()
@Module({
  imports: [
    TypeOrmModule.forRootAsync({
      inject: [Config],
      useFactory: (config: Config) => ({
        // Two more than requests queue for: one for keys, probes, scrapes, and what the process stores by itself, one for
        // webhooks.
        ...dataSourceOptions(config.databaseUrl ?? '', config.poolSize + 2),
        // Those of a module that stands elsewhere, by its `forFeature`.
        autoLoadEntities: true,
        retryAttempts: 3,
        retryDelay: 100,
      }),
    }),
  ],
  providers: [
    { provide: FairQueue, inject: [Config], useFactory: ({ poolSize }: Config) => new FairQueue(poolSize) },
    CurrentTransaction,
    LargeResults,
    Statements,
    Writes,
    IdempotentAnswers,
    Sweeper,
  ],
  exports: [Statements, Writes, IdempotentAnswers, Sweeper],
})
export class DatabaseModule {}
