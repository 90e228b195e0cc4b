import { DateTime, LENGTHS, Text, TextList, Whole } from '../http/fields';
import { PageQuery, QueryText } from '../http/parameters';

const optional = { optional: true, nullable: true } as const;

/** Every field but the name: optional, and null clears. */
abstract class IndustryEventFields {
  @DateTime(optional) startDate?: string | null;
  @DateTime({ ...optional, notBefore: 'startDate' }) endDate?: string | null;
  @Text(optional) sourceType?: string | null;
  @Text(optional) sourceId?: string | null;
  @Text(optional) eventType?: string | null;
  @Text(optional) venueCity?: string | null;
  @Text(optional) venueState?: string | null;
  @Text(optional) venueCountry?: string | null;
  @Text(optional) venueName?: string | null;
  @Text({ ...optional, max: LENGTHS.prose }) venueFullAddress?: string | null;
  @Text(optional) venueCoordinates?: string | null;
  @Whole(optional) numberOfAttendees?: number | null;
  @Whole(optional) numberOfExhibitors?: number | null;
  @Text(optional) attendeeCost?: string | null;
  @Text(optional) boothCost?: string | null;
  @TextList(optional) exhibitorIndustries?: string[] | null;
  @TextList(optional) attendeePersonas?: string[] | null;
  @TextList(optional) keywords?: string[] | null;
  @Text({ ...optional, max: LENGTHS.url }) website?: string | null;
  @Text({ ...optional, max: LENGTHS.prose }) description?: string | null;
  // A blank URL names no event, and records that share it would count as one and the same.
  @Text({ ...optional, max: LENGTHS.url, blank: false }) eventUrl?: string | null;
}

export class IndustryEventCreateV0Input extends IndustryEventFields {
  @Text() name: string;
}

export class IndustryEventUpdateV0Input extends IndustryEventFields {
  @Text({ optional: true, blank: false }) name?: string;
}

export class IndustryEventsQuery extends PageQuery {
  @QueryText('Only the record whose URL equals this one, byte for byte; `q` is then ignored.') eventUrl?: string;
  @QueryText(
    'Full-text search over name, venue city, state and country, description, keywords, industries and personas. Every word must match; `"a phrase"`, `or` and `-word` work as in a web search.',
  )
  q?: string;
}
