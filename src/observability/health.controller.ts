import { Controller, Get, ServiceUnavailableException } from '@nestjs/common';
import { ApiExcludeController } from '@nestjs/swagger';
import type { QueryConfig } from 'pg';
import { DataSource } from 'typeorm';
import { Public } from '../api/public';
import { Plain } from '../api/plain';
import { poolOf } from '../database/data-source';

const PING: QueryConfig & { query_timeout: number } = { text: 'select 1', query_timeout: 1000 };

/** Health checks for load balancers and orchestrators. They are outside the API's prefix and need no key. */
@ApiExcludeController()
@Public()
@Plain()
@Controller('health')
export class HealthController {
  /** Whether this process should get no more requests. */
  isStopping = false;

  constructor(private readonly dataSource: DataSource) {}

  /** Reports that the process responds. */
  @Get('live')
  live() {
    return { status: 'ok' };
  }

  /**
   * Reports whether this process accepts requests and the database responds within a second. Redis is not checked, because
   * Lanyard works without it.
   */
  @Get('ready')
  async ready() {
    // TypeORM would return an unresponsive connection to the pool, for the next probe to use.
    const ping = (): Promise<unknown> =>
      poolOf(this.dataSource)
        .query(PING)
        .catch(() => undefined);
    if (this.isStopping || !(await ping())) throw new ServiceUnavailableException();
    return { status: 'ok' };
  }
}
