import { spawnSync } from 'node:child_process';
import { chownSync, copyFileSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Client } from 'pg';
import { accountFor } from '../../../src/data/embedded-postgres/programs';
import { freePort } from '../../support/servers/free-port';
import { ask } from '../support/ask';
import { Daemon, familyOf, send, until } from '../support/daemon';
import type { Database } from './cluster';

const DEPLOY = join(__dirname, '../../../deploy/patroni');
/** Debian's packages keep PostgreSQL's programs here, by major version. */
const POSTGRES_VERSIONS = '/usr/lib/postgresql';
const MEMBERS = ['one', 'two', 'three'];
const PASSWORD = 'proof';
/** A member whose data cannot be rewound is copied anew. */
const WHOLE_TIMEOUT_MS = 180_000;

const isInstalled = (program: string): boolean => spawnSync('which', [program]).status === 0;

function postgresPrograms(): string | undefined {
  try {
    const versions = readdirSync(POSTGRES_VERSIONS).sort((a, b) => Number(a) - Number(b));
    return join(POSTGRES_VERSIONS, versions.at(-1) ?? '', 'bin');
  } catch {
    return undefined;
  }
}

/** What the proof needs and this machine does not have; undefined if it has everything. */
export function missingForPatroni(): string | undefined {
  const missing = ['patroni', 'etcd', 'haproxy'].filter((program) => !isInstalled(program));
  if (!postgresPrograms()) missing.push(`PostgreSQL in ${POSTGRES_VERSIONS}`);
  if (missing.length === 0) return undefined;
  return `--patroni needs ${missing.join(', ')}. On Debian: apt-get install patroni etcd-server haproxy postgresql`;
}

/** A host of its own: Patroni and its PostgreSQL. */
class Member extends Daemon {
  readonly dataDir: string;

  constructor(
    private readonly directory: string,
    readonly name: string,
    private readonly etcdPort: number,
    readonly port: number,
    readonly restPort: number,
  ) {
    super(`${directory}.log`);
    this.dataDir = join(directory, 'data');
  }

  launch(): void {
    const account = accountFor(this.directory);
    mkdirSync(this.directory, { recursive: true });
    if (account) chownSync(this.directory, account.uid, account.gid);
    const [postgres, rest] = [`127.0.0.1:${this.port}`, `127.0.0.1:${this.restPort}`];
    const env = {
      PATH: process.env.PATH,
      PATRONI_NAME: this.name,
      PATRONI_ETCD3_HOSTS: `'127.0.0.1:${this.etcdPort}'`,
      PATRONI_RESTAPI_LISTEN: rest,
      PATRONI_RESTAPI_CONNECT_ADDRESS: rest,
      PATRONI_POSTGRESQL_LISTEN: postgres,
      PATRONI_POSTGRESQL_CONNECT_ADDRESS: postgres,
      PATRONI_POSTGRESQL_DATA_DIR: this.dataDir,
      PATRONI_POSTGRESQL_BIN_DIR: postgresPrograms(),
      PATRONI_POSTGRESQL_PGPASS: join(this.directory, 'pgpass'),
      PATRONI_SUPERUSER_USERNAME: 'postgres',
      PATRONI_SUPERUSER_PASSWORD: PASSWORD,
      PATRONI_REPLICATION_USERNAME: 'replicator',
      PATRONI_REPLICATION_PASSWORD: PASSWORD,
    };
    this.run('patroni', [join(this.directory, '..', 'patroni.yml')], { env, cwd: '/', ...account });
  }

  async isPrimary(): Promise<boolean> {
    return (
      this.isRunning && (await ask(this.restPort, { method: 'GET', path: '/primary', agent: false })).status === 200
    );
  }

  /** Ends Patroni and its PostgreSQL at once, as on a host that loses power. */
  override async kill(): Promise<void> {
    const postmaster = this.postmasterPid();
    const family = postmaster ? familyOf(postmaster) : [];
    this.signal('SIGKILL');
    for (const pid of family) send(pid, 'SIGKILL');
    await super.kill();
    await until('its PostgreSQL is gone', () => family.every((pid) => !send(pid, 0)));
  }

  private postmasterPid(): number | undefined {
    try {
      const pid = Number(readFileSync(join(this.dataDir, 'postmaster.pid'), 'utf8').split('\n')[0]);
      return send(pid, 0) ? pid : undefined;
    } catch {
      return undefined;
    }
  }
}

/** PostgreSQL at one address: three members of Patroni, etcd and HAProxy, with the files of deploy/patroni. */
export class PatroniGroup implements Database {
  readonly logFile: string;
  private readonly members: Member[] = [];

