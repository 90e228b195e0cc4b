import { Injectable } from '@nestjs/common';
import { ReservedConnection } from '../database/reserved-connection';
import { SentChanges } from './sent-changes';

/** An arbitrary constant: the advisory lock of the process that delivers. */
const LEADER_LOCK = 7_261_915;
/**
 * The second half of the lock. A migration after which older servers cannot deliver raises it, so that none of them keeps the
 * lock from a server that can (docs/decisions/0022).
 */
const LEADER_VERSION = 1;

/**
 * Of all processes only the one that holds an advisory lock delivers. The lock belongs to the process's own connection, and so
 * does everything that the leader reads and stores: a process that has lost the lock cannot store anything.
 */
@Injectable()
export class FeedLeader {
  private isHeld = false;

  constructor(
    private readonly connection: ReservedConnection,
    sent: SentChanges,
  ) {
    connection.whenLost(() => (this.isHeld = false));
    // Also in a process that is no longer the leader: the new one may have sent nothing that was lost.
    connection.whenOpened((manager) => sent.verify(manager));
  }

  /** Tries to become the leader, on a connection that is open. */
  async isLeader(): Promise<boolean> {
    if (!this.isHeld) {
      const [{ isHeld }] = await this.connection.run((manager) =>
        manager.query<[{ isHeld: boolean }]>('select pg_try_advisory_lock($1, $2) as "isHeld"', [
          LEADER_LOCK,
          LEADER_VERSION,
        ]),
      );
      this.isHeld = isHeld;
    }
    return this.isHeld;
  }
}
