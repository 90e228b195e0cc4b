import { execFile } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { freePort } from '../../support/servers/free-port';
import { until } from './daemon';
import { RedisServer } from './redis-server';

const run = promisify(execFile);

const MASTERS = 3;
const SLOTS = 16_384;
/** Milliseconds after which a silent node counts as failed. Redis's default is 15,000. */
const NODE_TIMEOUT_MS = 1_000;

/** A server of a cluster. */
class ClusterServer extends RedisServer {
  constructor(
    private readonly directory: string,
    logFile: string,
    port: number,
    readonly busPort: number,
  ) {
    super(logFile, port);
    mkdirSync(directory, { recursive: true });
  }

  override async start(): Promise<void> {
    const options = ['--cluster-enabled', 'yes', '--cluster-node-timeout', String(NODE_TIMEOUT_MS)];
    await super.start(...options, '--cluster-port', String(this.busPort), '--dir', this.directory);
  }

  /** @throws Error with the reply, if it is an error */
  async must(...words: (string | number)[]): Promise<void> {
    const reply = await this.command(...words.map(String));
    if (!/^(OK|NOKEY)/.test(reply)) throw new Error(`redis-cli ${words.join(' ')}: ${reply}`);
  }

  async id(): Promise<string> {
    return (await this.command('cluster', 'myid')).trim();
  }
}

/** A line of `cluster nodes`. */
interface Node {
  id: string;
  server: ClusterServer;
  isMaster: boolean;
  slots: [first: number, last: number][];
}

/** Three masters with a replica each, any of which may be killed. */
export class RedisCluster {
  private readonly servers: ClusterServer[] = [];

  constructor(
    private readonly folder: string,
    private readonly logFile: string,
  ) {}

  /** What REDIS_URL is. */
  get url(): string {
    const hosts = this.servers.slice(0, MASTERS).map(({ port }) => `127.0.0.1:${port}`);
    return `redis://${hosts.join(',')}`;
  }

  async start(): Promise<void> {
    for (let n = 0; n < 2 * MASTERS; n++) {
      const directory = join(this.folder, `node-${n}`);
      this.servers.push(new ClusterServer(directory, this.logFile, await freePort(), await freePort()));
    }
    await Promise.all(this.servers.map((server) => server.start()));
    const { port, busPort } = this.servers[0]!;
    for (const other of this.servers.slice(1)) await other.must('cluster', 'meet', '127.0.0.1', port, busPort);
    for (const [n, master] of this.servers.slice(0, MASTERS).entries()) {
      const [from, end] = [n, n + 1].map((nth) => Math.floor((nth * SLOTS) / MASTERS)) as [number, number];
      await master.must('cluster', 'addslotsrange', from, end - 1);
    }
    for (const [n, replica] of this.servers.slice(MASTERS).entries()) {
      const id = await this.servers[n]!.id();
      const follow = async (): Promise<boolean> => (await replica.command('cluster', 'replicate', id)).startsWith('OK');
      await until('a replica knows its master', follow);
    }
    await this.untilWhole();
  }

  async stop(): Promise<void> {
    await Promise.all(this.servers.map((server) => server.kill()));
  }

  /** The master that has the bucket of an API key. */
  async masterOf(keyId: string): Promise<RedisServer> {
    return (await this.ownerOf(await this.slotOf(keyId))).server;
  }

  /** Moves the slot of an API key's bucket to another master. */
  async moveSlotOf(keyId: string): Promise<void> {
    const slot = await this.slotOf(keyId);
    const owner = await this.ownerOf(slot);
    const masters = (await this.nodes()).filter(({ isMaster }) => isMaster);
    const target = masters.find(({ id }) => id !== owner.id)!;
    await target.server.must('cluster', 'setslot', slot, 'importing', owner.id);
    await owner.server.must('cluster', 'setslot', slot, 'migrating', target.id);
    const keys = await owner.server.command('cluster', 'getkeysinslot', String(slot), '1000');
    for (const key of keys.split('\n').filter(Boolean))
      await owner.server.must('migrate', '127.0.0.1', target.server.port, key, 0, 5000);
    for (const { server } of [target, ...masters]) await server.must('cluster', 'setslot', slot, 'node', target.id);
  }

  /** Moves slots from the first master to the second, as an operator does. */
  async reshard(slots: number): Promise<void> {
    const [from, to] = (await this.nodes()).filter(({ isMaster }) => isMaster) as [Node, Node];
    const options = [
      '--cluster-from',
      from.id,
      '--cluster-to',
      to.id,
      '--cluster-slots',
      String(slots),
      '--cluster-yes',
    ];
    await run('redis-cli', ['--cluster', 'reshard', `127.0.0.1:${from.server.port}`, ...options]);
  }

  /** Resolves when a replica has taken the place of a master that was killed. */
  async untilReplaced(killed: RedisServer): Promise<void> {
    const isReplaced = async (): Promise<boolean> => {
      const masters = (await this.nodes()).filter(({ slots }) => slots.length > 0);
      return masters.length === MASTERS && masters.every(({ server }) => server !== killed);
    };
    await until('a replica is the master', isReplaced);
  }

  /** Starts a server that was killed, which then follows the one that took its place. */
  async startAgain(killed: RedisServer): Promise<void> {
    await killed.start();
    await this.untilWhole();
  }

  private async untilWhole(): Promise<void> {
    const isWhole = async (server: RedisServer): Promise<boolean> => {
      const isOk = (await server.command('cluster', 'info')).includes('cluster_state:ok');
      const replication = await server.command('info', 'replication');
      return isOk && /connected_slaves:1|master_link_status:up/.test(replication);
    };
    await until('the cluster is whole', async () => (await Promise.all(this.servers.map(isWhole))).every(Boolean));
  }

  private async slotOf(keyId: string): Promise<number> {
    return Number(await this.anyServer.command('cluster', 'keyslot', `rl:v1:${keyId}`));
  }

  private async ownerOf(slot: number): Promise<Node> {
    const isOwner = ({ slots }: Node): boolean => slots.some(([first, last]) => first <= slot && slot <= last);
    return (await this.nodes()).find(isOwner)!;
  }

  private get anyServer(): ClusterServer {
    return this.servers.find(({ isRunning }) => isRunning)!;
  }

  /** The nodes that have not failed, as one of them sees them. */
  private async nodes(): Promise<Node[]> {
    const lines = (await this.anyServer.command('cluster', 'nodes')).split('\n').filter(Boolean);
    return lines.flatMap((line) => {
      const [id = '', address = '', flags = '', , , , , , ...ranges] = line.split(' ');
      const server = this.servers.find(({ port }) => address.includes(`:${port}@`));
      if (!server || flags.includes('fail')) return [];
      // Slots that are on their way are in brackets.
      const slots = ranges.filter((range) => !range.startsWith('[')).map((range) => range.split('-').map(Number));
      return { id, server, isMaster: flags.includes('master'), slots: slots.map(([a = 0, b = a]) => [a, b]) };
    });
  }
}
