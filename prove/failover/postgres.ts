import { execFile, execFileSync } from 'node:child_process';
import { chownSync, existsSync, mkdirSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { Client } from 'pg';
import { accountFor, spawnAs } from '../../src/embedded-postgres/account';
import { freePort } from '../../src/embedded-postgres/free-port';
import { Daemon, until } from '../support/daemon';

/** Where PostgreSQL's own programs are: the embedded one has no pg_basebackup. */
function programs(): string {
  const debian = '/usr/lib/postgresql';
  const versions = existsSync(debian) ? readdirSync(debian).sort((a, b) => Number(b) - Number(a)) : [];
  const found = versions.map((version) => join(debian, version, 'bin')).find((bin) => existsSync(join(bin, 'initdb')));
  return found ?? execFileSync('pg_config', ['--bindir'], { encoding: 'utf8' }).trim();
}

const SETTINGS = {
  listen_addresses: '127.0.0.1',
  unix_socket_directories: '',
  fsync: 'on',
  synchronous_commit: 'on',
  wal_level: 'replica',
  hot_standby: 'on',
};

/** One of two PostgreSQL servers, which take turns at being the primary. */
export class PostgresNode extends Daemon {
  private readonly bin = programs();
  private readonly data: string;
  private readonly as: { cwd?: string; uid?: number; gid?: number };

  private constructor(
    readonly name: string,
    folder: string,
    readonly port: number,
  ) {
    super(join(folder, `${name}.log`));
    this.data = join(folder, name);
    mkdirSync(this.data, { mode: 0o700 });
    const account = accountFor(folder);
    if (account) chownSync(this.data, account.uid, account.gid);
    this.as = spawnAs(account);
  }

  static async make(name: string, folder: string): Promise<PostgresNode> {
    return new PostgresNode(name, folder, await freePort());
  }

  /** Makes an empty cluster with the database `lanyard`. */
  async startEmpty(): Promise<void> {
    await this.tool('initdb', '-D', this.data, '-U', 'lanyard', '-A', 'trust', '-E', 'UTF8', '--locale=C.UTF-8');
    await this.start();
    await this.query('create database lanyard', 'postgres');
  }

  /** Copies the primary and follows it. From now on the primary waits for this one at each commit. */
  async startFollowing(primary: PostgresNode): Promise<void> {
    for (const file of readdirSync(this.data)) rmSync(join(this.data, file), { recursive: true, force: true });
    const source = `host=127.0.0.1 port=${primary.port} user=lanyard application_name=${this.name}`;
    await this.tool('pg_basebackup', '-R', '-X', 'stream', '-c', 'fast', '-D', this.data, '-d', source);
    await this.start();
    await primary.query(`alter system set synchronous_standby_names = '${this.name}'`);
    await primary.query('select pg_reload_conf()');
    await until('the standby is synchronous', async () => {
      const [row] = await primary.query<{ sync_state: string }>('select sync_state from pg_stat_replication');
      return row?.sync_state === 'sync';
    });
  }

  async promote(): Promise<void> {
    await this.tool('pg_ctl', 'promote', '-w', '-D', this.data);
  }

  async query<Row extends object>(sql: string, database = 'lanyard'): Promise<Row[]> {
    const client = new Client({ host: '127.0.0.1', port: this.port, user: 'lanyard', database });
    await client.connect();
    try {
      return (await client.query<Row>(sql)).rows;
    } finally {
      await client.end();
    }
  }

  private async start(): Promise<void> {
    const settings = Object.entries({ ...SETTINGS, port: String(this.port) });
    const parameters = ['-D', this.data, ...settings.flatMap(([name, value]) => ['-c', `${name}=${value}`])];
    this.run(join(this.bin, 'postgres'), parameters, this.as);
    const accepts = () => this.query('select 1', 'postgres').then(Boolean, () => false);
    await until(`PostgreSQL ${this.name} starts`, accepts);
  }

  private async tool(program: string, ...parameters: string[]): Promise<void> {
    await promisify(execFile)(join(this.bin, program), parameters, this.as);
  }
}
