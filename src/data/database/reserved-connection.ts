import { Injectable } from '@nestjs/common';
import type { Client } from 'pg';
import type { EntityManager, QueryRunner } from 'typeorm';
import { Overloaded } from '../../errors/exceptions';
import { FairQueue } from './fair-queue';
import { TransactionalDataSource } from './transactional-data-source';

type Work<T> = (manager: EntityManager) => Promise<T>;

/** Lets PostgreSQL notice within 20 seconds that the machine of this process is gone. */
const KEEP_ALIVE = `select set_config('tcp_keepalives_idle', '10', false), set_config('tcp_keepalives_interval', '5', false),
  set_config('tcp_keepalives_count', '2', false)`;

/**
 * A connection that this process keeps for itself, beside those of requests. An advisory lock that says what the process is
 * belongs to it, so that the lock ends with the process, however that ends.
 */
@Injectable()
export class ReservedConnection {
  private readonly queue = new FairQueue(1);
  private readonly openListeners: Work<unknown>[] = [];
  private readonly lossListeners: (() => void)[] = [];
  private runner?: QueryRunner;

  constructor(private readonly dataSource: TransactionalDataSource) {}

  /** @param listener is called on each new connection before anything else; if it throws, the connection is closed */
  whenOpened(listener: Work<unknown>): void {
    this.openListeners.push(listener);
  }

  /** @param listener is called when the connection, and the locks that it held, may be gone */
  whenLost(listener: () => void): void {
    this.lossListeners.push(listener);
  }

  /** Connects, unless there is a connection. */
  open(): Promise<void> {
    return this.queue.run(undefined, async () => {
      if (this.runner) return;
      const runner = this.dataSource.createReservedRunner();
      const client = (await runner.connect()) as Client;
      client.once('end', () => {
        if (this.runner !== runner) return;
        this.runner = undefined;
        this.announceLoss();
        void runner.release();
      });
      this.runner = runner;
      try {
        await runner.query(KEEP_ALIVE);
        for (const listener of this.openListeners) await listener(runner.manager);
      } catch (error) {
        await this.close();
        throw error;
      }
    });
  }

  /** Runs work on the connection, one after the other. @throws Overloaded when there is none */
  run<T>(work: Work<T>): Promise<T> {
    return this.queue.run(undefined, () => {
      if (!this.runner) throw new Overloaded('The process has no connection of its own');
      return work(this.runner.manager);
    });
  }

  /** Closes the connection, which releases its locks. Returning it to the pool would not. */
  async close(): Promise<void> {
    const { runner } = this;
    this.runner = undefined;
    this.announceLoss();
    if (!runner) return;
    void ((await runner.connect()) as Client).end().catch(() => undefined);
    await runner.release();
  }

  private announceLoss(): void {
    for (const listener of this.lossListeners) listener();
  }
}
