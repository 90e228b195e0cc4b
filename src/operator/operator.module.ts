import { type DynamicModule, Module } from '@nestjs/common';
import { AccessModule } from '../access/access.module';
import { ChangesModule } from '../changes/changes.module';
import { Config } from '../config';
import { CONTEXTS, ContextsModule } from '../contexts';
import { CsvModule } from '../csv/csv.module';
import { ATTEMPT_TIMEOUT_MS } from '../database/connect';
import { operatorDataSourceOptions } from '../database/data-source';
import { DatabaseOptions } from '../database/data-source.module';
import { DatabaseModule } from '../database/database.module';
import { DatasetsModule } from '../datasets/datasets.module';
import { WebhooksModule } from '../webhooks/webhooks.module';
import { BackupService } from './backup.service';
import { CatalogService } from './catalog.service';
import { CheckService } from './check.service';
import { RestoreService } from './restore.service';
import { StatusService } from './status.service';

/** A database that does not answer is named at once; `openDatabase` has waited for it where somebody waits. */
const databaseOptions = ({ databaseUrl = '' }: Config): DatabaseOptions => ({
  options: { ...operatorDataSourceOptions(databaseUrl), connectTimeoutMS: ATTEMPT_TIMEOUT_MS, retryAttempts: 1 },
});

/** The services of the operator's commands. Nothing in it runs by itself: that is for the server's modules. */
@Module({})
export class OperatorModule {
  /** @param config names the database, which stands as it should */
  static with(config: Config): DynamicModule {
    return {
      module: OperatorModule,
      global: true,
      imports: [
        DatabaseModule,
        AccessModule,
        ContextsModule.with(CONTEXTS),
        ...CONTEXTS.map(({ module }) => module),
        ChangesModule,
        WebhooksModule,
        DatasetsModule,
        CsvModule,
      ],
      providers: [
        { provide: Config, useValue: config },
        { provide: DatabaseOptions, useValue: databaseOptions(config) },
        BackupService,
        CatalogService,
        CheckService,
        RestoreService,
        StatusService,
      ],
      exports: [Config, DatabaseOptions],
    };
  }
}
