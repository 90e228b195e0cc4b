import type { Type } from '@nestjs/common';
import { ApiSchema, IntersectionType } from '@nestjs/swagger';
import {
  DateTime,
  BooleanField,
  MAX_LENGTH,
  ListOf,
  nullable,
  ObjectOf,
  optionalNullable,
  Text,
  TextList,
  Uuid,
  Int32,
} from '../../fields/fields';
import { ownColumns } from '../../fields/own-columns';
import { json, type Rendering } from '../../data/database/rendering';
import { EXAMPLE_INDUSTRY_EVENT_ID } from '../../openapi/example-ids';

/** Documentation of the fields that bodies and responses describe alike but declare differently. */
export const INDUSTRY_EVENT_FIELD_DOCS = {
  name: { description: 'Name of the event.', example: 'Northern Pump Days' },
  startDate: { description: 'Start date and time.', example: '2026-09-14T07:00:00.000Z' },
  endDate: { description: 'End date and time, not before `startDate`.', example: '2026-09-16T16:00:00.000Z' },
  eventUrl: {
    description: 'Identifying URL, unique in the catalog.',
    example: 'https://pump-days.example.com/2026',
  },
};

/** The fields that may be unknown. They are null in responses, and optional as well in bodies. */
export function Details(presence: typeof nullable | typeof optionalNullable) {
  abstract class Details {
    @Text({ ...presence, description: 'Type of the source of the record.' }) sourceType?: string | null;
    @Text({ ...presence, description: 'Identifier of the record in its source.' }) sourceId?: string | null;
    @Text({ ...presence, description: 'Type of event, as free text.', example: 'Trade show' })
    eventType?: string | null;
    @Text({ ...presence, description: 'City or town of the venue.', example: 'Łódź' }) venueCity?: string | null;
    @Text({ ...presence, description: 'State or region of the venue.' }) venueState?: string | null;
    @Text({ ...presence, description: 'Country of the venue.', example: 'Poland' }) venueCountry?: string | null;
    @Text({ ...presence, description: 'Name of the venue.', example: 'Hala Expo' }) venueName?: string | null;
    @Text({ ...presence, max: MAX_LENGTH.prose, description: 'Full address of the venue.' })
    venueFullAddress?: string | null;
    @Text({ ...presence, description: 'Coordinates of the venue, as a string.', example: '51.747,19.451' })
    venueCoordinates?: string | null;
    @Int32({ ...presence, description: 'Number of attendees.', example: 4000 }) numberOfAttendees?: number | null;
    @Int32({ ...presence, description: 'Number of exhibitors.', example: 120 }) numberOfExhibitors?: number | null;
    @Text({ ...presence, description: 'Cost of attending, as free text.' }) attendeeCost?: string | null;
    @Text({ ...presence, description: 'Cost of a booth, as free text.', example: '€4,000' }) boothCost?: string | null;
    @TextList({ ...presence, description: 'Industries of the exhibitors.', example: ['Machinery'] })
    exhibitorIndustries?: string[] | null;
    @TextList({ ...presence, description: 'Roles of the attendees.', example: ['Buyers', 'Plant engineers'] })
    attendeePersonas?: string[] | null;
    @TextList({ ...presence, description: 'Keywords for search.', example: ['pumps', 'valves'] })
    keywords?: string[] | null;
    @Text({ ...presence, max: MAX_LENGTH.url, description: 'Website.', example: 'https://pump-days.example.com' })
    website?: string | null;
    @Text({ ...presence, max: MAX_LENGTH.prose, description: 'Description.' }) description?: string | null;
  }
  return Details as Type<Details>;
}

class IdentifyingFields {
  @Uuid({ description: 'The ID of the industry event.', example: EXAMPLE_INDUSTRY_EVENT_ID }) id: string;
  @DateTime({ description: 'Creation date and time.' }) createdAt: string;
  @DateTime({ description: 'Date and time of the last update.' }) updatedAt: string;
  @Text(INDUSTRY_EVENT_FIELD_DOCS.name) name: string;
  @DateTime({ ...nullable, ...INDUSTRY_EVENT_FIELD_DOCS.startDate }) startDate: string | null;
  @DateTime({ ...nullable, ...INDUSTRY_EVENT_FIELD_DOCS.endDate }) endDate: string | null;
}

@ApiSchema({ description: 'A trade show or conference in the shared catalog.' })
export class IndustryEventV0Response extends IntersectionType(IdentifyingFields, Details(nullable)) {
  @Text({ ...nullable, ...INDUSTRY_EVENT_FIELD_DOCS.eventUrl, max: MAX_LENGTH.url }) eventUrl: string | null;
}

@ApiSchema({ description: 'An industry event, with the bookmark of the organization.' })
export class IndustryEventWithBookmark extends IndustryEventV0Response {
  @BooleanField({ description: 'Whether the organization has bookmarked it.', example: true }) isBookmarked: boolean;
}

@ApiSchema({ description: 'Result of creating an industry event.' })
export class IndustryEventCreation {
  @ObjectOf(() => IndustryEventV0Response) industryEvent: IndustryEventV0Response;
  @BooleanField({
    description: 'False if a record with this `eventUrl` already existed; it is returned unchanged.',
    example: true,
  })
  created: boolean;
  @ListOf(() => IndustryEventV0Response, {
    max: 50,
    description: 'Older records with the same name and `startDate`.',
    example: [],
  })
  potentialDuplicates: IndustryEventV0Response[];
}

@ApiSchema({ description: 'Result of a bookmark operation.' })
export class BookmarkResult {
  @BooleanField({ description: 'Always true.', example: true }) success: boolean;
}

const RENDERING: Rendering<IndustryEventV0Response> = {
  ...ownColumns(IndustryEventV0Response),
  createdAt: 'iso_utc(created_at)',
  updatedAt: 'iso_utc(updated_at)',
  startDate: 'iso_utc(start_date)',
  endDate: 'iso_utc(end_date)',
};

/** The JSON text of a row of industry_events. */
export const INDUSTRY_EVENT_JSON = json<IndustryEventV0Response>(RENDERING);

/** The JSON text as one organization sees it; `$1` is the organization's ID. */
export const INDUSTRY_EVENT_WITH_BOOKMARK_JSON = json<IndustryEventWithBookmark>({
  ...RENDERING,
  isBookmarked: `exists (select from industry_event_bookmarks b
    where b.organization_id = $1 and b.industry_event_id = industry_events.id)`,
});
