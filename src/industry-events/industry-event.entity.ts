import { Column, Entity, ForeignKey, Index, PrimaryColumn } from 'typeorm';
import { MOMENT, NOW, POSITION, RefersTo, TEXT } from '../schema/columns';
import { Derived } from '../schema/derived';
import { WithIndexFunctions } from '../schema/functions';
import { ListedEntity } from '../schema/lists';
import { EVENT_URL_FUNCTIONS, SEARCH_FUNCTIONS } from './industry-event.functions';

const list = { type: 'text', array: true, nullable: true } as const;

/** The migration alone has the indexes that a decorator cannot express. */
@ListedEntity('industry_events', { shared: true })
@WithIndexFunctions(EVENT_URL_FUNCTIONS)
@Derived({ name: 'words', column: 'search', expression: 'search_vector(industry_events)', functions: SEARCH_FUNCTIONS })
@Index('industry_events_name_idx', ['name', 'startDate'])
@Index('industry_events_event_url_key', { synchronize: false })
@Index('industry_events_search_idx', { synchronize: false })
export class IndustryEventEntity {
  @PrimaryColumn({ type: 'uuid', default: () => 'uuid_v7()' }) id: string;
  @Column(POSITION) position: string;
  @Column(NOW) createdAt: Date;
  @Column(NOW) updatedAt: Date;
  @Column('text') name: string;
  @Column(MOMENT) startDate: string | null;
  @Column(MOMENT) endDate: string | null;
  @Column(TEXT) sourceType: string | null;
  @Column(TEXT) sourceId: string | null;
  @Column(TEXT) eventType: string | null;
  @Column(TEXT) venueCity: string | null;
  @Column(TEXT) venueState: string | null;
  @Column(TEXT) venueCountry: string | null;
  @Column(TEXT) venueName: string | null;
  @Column(TEXT) venueFullAddress: string | null;
  @Column(TEXT) venueCoordinates: string | null;
  @Column('integer', { nullable: true }) numberOfAttendees: number | null;
  @Column('integer', { nullable: true }) numberOfExhibitors: number | null;
  @Column(TEXT) attendeeCost: string | null;
  @Column(TEXT) boothCost: string | null;
  @Column(list) exhibitorIndustries: string[] | null;
  @Column(list) attendeePersonas: string[] | null;
  @Column(list) keywords: string[] | null;
  @Column(TEXT) website: string | null;
  @Column(TEXT) description: string | null;
  @Column(TEXT) eventUrl: string | null;
  /** a trigger sets it */
  @Column({ type: 'tsvector', select: false, insert: false, update: false }) search: string;
}

@Entity('industry_event_bookmarks')
@RefersTo('OrganizationEntity', 'organizationId', 'industry_event_bookmarks_organization_fkey')
@ForeignKey('IndustryEventEntity', ['industryEventId'], ['id'], {
  name: 'industry_event_bookmarks_industry_event_fkey',
  onDelete: 'CASCADE',
})
export class IndustryEventBookmarkEntity {
  @PrimaryColumn('integer') organizationId: number;
  @PrimaryColumn('uuid') industryEventId: string;
}
