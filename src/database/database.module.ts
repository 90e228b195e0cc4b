import { Global, Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { Config } from '../config';
import { dataSourceOptions } from './data-source';
import { Statements } from './statements';
import { IdempotentAnswers } from './idempotent-answers';
import { Turns } from './turns';
import { Writes } from './writes';

/** The one data source of the process. `config.databaseUrl` is set by then, also on the embedded PostgreSQL. */
@Global()
@Module({
  imports: [
    TypeOrmModule.forRootAsync({
      inject: [Config],
      useFactory: (config: Config) => ({
        // One more than requests take turns at: keys are looked up, probes and scrapes answered, and what the process
        // notes or sweeps is done, also when all of those wait.
        ...dataSourceOptions(config.databaseUrl ?? '', config.poolSize + 1),
        // It was there a moment ago.
        retryAttempts: 3,
        retryDelay: 100,
      }),
    }),
  ],
  providers: [
    { provide: Turns, inject: [Config], useFactory: ({ poolSize }: Config) => new Turns(poolSize) },
    Statements,
    IdempotentAnswers,
    Writes,
  ],
  exports: [Statements, Writes],
})
export class DatabaseModule {}