  private constructor(
    private readonly directory: string,
    private readonly etcd: Daemon,
    private readonly haproxy: Daemon,
    readonly port: number,
  ) {
    this.logFile = haproxy.logFile;
  }

  static async start(directory: string): Promise<PatroniGroup> {
    mkdirSync(directory, { recursive: true });
    const daemon = (name: string): Daemon => new Daemon(join(directory, `${name}.log`));
    const group = new PatroniGroup(directory, daemon('etcd'), daemon('haproxy'), await freePort());
    try {
      await group.startAll();
    } catch (error) {
      await group.stop();
      throw error;
    }
    return group;
  }

  get logs(): string[] {
    return [...this.members, this.etcd, this.haproxy].map(({ logFile }) => logFile);
  }

  url(port = this.port, database = 'lanyard', user = 'lanyard'): string {
    return `postgres://${user}:${PASSWORD}@127.0.0.1:${port}/${database}`;
  }

  /** One statement on a connection of its own. */
  async query<R extends object>(statement: string, url = this.url()): Promise<R[]> {
    const client = new Client({ connectionString: url, connectionTimeoutMillis: 5000 });
    client.on('error', () => undefined);
    try {
      await client.connect();
      return (await client.query<R>(statement)).rows;
    } finally {
      void client.end().catch(() => undefined);
    }
  }

  async leader(): Promise<Member> {
    for (const member of this.members) if (await member.isPrimary()) return member;
    throw new Error('no member is the primary');
  }

  /** Resolves when all members are there again, and one of them is a synchronous standby. */
  async startAgain(member: Member): Promise<void> {
    member.launch();
    await this.untilWhole();
  }

  async stop(): Promise<void> {
    await Promise.all([...this.members, this.haproxy].map((each) => each.kill()));
    await this.etcd.kill();
  }

  private async startAll(): Promise<void> {
    const [etcdPort, peerPort] = [await freePort(), await freePort()];
    this.startEtcd(`http://127.0.0.1:${etcdPort}`, `http://127.0.0.1:${peerPort}`);
    copyFileSync(join(DEPLOY, 'patroni.yml'), join(this.directory, 'patroni.yml'));
    for (const name of MEMBERS) {
      const member = new Member(join(this.directory, name), name, etcdPort, await freePort(), await freePort());
      this.members.push(member);
      member.launch();
    }
    this.startHaproxy();
    await this.untilWhole();
    const postgres = this.url(undefined, 'postgres', 'postgres');
    await this.query(`create role lanyard login password '${PASSWORD}'`, postgres);
    await this.query('create database lanyard owner lanyard', postgres);
  }

  private startEtcd(client: string, peer: string): void {
    const data = ['--name', 'one', '--data-dir', join(this.directory, 'etcd')];
    const clients = ['--listen-client-urls', client, '--advertise-client-urls', client];
    const peers = ['--listen-peer-urls', peer, '--initial-advertise-peer-urls', peer];
    this.etcd.run('etcd', [...data, ...clients, ...peers, '--initial-cluster', `one=${peer}`], { cwd: '/' });
  }

  /** With the addresses of this machine in place of those of three hosts. */
  private startHaproxy(): void {
    const file = join(this.directory, 'haproxy.cfg');
    const text = readFileSync(join(DEPLOY, 'haproxy.cfg'), 'utf8').replace(/bind .*/, `bind 127.0.0.1:${this.port}`);
    const addresses = this.members.map(({ port, restPort }) => `127.0.0.1:${port} port ${restPort}`);
    writeFileSync(
      file,
      text.replace(/10\.0\.0\.\d+:5432/g, () => addresses.shift() ?? ''),
    );
    this.haproxy.run('haproxy', ['-db', '-f', file], { cwd: '/' });
  }

  private async untilWhole(): Promise<void> {
    const isWhole = async (): Promise<boolean> => {
      const { restPort } = this.members.find(({ isRunning }) => isRunning)!;
      const { body } = await ask(restPort, { method: 'GET', path: '/cluster', agent: false });
      const { members = [] } = (body ?? {}) as { members?: { role: string; state: string }[] };
      const isRunning = members.every(({ state }) => ['running', 'streaming'].includes(state));
      const roles = members.map(({ role }) => role).sort();
      return isRunning && roles.join() === 'leader,replica,sync_standby';
    };
    await until('Patroni has a leader and two standbys, one of them synchronous', isWhole, WHOLE_TIMEOUT_MS);
  }
}
