import { ApiSchema } from '@nestjs/swagger';
import { DateTime, LENGTHS, Text, TextList, Whole } from '../http/fields';
import { PageQuery, QueryText } from '../http/parameters';
import { SHOWN } from './industry-event.response';

const optional = { optional: true, nullable: true } as const;

/** Every field but the name: optional, and null clears. */
abstract class IndustryEventFields {
  @DateTime({ ...optional, ...SHOWN.startDate }) startDate?: string | null;
  @DateTime({ ...optional, ...SHOWN.endDate, notBefore: 'startDate' }) endDate?: string | null;
  @Text({ ...optional, ...SHOWN.sourceType }) sourceType?: string | null;
  @Text({ ...optional, ...SHOWN.sourceId }) sourceId?: string | null;
  @Text({ ...optional, ...SHOWN.eventType }) eventType?: string | null;
  @Text({ ...optional, ...SHOWN.venueCity }) venueCity?: string | null;
  @Text({ ...optional, ...SHOWN.venueState }) venueState?: string | null;
  @Text({ ...optional, ...SHOWN.venueCountry }) venueCountry?: string | null;
  @Text({ ...optional, ...SHOWN.venueName }) venueName?: string | null;
  @Text({ ...optional, ...SHOWN.venueFullAddress, max: LENGTHS.prose }) venueFullAddress?: string | null;
  @Text({ ...optional, ...SHOWN.venueCoordinates }) venueCoordinates?: string | null;
  @Whole({ ...optional, ...SHOWN.numberOfAttendees }) numberOfAttendees?: number | null;
  @Whole({ ...optional, ...SHOWN.numberOfExhibitors }) numberOfExhibitors?: number | null;
  @Text({ ...optional, ...SHOWN.attendeeCost }) attendeeCost?: string | null;
  @Text({ ...optional, ...SHOWN.boothCost }) boothCost?: string | null;
  @TextList({ ...optional, ...SHOWN.exhibitorIndustries }) exhibitorIndustries?: string[] | null;
  @TextList({ ...optional, ...SHOWN.attendeePersonas }) attendeePersonas?: string[] | null;
  @TextList({ ...optional, ...SHOWN.keywords }) keywords?: string[] | null;
  @Text({ ...optional, ...SHOWN.website, max: LENGTHS.url }) website?: string | null;
  @Text({ ...optional, ...SHOWN.description, max: LENGTHS.prose }) description?: string | null;
  // A blank URL names no event, and records that share it would count as one and the same. Without an example: a record
  // that is changed as the examples say does not become another one.
  @Text({ ...optional, ...SHOWN.eventUrl, example: undefined, max: LENGTHS.url, blank: false }) eventUrl?:
    string | null;
}

@ApiSchema({ description: 'A new industry event.' })
export class IndustryEventCreateV0Input extends IndustryEventFields {
  @Text(SHOWN.name) name: string;
}

@ApiSchema({ description: 'Changes of an industry event. What is left out stays as it is; what is null is cleared.' })
export class IndustryEventUpdateV0Input extends IndustryEventFields {
  @Text({ optional: true, blank: false, ...SHOWN.name, example: undefined }) name?: string;
}

export class IndustryEventsQuery extends PageQuery {
  @QueryText('Only the record whose `eventUrl` equals this one, byte for byte; `q` is then ignored.') eventUrl?: string;
  @QueryText(
    'Full-text search over name, venue city, state and country, description, keywords, industries and personas. Every ' +
      'word must match in one of them, whatever its case and accents and in any English form (`exhibiting` finds ' +
      '`exhibits`); a blank one counts as left out, and words such as `the` do not count. `"a phrase"`, `or` and ' +
      '`-word` work as in a web search. What matches in the name comes first, then what does with venue, keywords, ' +
      'industries and personas, then the rest.',
  )
  q?: string;
}
