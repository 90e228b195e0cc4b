import { Column, Entity, ForeignKey, Index, PrimaryColumn } from 'typeorm';
import { CREATED_AT, POSITION, RefersTo } from '../database/columns';

const text = { type: 'text', nullable: true } as const;
const list = { type: 'text', array: true, nullable: true } as const;

/** The migration alone has the indexes that a decorator cannot express. */
@Entity('industry_events')
@Index('industry_events_list_idx', ['position'], { unique: true })
@Index('industry_events_name_idx', ['name', 'startDate'])
@Index('industry_events_event_url_key', { synchronize: false })
@Index('industry_events_search_idx', { synchronize: false })
export class IndustryEventEntity {
  @PrimaryColumn({ type: 'uuid', default: () => 'uuid_v7()' }) id: string;
  @Column(POSITION) position: string;
  @Column(CREATED_AT) createdAt: Date;
  @Column(CREATED_AT) updatedAt: Date;
  @Column('text') name: string;
  @Column({ type: 'timestamptz', precision: 3, nullable: true }) startDate: string | null;
  @Column({ type: 'timestamptz', precision: 3, nullable: true }) endDate: string | null;
  @Column(text) sourceType: string | null;
  @Column(text) sourceId: string | null;
  @Column(text) eventType: string | null;
  @Column(text) venueCity: string | null;
  @Column(text) venueState: string | null;
  @Column(text) venueCountry: string | null;
  @Column(text) venueName: string | null;
  @Column(text) venueFullAddress: string | null;
  @Column(text) venueCoordinates: string | null;
  @Column('integer', { nullable: true }) numberOfAttendees: number | null;
  @Column('integer', { nullable: true }) numberOfExhibitors: number | null;
  @Column(text) attendeeCost: string | null;
  @Column(text) boothCost: string | null;
  @Column(list) exhibitorIndustries: string[] | null;
  @Column(list) attendeePersonas: string[] | null;
  @Column(list) keywords: string[] | null;
  @Column(text) website: string | null;
  @Column(text) description: string | null;
  @Column(text) eventUrl: string | null;
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
