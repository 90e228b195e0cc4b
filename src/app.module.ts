import { type DynamicModule, Module } from '@nestjs/common';
import { APP_FILTER, APP_GUARD, APP_INTERCEPTOR, APP_PIPE } from '@nestjs/core';
import { MulterModule } from '@nestjs/platform-express';
import { DataSource } from 'typeorm';
import { AccessModule } from './access/access.module';
import { ApiKeyGuard } from './access/api-key.guard';
import { PRUNE_USAGE } from './access/access.service';
import { PRUNE_AUDIT_LOG } from './access/audit-log.service';
import { OwnRecordInterceptor } from './access/own-record.interceptor';
import { ScopeInterceptor } from './access/scope.interceptor';
import { ChangesModule } from './feed/changes/changes.module';
import { PRUNE_CHANGES, PRUNE_POSITIONS } from './feed/changes/changes.sql';
import { FeedDeliveryModule } from './feed/changes/feed-delivery.module';
import { Config } from './config';
import { CONTEXTS, ContextsModule } from './contexts';
import { dataSourceOptions } from './data/database/data-source';
import { DatabaseOptions } from './data/database/data-source.module';
import { DatabaseModule } from './data/database/database.module';
import { PRUNE_RESPONSES } from './data/database/idempotency-store';
import { RESERVED_CONNECTIONS } from './data/database/limits';
import { Pruner, type PruneTask } from './data/database/pruner';
import { DatasetsModule } from './exchange/datasets/datasets.module';
import { contextsOf, type Extension } from './extensions/extension';
import { HealthController } from './observability/health.controller';
import { EnvelopeInterceptor } from './http/pipeline/envelope.interceptor';
import { ErrorFilter } from './http/pipeline/error.filter';
import { DryRunInterceptor } from './http/pipeline/dry-run.interceptor';
import { IdempotencyInterceptor } from './http/pipeline/idempotency.interceptor';
import { MAX_BODY_BYTES } from './http/pipeline/body-memory-limit';
import { JsonBodyInterceptor } from './http/pipeline/json-body.interceptor';
import { PreferencesInterceptor } from './http/pipeline/preferences.interceptor';
import { NotFoundModule } from './http/pipeline/not-found.controller';
import { RequestValidationPipe } from './http/pipeline/validation.pipe';
import { Metrics } from './observability/metrics';
import { ReaderMetrics } from './observability/reader-metrics';
import { RateLimitModule } from './http/rate-limit/rate-limit.module';
import { TokenBucketInterceptor } from './http/rate-limit/token-bucket.interceptor';
import { SimulatedFaultsInterceptor } from './http/simulate/simulated-faults.interceptor';
import { WebhookDeliveryModule } from './feed/webhooks/webhook-delivery.module';

/**
 * What every request passes, in this order; pipes and the handler follow the interceptors. A request without a valid key,
 * or without a token, or outside of the scope of its key, never has its body read.
 */
const globalProviders = ({ simulate }: Config) => [
  { provide: APP_GUARD, useClass: ApiKeyGuard },
  { provide: APP_INTERCEPTOR, useClass: simulate === 'off' ? TokenBucketInterceptor : SimulatedFaultsInterceptor },
  { provide: APP_INTERCEPTOR, useClass: ScopeInterceptor },
  { provide: APP_INTERCEPTOR, useClass: PreferencesInterceptor },
  { provide: APP_INTERCEPTOR, useClass: JsonBodyInterceptor },
  { provide: APP_INTERCEPTOR, useClass: DryRunInterceptor },
  { provide: APP_INTERCEPTOR, useClass: IdempotencyInterceptor },
  { provide: APP_INTERCEPTOR, useClass: EnvelopeInterceptor },
  { provide: APP_INTERCEPTOR, useClass: OwnRecordInterceptor },
  { provide: APP_PIPE, useClass: RequestValidationPipe },
  { provide: APP_FILTER, useClass: ErrorFilter },
];

/** Limits of a form with files, where a module's interceptor gives no others. */
const FORMS = MulterModule.register({
  limits: { fileSize: MAX_BODY_BYTES, fieldSize: MAX_BODY_BYTES, files: 10, fields: 100 },
});

/** A start that meets a database which just restarts tries again. */
const databaseOptions = ({ databaseUrl = '', poolSize, auditDays }: Config): DatabaseOptions => ({
  options: {
    ...dataSourceOptions(databaseUrl, poolSize + RESERVED_CONNECTIONS, auditDays),
    retryAttempts: 3,
    retryDelay: 100,
  },
});

/** The tables whose rows expire. */
const pruneTasks = ({ changesDays, auditDays }: Config): PruneTask[] => [
  { noun: 'changes', text: PRUNE_CHANGES, values: [changesDays] },
  { noun: 'positions of cursors', text: PRUNE_POSITIONS, values: [changesDays] },
  { noun: 'audit entries', text: PRUNE_AUDIT_LOG, values: [auditDays] },
  { noun: 'idempotent answers', text: PRUNE_RESPONSES, values: [] },
  { noun: 'usage of API keys', text: PRUNE_USAGE, values: [] },
];

@Module({})
export class AppModule {
  static with(config: Config, extension: Extension = {}): DynamicModule {
    const contexts = contextsOf(extension);
    return {
      module: AppModule,
      global: true,
      imports: [
        FORMS,
        DatabaseModule,
        RateLimitModule,
        AccessModule,
        ContextsModule.with(contexts, extension),
        ...CONTEXTS.map(({ module }) => module),
        ChangesModule,
        ...(extension.contexts ?? []).map(({ module }) => module),
        ...(extension.modules ?? []),
        DatasetsModule,
        FeedDeliveryModule,
        WebhookDeliveryModule,
        NotFoundModule,
      ],
      controllers: [HealthController],
      providers: [
        { provide: Config, useValue: config },
        { provide: DatabaseOptions, useValue: databaseOptions(config) },
        {
          provide: Pruner,
          inject: [DataSource],
          useFactory: (dataSource: DataSource) => new Pruner(dataSource, pruneTasks(config)),
        },
        Metrics,
        ReaderMetrics,
        ...globalProviders(config),
      ],
      exports: [Config, DatabaseOptions, Metrics, MulterModule],
    };
  }
}
