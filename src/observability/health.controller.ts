import { Controller, Get, ServiceUnavailableException } from '@nestjs/common';
import { ApiExcludeController } from '@nestjs/swagger';
import type { QueryConfig } from 'pg';
import { DataSource } from 'typeorm';
import { Public } from '../access/api-key.guard';
import { Plain } from '../api/plain';
import { poolOf } from '../database/data-source';

const PING: QueryConfig & { query_timeout: number } = { text: 'select 1', query_timeout: 1000 };

/** For load balancers and orchestrators: outside the API's prefix, and without a key. */
@ApiExcludeController()
@Public()
@Plain()
@Controller('health')
export class HealthController {
  /** Whether this process should get no more requests. */
  isStopping = false;

  constructor(private readonly dataSource: DataSource) {}

  /** The process answers. */
  @Get('live')
  live() {
    return { status: 'ok' };
  }

  /** Requests are welcome and the database answers within a second. Without Redis the service works on. */
  @Get('ready')
  async ready() {
    // Not by TypeORM, which would return a connection that does not answer to the pool, for the next probe.
    const ping = (): Promise<unknown> =>
      poolOf(this.dataSource)
        .query(PING)
        .catch(() => undefined);
    if (this.isStopping || !(await ping())) throw new ServiceUnavailableException();
    return { status: 'ok' };
  }
}
