import { Column, Entity, Index, PrimaryColumn, Unique } from 'typeorm';
import { ListedUuidRow, RefersTo, TEXT } from '../schema/columns';
import { Derived } from '../schema/derived';
import { WithIndexFunctions } from '../schema/functions';
import { ListedEntity } from '../schema/lists';
import { LEAD_FUNCTIONS, LEAD_KEY_FUNCTIONS } from './lead.functions';
import type { PhoneNumber, RemoteId } from './lead.response';

const jsonList = { type: 'jsonb', default: [] } as const;

@ListedEntity('leads')
@WithIndexFunctions(LEAD_KEY_FUNCTIONS)
@Derived({ name: 'documents', column: 'document', expression: 'lead_document(leads)', functions: LEAD_FUNCTIONS })
@Unique('leads_organization_id_key', ['organizationId', 'id'])
@Index('leads_email_idx', { synchronize: false })
@Index('leads_remote_ids_idx', { synchronize: false })
@RefersTo('OrganizationEntity', 'organizationId', 'leads_organization_fkey')
export class LeadEntity extends ListedUuidRow {
  /** What an import called the lead, stored but not shown in v0. */
  @Column(TEXT) ref: string | null;
  /** Which program or list the ref is from. */
  @Column(TEXT) source: string | null;
  @Column(TEXT) createdBy: string | null;
  @Column(TEXT) firstName: string | null;
  @Column(TEXT) lastName: string | null;
  @Column(TEXT) email: string | null;
  @Column(TEXT) description: string | null;
  @Column(TEXT) linkedin: string | null;
  @Column(TEXT) facebook: string | null;
  @Column(TEXT) twitter: string | null;
  @Column(TEXT) jobTitle: string | null;
  @Column(TEXT) address: string | null;
  /** stored, not shown in v0 */
  @Column(TEXT) profilePicture: string | null;
  @Column('boolean', { default: false }) isEnriched: boolean;
  @Column('integer', { default: 0 }) numberOfScans: number;
  @Column(TEXT) lastScannedBy: string | null;
  @Column(TEXT) personalEmails: string | null;
  @Column(TEXT) professionalEmails: string | null;
  @Column(TEXT) companyName: string | null;
  @Column(TEXT) companyIndustry: string | null;
  @Column(TEXT) companyLinkedin: string | null;
  @Column(TEXT) companyStreetAddress: string | null;
  @Column(TEXT) companyCity: string | null;
  @Column(TEXT) companyState: string | null;
  @Column(TEXT) companyZip: string | null;
  @Column(TEXT) companyCountry: string | null;
  @Column(jsonList) leadProvidedPhoneNumbers: PhoneNumber[];
  @Column(jsonList) serviceProvidedPhoneNumbers: PhoneNumber[];
  /** at most one of each integrationType */
  @Column(jsonList) remoteIds: RemoteId[];
  /** the JSON of the lead as the API shows it; a trigger renders it on every change */
  @Column({ type: 'text', select: false, insert: false, update: false }) document: string;
}

/** The columns that every table of a lead's links begins with. */
abstract class OfLead {
  @PrimaryColumn('integer') organizationId: number;
  @PrimaryColumn('uuid') leadId: string;
}

@Entity('lead_tags')
@Index('lead_tags_tag_option_idx', ['organizationId', 'tagOptionId'])
@RefersTo('LeadEntity', 'leadId', 'lead_tags_lead_fkey')
@RefersTo('TagOptionEntity', 'tagOptionId', 'lead_tags_tag_option_fkey')
export class LeadTagEntity extends OfLead {
  @PrimaryColumn('uuid') tagOptionId: string;
  @Column('integer') position: number;
}

@Entity('lead_activations')
@Index('lead_activations_activation_idx', ['organizationId', 'activationId'])
@RefersTo('LeadEntity', 'leadId', 'lead_activations_lead_fkey')
@RefersTo('ActivationEntity', 'activationId', 'lead_activations_activation_fkey')
export class LeadActivationEntity extends OfLead {
  @PrimaryColumn('uuid') activationId: string;
  @Column('integer') position: number;
  @Column('boolean') registered: boolean;
  @Column('boolean') checkedIn: boolean;
}
