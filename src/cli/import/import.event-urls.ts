import type { EntityManager } from 'typeorm';
import { violates } from '../../database/errors';
import { ImportFault } from './import-fault';

interface Waiting {
  id: string;
  eventUrl: string;
  /** of the record in the dataset */
  place: string;
  /** whether there is no record of that id, because the one that has the eventUrl is taken for it */
  isNew: boolean;
}

/**
 * Who waits for an eventUrl that another record has: that one may come later in the dataset, and give it up. Until then a
 * stored record has none.
 */
export class EventUrls {
  /** in the order of the dataset */
  private readonly waiting = new Map<string, Waiting>();

  constructor(private readonly manager: EntityManager) {}

  wait(record: Waiting): void {
    this.waiting.set(record.id, record);
  }

  /** A later record of the dataset says what this one has. */
  forget(id: string): void {
    this.waiting.delete(id);
  }

  /**
   * Has the first that waits for one of these, which were given up, take it.
   * @throws ImportFault naming a new record, which another one was taken for
   */
  async passOn(eventUrls: string[]): Promise<void> {
    const free = new Set(eventUrls);
    if (free.size === 0) return;
    for (const record of this.waiting.values()) {
      if (free.delete(record.eventUrl)) await this.take(record);
    }
  }

  /**
   * The end of the dataset: nobody gives up anything any more.
   * @throws ImportFault naming the first record whose eventUrl another one has
   */
  async settle(): Promise<void> {
    for (const record of this.waiting.values()) {
      if (!record.isNew) await this.take(record);
    }
  }

  private async take({ id, eventUrl, place, isNew }: Waiting): Promise<void> {
    const fault = `${place}.eventUrl: another record has it`;
    if (isNew) throw new ImportFault(`${fault}, and gives it up only later`);
    try {
      await this.manager.query('update industry_events set event_url = $2 where id = $1', [id, eventUrl]);
    } catch (error) {
      throw violates(error, 'industry_events_event_url_key') ? new ImportFault(fault) : error;
    }
    this.waiting.delete(id);
  }
}
