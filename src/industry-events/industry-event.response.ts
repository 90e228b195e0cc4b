import { dateTime } from '../database/json';
import { DateTime, Flag, LENGTHS, ListOf, ObjectOf, Text, TextList, Uuid, Whole } from '../http/fields';

const nullable = { nullable: true } as const;

/** A trade show or conference of the catalogue that all organizations share. */
export class IndustryEventV0Response {
  @Uuid() id: string;
  @DateTime() createdAt: string;
  @DateTime() updatedAt: string;
  @Text() name: string;
  @DateTime(nullable) startDate: string | null;
  @DateTime(nullable) endDate: string | null;
  @Text(nullable) sourceType: string | null;
  @Text(nullable) sourceId: string | null;
  @Text(nullable) eventType: string | null;
  @Text(nullable) venueCity: string | null;
  @Text(nullable) venueState: string | null;
  @Text(nullable) venueCountry: string | null;
  @Text(nullable) venueName: string | null;
  @Text({ ...nullable, max: LENGTHS.prose }) venueFullAddress: string | null;
  @Text(nullable) venueCoordinates: string | null;
  @Whole(nullable) numberOfAttendees: number | null;
  @Whole(nullable) numberOfExhibitors: number | null;
  @Text(nullable) attendeeCost: string | null;
  @Text(nullable) boothCost: string | null;
  @TextList(nullable) exhibitorIndustries: string[] | null;
  @TextList(nullable) attendeePersonas: string[] | null;
  @TextList(nullable) keywords: string[] | null;
  @Text({ ...nullable, max: LENGTHS.url }) website: string | null;
  @Text({ ...nullable, max: LENGTHS.prose }) description: string | null;
  @Text({ ...nullable, max: LENGTHS.url }) eventUrl: string | null;
  @Flag({ optional: true, description: 'Present on the fetch by id alone.' }) isBookmarked?: boolean;
}

/** What became of a request to create an industry event. */
export class IndustryEventCreation {
  @ObjectOf(() => IndustryEventV0Response) industryEvent: IndustryEventV0Response;
  @Flag({ description: 'False when a record with this eventUrl existed: it is returned unchanged.' }) created: boolean;
  @ListOf(() => IndustryEventV0Response, {
    max: 50,
    description: 'Older records with the same name and startDate.',
  })
  potentialDuplicates: IndustryEventV0Response[];
}

/** What became of a bookmark. */
export class BookmarkResult {
  @Flag() success: boolean;
}

const columns = `
  id, ${dateTime('created_at')} as "createdAt", ${dateTime('updated_at')} as "updatedAt", name,
  ${dateTime('start_date')} as "startDate", ${dateTime('end_date')} as "endDate", source_type as "sourceType",
  source_id as "sourceId", event_type as "eventType", venue_city as "venueCity", venue_state as "venueState",
  venue_country as "venueCountry", venue_name as "venueName", venue_full_address as "venueFullAddress",
  venue_coordinates as "venueCoordinates", number_of_attendees as "numberOfAttendees",
  number_of_exhibitors as "numberOfExhibitors", attendee_cost as "attendeeCost", booth_cost as "boothCost",
  exhibitor_industries as "exhibitorIndustries", attendee_personas as "attendeePersonas", keywords, website,
  description, event_url as "eventUrl"`;

export const INDUSTRY_EVENT = `select ${columns} from page`;

/** The record as one organization sees it; the organization is the statement's parameter `$1`. */
export const INDUSTRY_EVENT_WITH_BOOKMARK = `
  select ${columns}, exists (select from industry_event_bookmarks b
    where b.organization_id = $1 and b.industry_event_id = page.id) as "isBookmarked"
  from page`;
