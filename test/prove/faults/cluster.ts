import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { INestApplicationContext } from '@nestjs/common';
import { ApiKeysService, type KeySettings } from '../../../src/access/api-keys.service';
import { OrganizationsService } from '../../../src/access/organizations.service';
import { freePort } from '../../support/servers/free-port';
import { GENEROUS_LIMITS } from '../../../src/testing/test-lanyard';
import { operatorServices } from '../../support/operator-services';
import { Proxy } from '../../support/servers/proxy';
import { Api } from '../support/api';
import { succeeds } from '../support/daemon';
import { runOperator } from '../support/operator';
import { RedisServer } from '../support/redis-server';
import { Postgres } from './postgres';

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

/** The PostgreSQL that the API uses, at one address. */
export interface Database {
  readonly logFile: string;
  readonly port: number;
  /** @param port of a proxy, in place of its own */
  url(port?: number): string;
  query<R extends object>(statement: string): Promise<R[]>;
  stop(): Promise<void>;
}

/** @returns that many keys, each of an organization of its own */
export async function createTenants(
  services: INestApplicationContext,
  count: number,
  settings: Partial<KeySettings> = GENEROUS_LIMITS,
): Promise<Tenant[]> {
  const tenants: Tenant[] = [];
  for (let n = 0; n < count; n++) {
    const { id: organizationId } = await services.get(OrganizationsService).create(`Organization ${n}`);
    const { id: keyId, key } = await services.get(ApiKeysService).issue(organizationId, settings);
    tenants.push({ organizationId, keyId, key });
  }
  return tenants;
}

/** PostgreSQL, Redis and processes of the API, with their logs in files. */
export class Cluster<D extends Database = Postgres> {
  readonly apis: Api[] = [];
  /** the address of PostgreSQL that the API has, if it is not PostgreSQL's own */
  proxy?: Proxy;

  private constructor(
    private readonly directory: string,
    /** the one that serves: another one after a failover */
    public postgres: D,
    readonly redis: RedisServer,
  ) {}

  static async start(directory: string, options: ClusterOptions): Promise<Cluster> {
    mkdirSync(directory, { recursive: true });
    const postgres = await Postgres.make(join(directory, 'data'), join(directory, 'postgresql.log'));
    return Cluster.on(postgres, directory, options);
  }

  /** @param postgres is stopped with the cluster */
  static async on<D extends Database>(postgres: D, directory: string, options: ClusterOptions): Promise<Cluster<D>> {
    mkdirSync(directory, { recursive: true });
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

  tenants(count: number, settings?: Partial<KeySettings>): Promise<Tenant[]> {
    return this.asOperator((services) => createTenants(services, count, settings));
  }

  async asOperator<T>(work: (services: INestApplicationContext) => Promise<T>): Promise<T> {
    const services = await operatorServices(this.postgres.url());
    try {
      return await work(services);
    } finally {
      await services.close();
    }
  }

  /** `operator check`: whether what is derived from the data is as the data says. */
  check(): Promise<boolean> {
    return succeeds(runOperator(this.postgres.url(), ['check', '--json']));
  }

  async stop(): Promise<void> {
    await Promise.all(this.apis.map((api) => api.stop()));
    this.proxy?.close();
    await Promise.all([this.redis.stop(), this.postgres.stop()]);
  }
}
