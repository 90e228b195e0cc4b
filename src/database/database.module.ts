import { Global, Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { Config } from '../config';
import { dataSourceOptions } from './data-source';
import { Reads } from './reads';

/** The one data source of the process. `config.databaseUrl` is set by then, also on the embedded PostgreSQL. */
@Global()
@Module({
  imports: [
    TypeOrmModule.forRootAsync({
      inject: [Config],
      useFactory: (config: Config) => ({
        ...dataSourceOptions(config.databaseUrl ?? '', config.poolSize),
        retryAttempts: 0,
      }),
    }),
  ],
  providers: [Reads],
  exports: [Reads],
})
export class DatabaseModule {}
