import { Injectable } from '@nestjs/common';
import type { Client } from 'pg';
import type { EntityManager, QueryRunner } from 'typeorm';
import { Overloaded } from '../errors/exceptions';
import { SentChanges } from './sent-changes';
import { FairQueue } from '../database/fair-queue';
import { TransactionalDataSource } from '../database/transactional-data-source';

/** An arbitrary constant: the advisory lock of the process that delivers. */
const LEADER_LOCK = 7_261_915;
/**
 * The second half of the lock. A migration after which older servers cannot deliver raises it, so that none of them keeps the
 * lock from a server that can (docs/decisions/0022).
 */
const LEADER_VERSION = 1;
/** The keepalive settings let PostgreSQL notice within 20 seconds that the leader's machine is gone. */
const TRY_LEADER_LOCK = `select pg_try_advisory_lock($1, $2) as "isHeld", set_config('tcp_keepalives_idle', '10', false),
  set_config('tcp_keepalives_interval', '5', false), set_config('tcp_keepalives_count', '2', false)`;

/** The sender's own database connection. It holds the advisory lock while this process is the leader. */
interface LeaderConnection {
  runner: QueryRunner;
  isLeader: boolean;
}

/**
 * The lease: of all processes only the one that holds an advisory lock delivers. The lock belongs to a connection, so it ends
 * with the process, and everything that the leader reads and stores goes through that connection: a process that has lost the
 * lock cannot store anything.
 */
@Injectable()
export class WebhookLeader {
  private readonly queue = new FairQueue(1);
  private connection?: LeaderConnection;
  private onLost = (): void => undefined;

  constructor(
    private readonly dataSource: TransactionalDataSource,
    private readonly sent: SentChanges,
  ) {}

  /** @param listener is called when this process may no longer be the leader */
  whenLost(listener: () => void): void {
    this.onLost = listener;
  }

  /** Tries to become the leader. */
  async isLeader(): Promise<boolean> {
    if (!this.connection) {
      this.connection = await this.connect();
      // Also in a process that is no longer the leader: the new one may have sent nothing that was lost.
      await this.run((manager) => this.sent.verify(manager));
    }
    const connection = this.connection;
    if (!connection.isLeader) {
      const [lock] = await this.run((manager) =>
        manager.query<[{ isHeld: boolean }]>(TRY_LEADER_LOCK, [LEADER_LOCK, LEADER_VERSION]),
      );
      connection.isLeader = lock.isHeld;
    }
    return connection.isLeader;
  }

  private async connect(): Promise<LeaderConnection> {
    const runner = this.dataSource.createReservedRunner();
    const client = (await runner.connect()) as Client;
    client.once('end', () => this.onLost());
    return { runner, isLeader: false };
  }

  /** Runs work on the leader's connection, one after the other. @throws Overloaded when there is none */
  run<T>(work: (manager: EntityManager) => Promise<T>): Promise<T> {
    return this.queue.run(0, () => {
      if (!this.connection) throw new Overloaded('Webhooks have no connection');
      return work(this.connection.runner.manager);
    });
  }

  /** Closes the connection, and so releases the lock. */
  async resign(): Promise<void> {
    const runner = this.connection?.runner;
    this.connection = undefined;
    this.onLost();
    if (!runner) return;
    // Closing the connection releases the advisory lock; returning it to the pool would not.
    void ((await runner.connect()) as Client).end().catch(() => undefined);
    await runner.release();
  }
}
