import { children, dateTime, object, objects, values } from '../../database/json';
import { INDUSTRY_EVENT_COLUMNS } from '../../industry-events/industry-event.response';
import type { SectionName } from '../import/dataset';

/**
 * The statements that render the records of a dataset, each section in the order of its list. The organization is
 * written into them as a number, because the statement of a cursor is declared with them.
 */

/** associations are listed by the microsecond */
const precise = (column: string): string => `to_char(${column} at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')`;

/** the name by which a dataset means the event of a row */
const refOf = (row: string): string =>
  `(select e.ref from events e where e.organization_id = ${row}.organization_id and e.id = ${row}.event_id)`;

const USERS = `
  select email, first_name as "firstName", last_name as "lastName", ${dateTime('created_at')} as "createdAt"
  from users page`;

const TAG_GROUPS = `
  select id, ${dateTime('created_at')} as "createdAt", name, status,
    allows_multiple_selection as "allowsMultipleSelection", display_order as "displayOrder",
    usage_instructions as "usageInstructions", required, all_events as "allEvents",
    ${objects(`select c.id, c.display_order as "displayOrder", c.value
      from ${children('tag_options', 'tag_group_id')} order by c.display_order, c.id`)} as "tagOptions"
  from tag_groups page`;

const EVENTS = `
  select ref, ${dateTime('created_at')} as "createdAt", created_by as "createdBy", name, type,
    registration_enabled as "registrationEnabled", start_date as "startDate", end_date as "endDate", location,
    ${values('c.tag_group_id', children('event_tag_groups', 'event_id'), 'c.position')} as "tagGroups",
    ${values(
      'u.email',
      `event_users c join users u on u.organization_id = c.organization_id and u.id = c.user_id
        where c.organization_id = page.organization_id and c.event_id = page.id`,
      'c.position',
    )} as users
  from events page`;

const ACTIVATIONS = `
  select id, ${dateTime('created_at')} as "createdAt", ${refOf('page')} as event, name, type,
    start_date as "startDate", end_date as "endDate", start_time as "startTime", end_time as "endTime",
    created_by as "createdBy", location, users, number_of_scans as "numberOfScans"
  from activations page`;

const COMPANY = `company_name as name, company_industry as industry, company_linkedin as linkedin,
  company_street_address as "streetAddress", company_city as city, company_state as state, company_zip as zip,
  company_country as country`;

export const LEADS = `
  select id, ${dateTime('created_at')} as "createdAt", created_by as "createdBy", first_name as "firstName",
    last_name as "lastName", email, description, linkedin, facebook, twitter, job_title as "jobTitle", address,
    profile_picture as "profilePicture", is_enriched as "isEnriched", number_of_scans as "numberOfScans",
    last_scanned_by as "lastScannedBy", personal_emails as "personalEmails",
    professional_emails as "professionalEmails", ${object(COMPANY)} as company,
    ${object(`lead_provided_phone_numbers as "leadProvided", service_provided_phone_numbers as "serviceProvided"`)}
      as "phoneNumbers",
    ${objects(`select c.tag_option_id as "tagOptionId" from ${children('lead_tags', 'lead_id')} order by c.position`)}
      as tags,
    ${objects(`select c.activation_id as "activationId", c.registered, c.checked_in as "checkedIn"
      from ${children('lead_activations', 'lead_id')} order by c.position`)} as activations,
    ${objects(`select e.ref as event, c.registered, c.checked_in as "checkedIn",
        ${precise('c.associated_at')} as "associatedAt"
      from event_leads c join events e on e.organization_id = c.organization_id and e.id = c.event_id
      where c.organization_id = page.organization_id and c.lead_id = page.id
      order by c.associated_at, e.position`)} as events,
    remote_ids as "remoteIds"
  from leads page`;

const LEAD_ACTIVITY_EVENTS = `
  select id, ${dateTime('created_at')} as "createdAt", created_by as "createdBy", event_type as "eventType",
    event_notes as "eventNotes", lead_id as "associatedLead", campaign_id as "associatedCampaign",
    ${refOf('page')} as "associatedEvent", activation_id as "associatedActivation",
    tag_option_id as "associatedTagOption"
  from lead_activity_events page`;

const ofOrganization = (render: string, organizationId: number, order = 'position'): string => `
  select row_to_json(r)::text as record
  from (${render} where page.organization_id = ${organizationId} order by page.${order}) r`;

/** The catalogue is everybody's. Only a bookmark is told: `isBookmarked: false` would take another one away. */
const industryEvents = (organizationId: number): string => `
  with page as (select * from industry_events order by position)
  select left(row_to_json(r)::text, -1) || case when exists (select from industry_event_bookmarks b
      where b.organization_id = ${organizationId} and b.industry_event_id = r.id)
    then ',"isBookmarked":true}' else '}' end as record
  from (select ${INDUSTRY_EVENT_COLUMNS} from page) r`;

/** The select of one column, `record`: the JSON texts of a section's records. */
export const RECORD_STATEMENTS: Record<SectionName, (organizationId: number) => string> = {
  users: (id) => ofOrganization(USERS, id, 'id'),
  tagGroups: (id) => ofOrganization(TAG_GROUPS, id),
  events: (id) => ofOrganization(EVENTS, id),
  activations: (id) => ofOrganization(ACTIVATIONS, id),
  leads: (id) => ofOrganization(LEADS, id),
  leadActivityEvents: (id) => ofOrganization(LEAD_ACTIVITY_EVENTS, id),
  industryEvents,
};
