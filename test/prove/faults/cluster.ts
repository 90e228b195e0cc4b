import { execFile, type ExecFileOptions } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { INestApplicationContext } from '@nestjs/common';
import { OPERATOR } from '../../../scripts/services.mjs';
import { ApiKeysService, type KeySettings } from '../../../src/access/api-keys.service';
import { OrganizationsService } from '../../../src/access/organizations.service';
import { freePort } from '../../support/free-port';
import { operatorServices } from '../../support/operator-services';
import { Proxy } from '../../support/proxy';
import { Api } from '../support/api';
import { succeeds } from '../support/daemon';
import { RedisServer } from '../support/redis-server';
import { Postgres } from './postgres';

/** Limits that no load reaches. */
const UNLIMITED = { maxTokens: 9_000_000, refillRate: 1_000_000 };

export interface Tenant {
  organizationId: number;
  keyId: string;
  key: string;
}

export interface ClusterOptions {
  /** how many processes of the API */
  apis?: number;
  /** settings of every API process */
  settings?: NodeJS.ProcessEnv;
  /** whether a proxy stands between the API and PostgreSQL */
  isProxied?: boolean;
}

/** PostgreSQL, Redis and processes of the API, with their logs in files. */
export class Cluster {
  readonly apis: Api[] = [];
  /** the address of PostgreSQL that the API has, if it is not PostgreSQL's own */
  proxy?: Proxy;

  private constructor(
    private readonly directory: string,
    /** the one that serves: another one after a failover */
    public postgres: Postgres,
    readonly redis: RedisServer,
  ) {}

  static async start(directory: string, options: ClusterOptions): Promise<Cluster> {
    mkdirSync(directory, { recursive: true });
    const postgres = await Postgres.make(join(directory, 'data'), join(directory, 'postgresql.log'));
    const redis = new RedisServer(join(directory, 'redis.log'), await freePort());
    const cluster = new Cluster(directory, postgres, redis);
    try {
      await redis.start();
      await cluster.addApis(options);
    } catch (error) {
      await cluster.stop();
      throw error;
    }
    return cluster;
  }

  private async addApis({ apis = 4, settings, isProxied }: ClusterOptions): Promise<void> {
    if (isProxied) this.proxy = await Proxy.to(this.postgres.port);
    const services = { DATABASE_URL: this.postgres.url(this.proxy?.port), REDIS_URL: this.redis.url };
    for (let n = 0; n < apis; n++) {
      this.apis.push(new Api(join(this.directory, `api-${n}.log`), await freePort(), { ...services, ...settings }));
    }
    await Promise.all(this.apis.map((api) => api.start()));
  }

  get logs(): string[] {
    return [this.postgres, this.redis, ...this.apis].map(({ logFile }) => logFile);
  }

  async tenant(settings?: Partial<KeySettings>): Promise<Tenant> {
    return (await this.tenants(1, settings))[0] as Tenant;
  }

  /** @returns that many keys, each of an organization of its own */
  async tenants(count: number, settings: Partial<KeySettings> = UNLIMITED): Promise<Tenant[]> {
    return this.asOperator(async (services) => {
      const tenants: Tenant[] = [];
      for (let n = 0; n < count; n++) {
        const { id: organizationId } = await services.get(OrganizationsService).create(`Organization ${n}`);
        const { id: keyId, key } = await services.get(ApiKeysService).issue(organizationId, settings);
        tenants.push({ organizationId, keyId, key });
      }
      return tenants;
    });
  }

  async asOperator<T>(work: (services: INestApplicationContext) => Promise<T>): Promise<T> {
    const services = await operatorServices(this.postgres.url());
    try {
      return await work(services);
    } finally {
      await services.close();
    }
  }

  /** Runs a command of the operator's. @param input what it reads from its standard input */
  async operate(args: string[], input?: string, options?: ExecFileOptions): Promise<void> {
    const env = { ...process.env, DATABASE_URL: this.postgres.url() };
    const running = promisify(execFile)(process.execPath, [OPERATOR, ...args], {
      env,
      maxBuffer: 64 << 20,
      ...options,
    });
    running.child.stdin?.on('error', () => undefined); // its exit status tells
    running.child.stdin?.end(input);
    await running;
  }

  /** `operator check`: whether what is derived from the data is as the data says. */
  check(): Promise<boolean> {
    return succeeds(this.operate(['check', '--json']));
  }

  async stop(): Promise<void> {
    await Promise.all(this.apis.map((api) => api.stop()));
    this.proxy?.close();
    await Promise.all([this.redis.stop(), this.postgres.stop()]);
  }
}
