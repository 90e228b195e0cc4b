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

/** An unreachable database is reported without retries. `openDatabase` has waited for it, if the command waits at all. */
const databaseOptions = ({ databaseUrl = '' }: Config): DatabaseOptions => ({
  options: { ...operatorDataSourceOptions(databaseUrl), connectTimeoutMS: ATTEMPT_TIMEOUT_MS, retryAttempts: 1 },
});

/** The services of the operator's commands. Nothing here runs in the background; only the server's modules do. */
@Module({})
export class OperatorModule {
  /** @param config has the connection string of a database whose schema is usable */
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
