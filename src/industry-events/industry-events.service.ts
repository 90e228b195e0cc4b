import { BadRequestException, Injectable } from '@nestjs/common';
import { violates } from '../database/errors';
import type { Json, Page } from '../database/statements';
import type { Caller } from '../http/caller';
import { InvalidField } from '../http/errors';
import type { IndustryEventsQuery, IndustryEventUpdateV0Input } from './industry-event.dto';
import { IndustryEventsRepository } from './industry-events.repository';
import { searchQuery } from './search-query';

@Injectable()
export class IndustryEventsService {
  constructor(private readonly industryEvents: IndustryEventsRepository) {}

  /** @throws BadRequestException when `q` has too many words */
  list(caller: Caller, { eventUrl, q, ...page }: IndustryEventsQuery): Promise<Page> {
    if (eventUrl !== undefined) return this.industryEvents.listByUrl(caller, eventUrl, page);
    if (!q?.trim()) return this.industryEvents.list(caller, page);
    const { text, words, isTooLong } = searchQuery(q);
    if (isTooLong) throw new BadRequestException();
    return this.industryEvents.search(caller, text, words, page);
  }

  /** @throws InvalidField when the end would come before the start, or another record has the eventUrl */
  async update(caller: Caller, industryEventId: string, input: IndustryEventUpdateV0Input): Promise<Json> {
    try {
      return await this.industryEvents.update(caller, industryEventId, input, ({ startDate, endDate }) => {
        if (startDate && endDate && new Date(endDate) < new Date(startDate)) throw new InvalidField('endDate');
      });
    } catch (error) {
      throw violates(error, 'industry_events_event_url_key') ? new InvalidField('eventUrl') : error;
    }
  }
}
