import { Global, Module } from '@nestjs/common';
import { BrokenConstraints } from './broken-constraints';
import { DataSourceModule } from './data-source.module';
import { IdempotencyStore } from './idempotency-store';
import { Statements } from './statements';
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
      provide: Transactions,
      inject: [TransactionalDataSource],
      useFactory: ({ transactions }: TransactionalDataSource) => transactions,
    },
    BrokenConstraints,
    Statements,
    Writes,
    IdempotencyStore,
    ReservedConnection,
  ],
  exports: [
    DataSourceModule,
    BrokenConstraints,
    Transactions,
    Statements,
    Writes,
    IdempotencyStore,
    ReservedConnection,
  ],
})
export class DatabaseModule {}
