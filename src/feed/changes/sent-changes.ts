import { Injectable, Logger } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import type { LastEmitted } from './cursor';
import { ReservedConnection } from '../../data/database/reserved-connection';
import { FORGET_LOST_LOG } from './changes.sql';

/**
 * The newest change that this process has read for each reader whose place is stored in the database: webhooks, and methods
 * with `@OnChanges`. A client of the feed keeps its cursor itself, and gets 410 when the database has lost the change that it
 * saw last. Their places would be lost with the change, as on a standby that was started without promotion, so this memory
 * tells it instead: every cursor expires, and all readers begin with a snapshot.
 */
@Injectable()
export class SentChanges {
  private readonly logger = new Logger('Changes');
  /** What FORGET_LOST_LOG looks for, by the ID of the reader. */
  private readonly newest = new Map<string, object>();

  constructor(connection: ReservedConnection) {
    // Also in a process that is no longer the leader: the new one may have sent nothing that was lost.
    connection.whenOpened((manager) => this.verify(manager));
  }

  /** To be called before the change leaves this process. */
  note(readerId: string, organizationId: number, change: LastEmitted | null): void {
    if (!change) return;
    const [resource, xid, seq, at] = change;
    this.newest.set(readerId, { organization_id: organizationId, resource, xid, seq, at });
  }

  /** Compares a database to which there is a new connection with what was read from it. @throws in a database that cannot be written */
  private async verify(manager: EntityManager): Promise<void> {
    if (this.newest.size === 0) return;
    const sent = JSON.stringify([...this.newest.values()]);
    const [, lost] = await manager.query<[unknown[], number]>(FORGET_LOST_LOG, [sent]);
    if (lost === 0) return;
    this.newest.clear();
    this.logger.warn({
      message:
        'The database has lost changes that were sent already, as a standby does that was started without promotion. ' +
        'Cursors of the change feed have expired; webhooks and methods with @OnChanges restart with a full snapshot.',
    });
  }
}
