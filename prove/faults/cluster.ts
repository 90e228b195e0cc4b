import { execFile } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { constants, setPriority } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { DataSource } from 'typeorm';
import { LANYARD, OPERATOR } from '../../scripts/services.mjs';
import { ApiKeysService, type KeySettings } from '../../src/access/api-keys.service';
import { OrganizationsService } from '../../src/access/organizations.service';
import { operatorDataSourceOptions } from '../../src/database/data-source';
import { freePort } from '../../src/embedded-postgres/free-port';
import { Daemon, until } from './daemon';
import { ask } from './http';
import { Postgres } from './postgres';

const run = promisify(execFile);

/** Limits that no load reaches. */
const UNLIMITED = { maxTokens: 9_000_000, refillRate: 1_000_000 };

/** A Redis of a fault's own. It comes back empty. */
export class RedisServer extends Daemon {
  constructor(
    logFile: string,
    readonly port: number,
  ) {
    super(logFile);
  }

  async start(): Promise<void> {
    const options = ['--port', String(this.port), '--bind', '127.0.0.1', '--save', '', '--appendonly', 'no'];
    this.run('redis-server', options, { cwd: '/' });
    preferred(this.pid);
    await until('Redis starts', async () => (await this.command('PING')).includes('PONG'));
  }

  async command(...words: string[]): Promise<string> {
    const asked = run('redis-cli', ['-p', String(this.port), ...words]);
    return asked.then(({ stdout }) => stdout).catch(() => '');
  }
}

/** A Redis has processor time when it needs it; here it shares two cores with all that asks it. */
function preferred(pid: number): void {
  try {
    setPriority(pid, constants.priority.PRIORITY_HIGHEST);
  } catch {
    // Only root may do this.
  }
}

/** One process of the API: the program as operators run it. */
export class Api extends Daemon {
  constructor(
    logFile: string,
    readonly port: number,
    private readonly environment: NodeJS.ProcessEnv,
  ) {
    super(logFile);
  }

  launch(extra: NodeJS.ProcessEnv = {}): void {
    this.run(process.execPath, LANYARD, { env: { ...process.env, ...this.environment, ...extra } });
  }

  async start(): Promise<void> {
    this.launch();
    await this.untilReady();
  }

  /** @returns milliseconds */
  untilReady(patience?: number): Promise<number> {
    return until('the API is ready', () => this.isReady(), patience);
  }

  async isReady(): Promise<boolean> {
    return (await this.readiness()) === 200;
  }

  /** Status of /health/ready; undefined when there is no answer. */
  async readiness(): Promise<number | undefined> {
    return (await ask(this.port, { method: 'GET', path: '/health/ready', close: true, patience: 3000 })).status;
  }
}

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
  /** settings of PostgreSQL */
  postgres?: Record<string, string>;
  /** where PostgreSQL's data goes, if not beside the logs */
  data?: string;
  /** what stands between the API and PostgreSQL, Redis: the port to use in place of theirs */
  through?: (ports: { postgres: number; redis: number }) => Promise<{ postgres: number; redis: number }>;
  /** whether start() waits for the processes of the API; true unless it is said */
  isStarted?: boolean;
}

/** PostgreSQL, Redis and processes of the API, with their logs in files. */
export class Cluster {
  readonly apis: Api[] = [];

  private constructor(
    readonly directory: string,
    readonly postgres: Postgres,
    readonly redis: RedisServer,
  ) {}

  static async start(directory: string, options: ClusterOptions): Promise<Cluster> {
    mkdirSync(directory, { recursive: true });
    const data = options.data ?? join(directory, 'data');
    const postgres = await Postgres.make(data, join(directory, 'postgresql.log'), options.postgres);
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

  async addApis({ apis = 4, settings, through, isStarted = true }: ClusterOptions): Promise<void> {
    const own = { postgres: this.postgres.port, redis: this.redis.port };
    const { postgres, redis } = (await through?.(own)) ?? own;
    for (let n = 0; n < apis; n++) {
      const port = await freePort();
      const environment = {
        NODE_ENV: 'production',
        HOST: '127.0.0.1',
        PORT: String(port),
        DATABASE_URL: this.postgres.url(postgres),
        REDIS_URL: `redis://127.0.0.1:${redis}`,
        ...settings,
      };
      this.apis.push(new Api(join(this.directory, `api-${n}.log`), port, environment));
    }
    if (isStarted) await Promise.all(this.apis.map((api) => api.start()));
  }

  get logs(): string[] {
    return [this.postgres, this.redis, ...this.apis].map(({ logFile }) => logFile);
  }

  /** A new organization with a key, which is not limited unless it is asked for. */
  async tenant(settings: Partial<KeySettings> = UNLIMITED): Promise<Tenant> {
    return (await this.tenants(1, settings))[0] as Tenant;
  }

  /** @returns that many keys, each of an organization of its own */
  async tenants(count: number, settings: Partial<KeySettings> = UNLIMITED): Promise<Tenant[]> {
    return this.asOperator(async (dataSource) => {
      const tenants: Tenant[] = [];
      for (let n = 0; n < count; n++) {
        const { id: organizationId } = await new OrganizationsService(dataSource.manager).create(`Organization ${n}`);
        const { id: keyId, key } = await new ApiKeysService(dataSource.manager).issue(organizationId, settings);
        tenants.push({ organizationId, keyId, key });
      }
      return tenants;
    });
  }

  async asOperator<T>(work: (dataSource: DataSource) => Promise<T>): Promise<T> {
    const dataSource = await new DataSource(operatorDataSourceOptions(this.postgres.url())).initialize();
    try {
      return await work(dataSource);
    } finally {
      await dataSource.destroy();
    }
  }

  /** `operator check`: whether what is stored beside the data is what the data says. */
  async check(): Promise<boolean> {
    const env = { ...process.env, DATABASE_URL: this.postgres.url() };
    return run(process.execPath, [OPERATOR, 'check', '--json'], { env }).then(
      () => true,
      () => false,
    );
  }

  async stop(): Promise<void> {
    await Promise.all(this.apis.map((api) => api.stop()));
    await Promise.all([this.redis.stop(), this.postgres.stop()]);
  }
}
