import { Controller, Get, ServiceUnavailableException } from '@nestjs/common';
import { ApiExcludeController } from '@nestjs/swagger';
import { DataSource } from 'typeorm';
import { Public } from '../http/pipeline/public';
import { Plain } from '../http/pipeline/plain';
import { probe } from './probe';

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
    if (this.isStopping || !(await probe(this.dataSource, 'select 1'))) throw new ServiceUnavailableException();
    return { status: 'ok' };
  }
}
