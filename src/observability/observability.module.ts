import { Module } from '@nestjs/common';
import { RateLimitModule } from '../rate-limit/rate-limit.module';
import { Metrics } from './metrics';

/** The inside of the process, for its operators. The log and the traces begin before there are modules. */
@Module({ imports: [RateLimitModule], providers: [Metrics] })
export class ObservabilityModule {}
