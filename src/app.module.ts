import { DynamicModule, Module } from '@nestjs/common';
import { APP_FILTER, APP_GUARD, APP_PIPE } from '@nestjs/core';
import { AccessGuard } from './access/access.guard';
import { AccessModule } from './access/access.module';
import { ActivationsModule } from './activations/activations.module';
import { Config } from './config';
import { DatabaseModule } from './database/database.module';
import { EventsModule } from './events/events.module';
import { HealthModule } from './health/health.module';
import { BodyGuard } from './http/body.guard';
import { ErrorFilter } from './http/error.filter';
import { IdempotencyGuard } from './http/idempotency.guard';
import { NotFoundController } from './http/not-found.controller';
import { ValidationPipe } from './http/validation.pipe';
import { IndustryEventsModule } from './industry-events/industry-events.module';
import { LeadActivityEventsModule } from './lead-activity-events/lead-activity-events.module';
import { LeadsModule } from './leads/leads.module';
import { ObservabilityModule } from './observability/observability.module';
import { PagesModule } from './pages/pages.module';
import { RateLimitGuard } from './rate-limit/rate-limit.guard';
import { RateLimitModule } from './rate-limit/rate-limit.module';
import { TagGroupsModule } from './tag-groups/tag-groups.module';

/** The resources of the API. A new one is one more line here. The router tries them in this order. */
const resources = [
  LeadsModule,
  LeadActivityEventsModule,
  EventsModule,
  IndustryEventsModule,
  ActivationsModule,
  TagGroupsModule,
];

/** What resources stand on. */
const foundations = [DatabaseModule, RateLimitModule, AccessModule, ObservabilityModule, HealthModule];

/** Catches what no other route took, so it is imported last. */
@Module({ controllers: [NotFoundController] })
class NotFoundModule {}

/**
 * The way of a request, in the order in which it runs: key, token, body, idempotency, checks, handler; and errors. No interceptors:
 * three of them cost more than all the rest of a short request.
 */
const way = [
  { provide: APP_GUARD, useClass: AccessGuard },
  { provide: APP_GUARD, useClass: RateLimitGuard },
  { provide: APP_GUARD, useClass: BodyGuard },
  { provide: APP_GUARD, useClass: IdempotencyGuard },
  { provide: APP_PIPE, useClass: ValidationPipe },
  { provide: APP_FILTER, useClass: ErrorFilter },
];

@Module({})
export class AppModule {
  static with(config: Config): DynamicModule {
    return {
      module: AppModule,
      global: true,
      imports: [...foundations, ...resources, PagesModule, NotFoundModule],
      providers: [{ provide: Config, useValue: config }, ...way],
      exports: [Config],
    };
  }
}
