import { AsyncLocalStorage } from 'node:async_hooks';
import { Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';

/**
 * The transaction of a request with an Idempotency-Key, in which its handler runs: statements find it here. Requests
 * without the header never enter it, since on Node.js 20 the first use makes every promise of the process slower.
 */
@Injectable()
export class CurrentTransaction {
  private readonly storage = new AsyncLocalStorage<EntityManager>();

  get manager(): EntityManager | undefined {
    return this.storage.getStore();
  }

  run<T>(manager: EntityManager, work: () => Promise<T>): Promise<T> {
    return this.storage.run(manager, work);
  }
}
