import { ApiSchema } from '@nestjs/swagger';
import {
  DateTime,
  BooleanField,
  MAX_LENGTH,
  ListOf,
  nullable,
  ObjectOf,
  Text,
  TextList,
  Uuid,
  Int32,
} from '../api-schema/fields';
import { EXAMPLE_IDS } from '../api-schema/schemas';

/** The fields that bodies and answers have in common, as the API reference shows them. */
export const FIELD_DOCS = {
  name: { description: 'Name of the event.', example: 'Northern Pump Days' },
  startDate: {
    description: 'Start date and time.',
    example: '2026-09-14T07:00:00.000Z',
  },
  endDate: { description: 'End date and time, not before `startDate`.', example: '2026-09-16T16:00:00.000Z' },
  sourceType: { description: 'Type of the source of the record.' },
  sourceId: { description: 'Identifier of the record in its source.' },
  eventType: { description: 'Type of event, as free text.', example: 'Trade show' },
  venueCity: { description: 'City or town of the venue.', example: 'Łódź' },
  venueState: { description: 'State or region of the venue.' },
  venueCountry: { description: 'Country of the venue.', example: 'Poland' },
  venueName: { description: 'Name of the venue.', example: 'Hala Expo' },
  venueFullAddress: { description: 'Full address of the venue.' },
  venueCoordinates: { description: 'Coordinates of the venue, as a string.', example: '51.747,19.451' },
  numberOfAttendees: { description: 'Number of attendees.', example: 4000 },
  numberOfExhibitors: { description: 'Number of exhibitors.', example: 120 },
  attendeeCost: { description: 'Cost of attending, as free text.' },
  boothCost: { description: 'Cost of a booth, as free text.', example: '€4,000' },
  exhibitorIndustries: { description: 'Industries of the exhibitors.', example: ['Machinery'] },
  attendeePersonas: { description: 'Roles of the attendees.', example: ['Buyers', 'Plant engineers'] },
  keywords: { description: 'Keywords for search.', example: ['pumps', 'valves'] },
  website: { description: 'Website.', example: 'https://pump-days.example.com' },
  description: { description: 'Description.' },
  eventUrl: {
    description: 'Identifying URL, unique in the catalogue.',
    example: 'https://pump-days.example.com/2026',
  },
};

@ApiSchema({ description: 'A trade show or conference in the shared catalogue.' })
export class IndustryEventV0Response {
  @Uuid({ description: 'The id of the industry event.', example: EXAMPLE_IDS.industryEvent }) id: string;
  @DateTime({ description: 'Creation date and time.' }) createdAt: string;
  @DateTime({ description: 'Date and time of the last update.' }) updatedAt: string;
  @Text(FIELD_DOCS.name) name: string;
  @DateTime({ ...nullable, ...FIELD_DOCS.startDate }) startDate: string | null;
  @DateTime({ ...nullable, ...FIELD_DOCS.endDate }) endDate: string | null;
  @Text({ ...nullable, ...FIELD_DOCS.sourceType }) sourceType: string | null;
  @Text({ ...nullable, ...FIELD_DOCS.sourceId }) sourceId: string | null;
  @Text({ ...nullable, ...FIELD_DOCS.eventType }) eventType: string | null;
  @Text({ ...nullable, ...FIELD_DOCS.venueCity }) venueCity: string | null;
  @Text({ ...nullable, ...FIELD_DOCS.venueState }) venueState: string | null;
  @Text({ ...nullable, ...FIELD_DOCS.venueCountry }) venueCountry: string | null;
  @Text({ ...nullable, ...FIELD_DOCS.venueName }) venueName: string | null;
  @Text({ ...nullable, ...FIELD_DOCS.venueFullAddress, max: MAX_LENGTH.prose }) venueFullAddress: string | null;
  @Text({ ...nullable, ...FIELD_DOCS.venueCoordinates }) venueCoordinates: string | null;
  @Int32({ ...nullable, ...FIELD_DOCS.numberOfAttendees }) numberOfAttendees: number | null;
  @Int32({ ...nullable, ...FIELD_DOCS.numberOfExhibitors }) numberOfExhibitors: number | null;
  @Text({ ...nullable, ...FIELD_DOCS.attendeeCost }) attendeeCost: string | null;
  @Text({ ...nullable, ...FIELD_DOCS.boothCost }) boothCost: string | null;
  @TextList({ ...nullable, ...FIELD_DOCS.exhibitorIndustries }) exhibitorIndustries: string[] | null;
  @TextList({ ...nullable, ...FIELD_DOCS.attendeePersonas }) attendeePersonas: string[] | null;
  @TextList({ ...nullable, ...FIELD_DOCS.keywords }) keywords: string[] | null;
  @Text({ ...nullable, ...FIELD_DOCS.website, max: MAX_LENGTH.url }) website: string | null;
  @Text({ ...nullable, ...FIELD_DOCS.description, max: MAX_LENGTH.prose }) description: string | null;
  @Text({ ...nullable, ...FIELD_DOCS.eventUrl, max: MAX_LENGTH.url }) eventUrl: string | null;
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

/** The columns of industry_events as the API shows them. */
export const INDUSTRY_EVENT_COLUMNS = `
  id, iso_utc(created_at) as "createdAt", iso_utc(updated_at) as "updatedAt", name,
  iso_utc(start_date) as "startDate", iso_utc(end_date) as "endDate", source_type as "sourceType",
  source_id as "sourceId", event_type as "eventType", venue_city as "venueCity", venue_state as "venueState",
  venue_country as "venueCountry", venue_name as "venueName", venue_full_address as "venueFullAddress",
  venue_coordinates as "venueCoordinates", number_of_attendees as "numberOfAttendees",
  number_of_exhibitors as "numberOfExhibitors", attendee_cost as "attendeeCost", booth_cost as "boothCost",
  exhibitor_industries as "exhibitorIndustries", attendee_personas as "attendeePersonas", keywords, website,
  description, event_url as "eventUrl"`;

/** The JSON text of a row of industry_events. */
export const INDUSTRY_EVENT = `(select row_to_json(o)::text from (select ${INDUSTRY_EVENT_COLUMNS}) o)`;

/** The same as one organization sees it; the organization is the statement's parameter `$1`. */
export const INDUSTRY_EVENT_WITH_BOOKMARK = `(select row_to_json(o)::text from (
  select ${INDUSTRY_EVENT_COLUMNS}, exists (select from industry_event_bookmarks b
    where b.organization_id = $1 and b.industry_event_id = industry_events.id) as "isBookmarked") o)`;
