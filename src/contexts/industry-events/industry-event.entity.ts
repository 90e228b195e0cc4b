import { auditFunctions } from '../../access/audit.functions';
import { Column, Entity, ForeignKey, Index, PrimaryColumn } from 'typeorm';
import { NULLABLE_TIMESTAMP, TIMESTAMP, POSITION, RefersTo, NULLABLE_TEXT } from '../../data/schema/columns';
import { WithDerivedColumns } from '../../data/schema/derived';
import { WithFunctions, WithIndexFunctions } from '../../data/schema/functions';
import { ListedEntity } from '../../data/schema/lists';
import { EVENT_URL_FUNCTIONS, SEARCH_FUNCTIONS } from './industry-event.functions';

const list = { type: 'text', array: true, nullable: true } as const;

/** Indexes that a decorator cannot express are declared only in the migration. */
@ListedEntity('industry_events', { isShared: true })
@WithIndexFunctions(EVENT_URL_FUNCTIONS)
@WithFunctions(auditFunctions('industry_events', 'industryEvents', { uuid: 'id', order: 'position' }))
@WithDerivedColumns({
  name: 'words',
  column: 'search',
  expression: 'search_vector(industry_events)',
  functions: SEARCH_FUNCTIONS,
})
@Index('industry_events_name_idx', ['name', 'startDate'])
@Index('industry_events_event_url_key', { synchronize: false })
@Index('industry_events_search_idx', { synchronize: false })
export class IndustryEventEntity {
  @PrimaryColumn({ type: 'uuid', default: () => 'uuid_v7()' }) id: string;
  @Column(POSITION) position: string;
  @Column(TIMESTAMP) createdAt: Date;
  @Column(TIMESTAMP) updatedAt: Date;
  @Column('text') name: string;
  @Column(NULLABLE_TIMESTAMP) startDate: string | null;
  @Column(NULLABLE_TIMESTAMP) endDate: string | null;
  @Column(NULLABLE_TEXT) sourceType: string | null;
  @Column(NULLABLE_TEXT) sourceId: string | null;
  @Column(NULLABLE_TEXT) eventType: string | null;
  @Column(NULLABLE_TEXT) venueCity: string | null;
  @Column(NULLABLE_TEXT) venueState: string | null;
  @Column(NULLABLE_TEXT) venueCountry: string | null;
  @Column(NULLABLE_TEXT) venueName: string | null;
  @Column(NULLABLE_TEXT) venueFullAddress: string | null;
  @Column(NULLABLE_TEXT) venueCoordinates: string | null;
  @Column('integer', { nullable: true }) numberOfAttendees: number | null;
  @Column('integer', { nullable: true }) numberOfExhibitors: number | null;
  @Column(NULLABLE_TEXT) attendeeCost: string | null;
  @Column(NULLABLE_TEXT) boothCost: string | null;
  @Column(list) exhibitorIndustries: string[] | null;
  @Column(list) attendeePersonas: string[] | null;
  @Column(list) keywords: string[] | null;
  @Column(NULLABLE_TEXT) website: string | null;
  @Column(NULLABLE_TEXT) description: string | null;
  @Column(NULLABLE_TEXT) eventUrl: string | null;
  /** The words of the search, which a trigger sets. */
  @Column({ type: 'tsvector', select: false, insert: false, update: false }) search: string;
}

@Entity('industry_event_bookmarks')
@WithFunctions(
  auditFunctions('industry_event_bookmarks', 'industryEventBookmarks', {
    organization: 'organization_id',
    uuid: 'industry_event_id',
  }),
)
@RefersTo('OrganizationEntity', 'organizationId', 'industry_event_bookmarks_organization_fkey')
@ForeignKey('IndustryEventEntity', ['industryEventId'], ['id'], {
  name: 'industry_event_bookmarks_industry_event_fkey',
  onDelete: 'CASCADE',
})
export class IndustryEventBookmarkEntity {
  @PrimaryColumn('integer') organizationId: number;
  @PrimaryColumn('uuid') industryEventId: string;
}
