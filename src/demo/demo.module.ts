import { type DynamicModule, Module } from '@nestjs/common';
import { AccessModule } from '../access/access.module';
import { Config } from '../config';
import { CONTEXTS, ContextsModule } from '../contexts';
import { operatorDataSourceOptions } from '../database/data-source';
import { DatabaseOptions } from '../database/data-source.module';
import { DatabaseModule } from '../database/database.module';
import { DatasetsModule } from '../datasets/datasets.module';

/** The services that create the demo organization. They use the operator's data source, which has no timeouts, because disks can be slow. */
@Module({})
export class DemoModule {
  static with(config: Config): DynamicModule {
    const options = { ...operatorDataSourceOptions(config.databaseUrl ?? ''), retryAttempts: 1 };
    const provided: DatabaseOptions = { options };
    return {
      module: DemoModule,
      global: true,
      imports: [DatabaseModule, ContextsModule.with(CONTEXTS), AccessModule, DatasetsModule],
      providers: [
        { provide: Config, useValue: config },
        { provide: DatabaseOptions, useValue: provided },
      ],
      exports: [Config, DatabaseOptions],
    };
  }
}
