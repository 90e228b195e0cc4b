import { ApiSchema } from '@nestjs/swagger';
import { ValidateIf } from 'class-validator';
import { DateTimeInput, MAX_LENGTH, optionalNullable, optional, Text, TextList, Int32 } from '../api-schema/fields';
import { PageQuery, QueryText } from '../api-schema/parameters';
import { FIELD_DOCS } from './industry-event.response';

const FORMS = 'ISO 8601 with a zone, or a plain day, which counts as midnight UTC.';
const START = { ...FIELD_DOCS.startDate, description: `${FIELD_DOCS.startDate.description} ${FORMS}` };
const END = { ...FIELD_DOCS.endDate, description: `${FIELD_DOCS.endDate.description} ${FORMS}` };

/** Every field but the name: optional, and null clears. */
abstract class IndustryEventFields {
  @DateTimeInput({ ...optionalNullable, ...START }) startDate?: string | null;
  @DateTimeInput({ ...optionalNullable, ...END, notBefore: 'startDate' }) endDate?: string | null;
  @Text({ ...optionalNullable, ...FIELD_DOCS.sourceType }) sourceType?: string | null;
  @Text({ ...optionalNullable, ...FIELD_DOCS.sourceId }) sourceId?: string | null;
  @Text({ ...optionalNullable, ...FIELD_DOCS.eventType }) eventType?: string | null;
  @Text({ ...optionalNullable, ...FIELD_DOCS.venueCity }) venueCity?: string | null;
  @Text({ ...optionalNullable, ...FIELD_DOCS.venueState }) venueState?: string | null;
  @Text({ ...optionalNullable, ...FIELD_DOCS.venueCountry }) venueCountry?: string | null;
  @Text({ ...optionalNullable, ...FIELD_DOCS.venueName }) venueName?: string | null;
  @Text({ ...optionalNullable, ...FIELD_DOCS.venueFullAddress, max: MAX_LENGTH.prose }) venueFullAddress?:
    string | null;
  @Text({ ...optionalNullable, ...FIELD_DOCS.venueCoordinates }) venueCoordinates?: string | null;
  @Int32({ ...optionalNullable, ...FIELD_DOCS.numberOfAttendees }) numberOfAttendees?: number | null;
  @Int32({ ...optionalNullable, ...FIELD_DOCS.numberOfExhibitors }) numberOfExhibitors?: number | null;
  @Text({ ...optionalNullable, ...FIELD_DOCS.attendeeCost }) attendeeCost?: string | null;
  @Text({ ...optionalNullable, ...FIELD_DOCS.boothCost }) boothCost?: string | null;
  @TextList({ ...optionalNullable, ...FIELD_DOCS.exhibitorIndustries }) exhibitorIndustries?: string[] | null;
  @TextList({ ...optionalNullable, ...FIELD_DOCS.attendeePersonas }) attendeePersonas?: string[] | null;
  @TextList({ ...optionalNullable, ...FIELD_DOCS.keywords }) keywords?: string[] | null;
  @Text({ ...optionalNullable, ...FIELD_DOCS.website, max: MAX_LENGTH.url }) website?: string | null;
  @Text({ ...optionalNullable, ...FIELD_DOCS.description, max: MAX_LENGTH.prose }) description?: string | null;
  // A blank URL names no event, and records that share it would count as one and the same. Without an example: a record
  // that is changed as the examples say does not become another one.
  @Text({ ...optionalNullable, ...FIELD_DOCS.eventUrl, example: undefined, max: MAX_LENGTH.url, blank: false })
  eventUrl?: string | null;
}

@ApiSchema({ description: 'A new industry event.' })
export class IndustryEventCreateV0Input extends IndustryEventFields {
  @Text(FIELD_DOCS.name) name: string;
}

@ApiSchema({ description: 'Updates of an industry event. Null clears a field; omitted fields keep their values.' })
export class IndustryEventUpdateV0Input extends IndustryEventFields {
  @Text({ ...optional, blank: false, ...FIELD_DOCS.name, example: undefined }) name?: string;
}

export class IndustryEventsQuery extends PageQuery {
  @QueryText('Exact `eventUrl` of the record. `q` is ignored when it is given.') eventUrl?: string;
  @QueryText(
    'Full-text search in name, venue city, state and country, description, keywords, industries and personas. Every ' +
      'word must match one of them, regardless of case, accents and English word form (`exhibiting` matches ' +
      '`exhibits`). Blank text counts as omitted. `"a phrase"`, `or` and `-word` work as in a web search; at most 512 ' +
      'characters and 32 words. Results are ranked: matches in the name first, then in venue, keywords, industries ' +
      'and personas, then in the description.',
  )
  // Ignored with eventUrl, unless it is sent twice.
  @ValidateIf(({ eventUrl, q }: IndustryEventsQuery) => eventUrl === undefined || typeof q !== 'string')
  q?: string;
}
