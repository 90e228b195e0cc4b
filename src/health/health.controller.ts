import { Controller, Get, ServiceUnavailableException } from '@nestjs/common';
import { ApiExcludeController } from '@nestjs/swagger';
import { HealthCheck, HealthCheckService, TypeOrmHealthIndicator } from '@nestjs/terminus';
import { Public } from '../access/api-key.guard';

/** For load balancers and orchestrators: outside the API's prefix, and without a key. */
@ApiExcludeController()
@Public()
@Controller('health')
export class HealthController {
  /** whether this process wants no more requests */
  isStopping = false;

  constructor(
    private readonly health: HealthCheckService,
    private readonly database: TypeOrmHealthIndicator,
  ) {}

  /** The process answers. */
  @Get('live')
  live() {
    return { status: 'ok' };
  }

  /** Requests are welcome and the database answers within a second. Without Redis the service works on. */
  @Get('ready')
  @HealthCheck()
  ready() {
    if (this.isStopping) throw new ServiceUnavailableException();
    return this.health.check([() => this.database.pingCheck('database', { timeout: 1000 })]);
  }
}
