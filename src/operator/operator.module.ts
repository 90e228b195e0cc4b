import { type DynamicModule, Module } from '@nestjs/common';
import { AccessModule } from '../access/access.module';
import { ChangesModule } from '../feed/changes/changes.module';
import { Config } from '../config';
import { ContextsModule } from '../contexts';
import { CsvModule } from '../exchange/csv/csv.module';
import { auditOptions } from '../data/database/actor';
import { ATTEMPT_TIMEOUT_MS } from '../data/database/connect';
import { operatorDataSourceOptions } from '../data/database/data-source';
import { DatabaseOptions } from '../data/database/data-source.module';
import { DatabaseModule } from '../data/database/database.module';
import { DatasetsModule } from '../exchange/datasets/datasets.module';
import { contextsOf, type Extension } from '../extensions/extension';
import { PersonsModule } from '../exchange/persons/persons.module';
import { WebhooksModule } from '../feed/webhooks/webhooks.module';
import { BackupService } from '../exchange/backup/backup.service';
import { CatalogService } from '../contexts/industry-events/catalog.service';
import { CheckService } from '../data/schema/check.service';
import { RestoreService } from '../exchange/backup/restore.service';
import { StatusService } from '../observability/status.service';

/** The services of the operator's commands. Nothing here runs in the background; only the server's modules do. */
@Module({})
export class OperatorModule {
  /**
   * @param config has the connection string of a database whose schema is usable
   * @param command what it is for, as the audit log names what it writes
   * @param extension its modules, so that commands have their entities and providers
   */
  static with(config: Config, extension: Extension = {}, command = 'command line'): DynamicModule {
    const { databaseUrl = '', auditDays } = config;
    const { migrations } = extension;
    const contexts = contextsOf(extension);
    // An unreachable database is reported without retries. `openDatabase` has waited for it, if the command waits at all.
    const options: DatabaseOptions['options'] = {
      ...operatorDataSourceOptions(databaseUrl, { migrations, session: auditOptions(command, auditDays) }),
      connectTimeoutMS: ATTEMPT_TIMEOUT_MS,
      retryAttempts: 1,
    };
    return {
      module: OperatorModule,
      global: true,
      imports: [
        DatabaseModule,
        AccessModule,
        ContextsModule.with(contexts, extension),
        ...contexts.map(({ module }) => module),
        ChangesModule,
        WebhooksModule,
        DatasetsModule,
        CsvModule,
        PersonsModule,
        ...(extension.modules ?? []),
      ],
      providers: [
        { provide: Config, useValue: config },
        { provide: DatabaseOptions, useValue: { options } },
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
