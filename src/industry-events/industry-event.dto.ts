import { ApiSchema } from '@nestjs/swagger';
import { GivenDateTime, LENGTHS, maybe, optional, Text, TextList, Whole } from '../http/fields';
import { PageQuery, QueryText } from '../http/parameters';
import { SHOWN } from './industry-event.response';

const FORMS = 'ISO 8601 with a zone, or a plain day, which counts as midnight UTC.';
const START = { ...SHOWN.startDate, description: `${SHOWN.startDate.description} ${FORMS}` };
const END = { ...SHOWN.endDate, description: `${SHOWN.endDate.description} ${FORMS}` };

/** Every field but the name: optional, and null clears. */
abstract class IndustryEventFields {
  @GivenDateTime({ ...maybe, ...START }) startDate?: string | null;
  @GivenDateTime({ ...maybe, ...END, notBefore: 'startDate' }) endDate?: string | null;
  @Text({ ...maybe, ...SHOWN.sourceType }) sourceType?: string | null;
  @Text({ ...maybe, ...SHOWN.sourceId }) sourceId?: string | null;
  @Text({ ...maybe, ...SHOWN.eventType }) eventType?: string | null;
  @Text({ ...maybe, ...SHOWN.venueCity }) venueCity?: string | null;
  @Text({ ...maybe, ...SHOWN.venueState }) venueState?: string | null;
  @Text({ ...maybe, ...SHOWN.venueCountry }) venueCountry?: string | null;
  @Text({ ...maybe, ...SHOWN.venueName }) venueName?: string | null;
  @Text({ ...maybe, ...SHOWN.venueFullAddress, max: LENGTHS.prose }) venueFullAddress?: string | null;
  @Text({ ...maybe, ...SHOWN.venueCoordinates }) venueCoordinates?: string | null;
  @Whole({ ...maybe, ...SHOWN.numberOfAttendees }) numberOfAttendees?: number | null;
  @Whole({ ...maybe, ...SHOWN.numberOfExhibitors }) numberOfExhibitors?: number | null;
  @Text({ ...maybe, ...SHOWN.attendeeCost }) attendeeCost?: string | null;
  @Text({ ...maybe, ...SHOWN.boothCost }) boothCost?: string | null;
  @TextList({ ...maybe, ...SHOWN.exhibitorIndustries }) exhibitorIndustries?: string[] | null;
  @TextList({ ...maybe, ...SHOWN.attendeePersonas }) attendeePersonas?: string[] | null;
  @TextList({ ...maybe, ...SHOWN.keywords }) keywords?: string[] | null;
  @Text({ ...maybe, ...SHOWN.website, max: LENGTHS.url }) website?: string | null;
  @Text({ ...maybe, ...SHOWN.description, max: LENGTHS.prose }) description?: string | null;
  // A blank URL names no event, and records that share it would count as one and the same. Without an example: a record
  // that is changed as the examples say does not become another one.
  @Text({ ...maybe, ...SHOWN.eventUrl, example: undefined, max: LENGTHS.url, blank: false }) eventUrl?: string | null;
}

@ApiSchema({ description: 'A new industry event.' })
export class IndustryEventCreateV0Input extends IndustryEventFields {
  @Text(SHOWN.name) name: string;
}

@ApiSchema({ description: 'Changes of an industry event. What is left out stays as it is; what is null is cleared.' })
export class IndustryEventUpdateV0Input extends IndustryEventFields {
  @Text({ ...optional, blank: false, ...SHOWN.name, example: undefined }) name?: string;
}

export class IndustryEventsQuery extends PageQuery {
  @QueryText('Only the record whose `eventUrl` equals this one, byte for byte; `q` is then ignored.') eventUrl?: string;
  @QueryText(
    'Full-text search over name, venue city, state and country, description, keywords, industries and personas. Every ' +
      'word must match in one of them, whatever its case and accents and in any English form (`exhibiting` finds ' +
      '`exhibits`); a blank one counts as left out, and words such as `the` do not count. `"a phrase"`, `or` and ' +
      '`-word` work as in a web search. What matches in the name comes first, then what does with venue, keywords, ' +
      'industries and personas, then the rest.',
    { ignoredBeside: 'eventUrl' },
  )
  q?: string;
}
