import { ApiSchema, IntersectionType } from '@nestjs/swagger';
import { field } from '../../fields/field-rules';
import { DateTimeInput, MAX_LENGTH, optionalNullable, optional, Text } from '../../fields/fields';
import { PageQuery } from '../../fields/page-query';
import { invalidTextReason } from '../../fields/invalid-reason';
import { QueryText } from '../../fields/parameters';
import { text } from '../../fields/value-schemas';
import { isStorableText, MAX_HEAD_BYTES } from '../../fields/text';
import { Details, INDUSTRY_EVENT_FIELD_DOCS } from './industry-event.response';

const withForms = ({ description, example }: Record<'description' | 'example', string>) => ({
  ...optionalNullable,
  description: `${description} ISO 8601 with a zone, or a plain day, which counts as midnight UTC.`,
  example,
});

class DateFields {
  @DateTimeInput(withForms(INDUSTRY_EVENT_FIELD_DOCS.startDate)) startDate?: string | null;
  @DateTimeInput({ ...withForms(INDUSTRY_EVENT_FIELD_DOCS.endDate), notBefore: 'startDate' }) endDate?: string | null;
}

class UrlField {
  // A blank URL identifies no event, and records that share it would count as the same one. There is no example, because a
  // record that is changed to match the examples must not become another one.
  @Text({
    ...optionalNullable,
    ...INDUSTRY_EVENT_FIELD_DOCS.eventUrl,
    example: undefined,
    max: MAX_LENGTH.url,
    blank: false,
  })
  eventUrl?: string | null;
}

/** Every field but the name. All are optional, and null clears them. */
class IndustryEventFields extends IntersectionType(DateFields, Details(optionalNullable), UrlField) {}

@ApiSchema({ description: 'A new industry event.' })
export class IndustryEventCreateV0Input extends IndustryEventFields {
  @Text(INDUSTRY_EVENT_FIELD_DOCS.name) name: string;
}

@ApiSchema({ description: 'Updates of an industry event. Null clears a field; omitted fields keep their values.' })
export class IndustryEventUpdateV0Input extends IndustryEventFields {
  @Text({ ...optional, blank: false, ...INDUSTRY_EVENT_FIELD_DOCS.name, example: undefined }) name?: string;
}

const SEARCH =
  'Full-text search in name, venue city, state and country, description, keywords, industries and personas. Every ' +
  'word must match one of them, regardless of case, accents and English word form (`exhibiting` matches ' +
  '`exhibits`). Blank text counts as omitted. `"a phrase"`, `or` and `-word` work as in a web search; at most 512 ' +
  'characters and 32 words. Results are ranked: matches in the name first, then in venue, keywords, industries ' +
  'and personas, then in the description.';

export class IndustryEventsQuery extends PageQuery {
  @QueryText('Exact `eventUrl` of the record. `q` is ignored when it is given.') eventUrl?: string;
  @field(
    {
      kind: 'text',
      schema: text(MAX_HEAD_BYTES, true),
      // With eventUrl, `q` is ignored and may be any text, but it must not be sent twice.
      check: (q, { eventUrl }) => {
        const isValid = eventUrl === undefined ? isStorableText(q) : typeof q === 'string';
        return isValid ? undefined : invalidTextReason(q);
      },
    },
    { ...optional, example: undefined, description: SEARCH },
  )
  q?: string;
}
