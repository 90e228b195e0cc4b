import { Column, Index } from 'typeorm';
import { ListedUuidRow, RefersTo, NULLABLE_TEXT } from '../../data/schema/columns';
import { ListedEntity } from '../../data/schema/lists';

@ListedEntity('lead_activity_events')
@Index('lead_activity_events_lead_idx', ['organizationId', 'leadId', 'position'])
@Index('lead_activity_events_type_idx', ['organizationId', 'eventType', 'position'])
@Index('lead_activity_events_event_idx', ['organizationId', 'eventId'], { where: 'event_id IS NOT NULL' })
@Index('lead_activity_events_activation_idx', ['organizationId', 'activationId'], {
  where: 'activation_id IS NOT NULL',
})
@Index('lead_activity_events_tag_option_idx', ['organizationId', 'tagOptionId'], {
  where: 'tag_option_id IS NOT NULL',
})
@RefersTo('LeadEntity', 'leadId', 'lead_activity_events_lead_fkey')
@RefersTo('EventEntity', 'eventId', 'lead_activity_events_event_fkey', 'SET NULL')
@RefersTo('ActivationEntity', 'activationId', 'lead_activity_events_activation_fkey', 'SET NULL')
@RefersTo('TagOptionEntity', 'tagOptionId', 'lead_activity_events_tag_option_fkey', 'SET NULL')
export class LeadActivityEventEntity extends ListedUuidRow {
  @Column(NULLABLE_TEXT) createdBy: string | null;
  @Column('text') eventType: string;
  @Column(NULLABLE_TEXT) eventNotes: string | null;
  @Column('uuid') leadId: string;
  @Column('uuid', { nullable: true }) campaignId: string | null;
  @Column('bigint', { nullable: true }) eventId: number | null;
  @Column('uuid', { nullable: true }) activationId: string | null;
  @Column('uuid', { nullable: true }) tagOptionId: string | null;
}
