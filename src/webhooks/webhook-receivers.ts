import { Injectable } from '@nestjs/common';
import { FairQueue } from '../database/fair-queue';

/** Connections to receivers of this process, and how many of them failing and slow receivers may hold. */
const MAX_DELIVERIES = 8;
const MAX_SLOW_DELIVERIES = 4;
/** Methods of this process that are called at the same time. They wait for no receiver, and no receiver waits for them. */
const MAX_CALLS = 4;
/** The longest timer there is. A delivery waits for its turn however long that takes. */
const NO_TIMEOUT_MS = 2 ** 31 - 1;

/** Organizations take turns at the slots for deliveries, as they do at the connections of the database. */
@Injectable()
export class DeliverySlots {
  private readonly all = new FairQueue(MAX_DELIVERIES, undefined, NO_TIMEOUT_MS);
  private readonly calls = new FairQueue(MAX_CALLS, undefined, NO_TIMEOUT_MS);
  private readonly slow = new FairQueue(MAX_SLOW_DELIVERIES, undefined, NO_TIMEOUT_MS);

  /** Runs a delivery when it is its organization's turn. */
  run<T>(organizationId: number, isSlow: boolean, work: () => Promise<T>): Promise<T> {
    const inSlot = (): Promise<T> => this.all.run(organizationId, work);
    return isSlow ? this.slow.run(organizationId, inSlot) : inSlot();
  }

  /** Calls a method of this process when it is its organization's turn. */
  runCall<T>(organizationId: number, work: () => Promise<T>): Promise<T> {
    return this.calls.run(organizationId, work);
  }

  /** Counts a delivery that has become slow among the slow ones until it ends. @returns whether there was room */
  becomeSlow(organizationId: number, delivery: Promise<unknown>): boolean {
    if (!this.slow.hasFreeSlot(organizationId)) return false;
    void this.slow.run(organizationId, () => delivery);
    return true;
  }
}
