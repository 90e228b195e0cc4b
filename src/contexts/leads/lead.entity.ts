import { Column, Entity, Index, PrimaryColumn, Unique } from 'typeorm';
import { ListedUuidRow, RefersTo, NULLABLE_TEXT } from '../../data/schema/columns';
import { WithDerivedColumns } from '../../data/schema/derived';
import { WithIndexFunctions } from '../../data/schema/functions';
import { ListedEntity } from '../../data/schema/lists';
import { WithUnscopedTables } from '../../data/schema/tenancy';
import { LEAD_FUNCTIONS, LEAD_KEY_FUNCTIONS } from './lead.functions';
import { LEAD_WORD_FUNCTIONS, leadWords } from './lead.words';
import { LEAD_DOCUMENT_SQL, type PhoneNumber, type RemoteId } from './lead.response';

const jsonList = { type: 'jsonb', default: [] } as const;

@ListedEntity('leads')
@WithIndexFunctions(LEAD_KEY_FUNCTIONS)
@WithDerivedColumns(
  {
    name: 'documents',
    column: 'document',
    expression: 'lead_document(leads)',
    newRowExpression: { row: 'lead', sql: LEAD_DOCUMENT_SQL },
    functions: LEAD_FUNCTIONS,
  },
  {
    name: 'leadWords',
    column: 'words',
    storedIn: { table: 'lead_words', key: 'organization_id, position' },
    expression: leadWords('leads'),
    functions: LEAD_WORD_FUNCTIONS,
  },
)
@WithUnscopedTables('lead_words')
@Unique('leads_organization_id_key', ['organizationId', 'id'])
@Index('leads_email_idx', { synchronize: false })
@Index('leads_remote_ids_idx', { synchronize: false })
@RefersTo('OrganizationEntity', 'organizationId', 'leads_organization_fkey')
export class LeadEntity extends ListedUuidRow {
  /** The name that an import gave the lead. It is stored but not returned in v0. */
  @Column(NULLABLE_TEXT) ref: string | null;
  /** The program or list that the ref is from. */
  @Column(NULLABLE_TEXT) source: string | null;
  @Column(NULLABLE_TEXT) createdBy: string | null;
  @Column(NULLABLE_TEXT) firstName: string | null;
  @Column(NULLABLE_TEXT) lastName: string | null;
  @Column(NULLABLE_TEXT) email: string | null;
  @Column(NULLABLE_TEXT) description: string | null;
  @Column(NULLABLE_TEXT) linkedin: string | null;
  @Column(NULLABLE_TEXT) facebook: string | null;
  @Column(NULLABLE_TEXT) twitter: string | null;
  @Column(NULLABLE_TEXT) jobTitle: string | null;
  @Column(NULLABLE_TEXT) address: string | null;
  /** The URL of a picture, which is stored but not returned in v0. */
  @Column(NULLABLE_TEXT) profilePicture: string | null;
  @Column('boolean', { default: false }) isEnriched: boolean;
  @Column('integer', { default: 0 }) numberOfScans: number;
  @Column(NULLABLE_TEXT) lastScannedBy: string | null;
  @Column(NULLABLE_TEXT) personalEmails: string | null;
  @Column(NULLABLE_TEXT) professionalEmails: string | null;
  @Column(NULLABLE_TEXT) companyName: string | null;
  @Column(NULLABLE_TEXT) companyIndustry: string | null;
  @Column(NULLABLE_TEXT) companyLinkedin: string | null;
  @Column(NULLABLE_TEXT) companyStreetAddress: string | null;
  @Column(NULLABLE_TEXT) companyCity: string | null;
  @Column(NULLABLE_TEXT) companyState: string | null;
  @Column(NULLABLE_TEXT) companyZip: string | null;
  @Column(NULLABLE_TEXT) companyCountry: string | null;
  @Column(jsonList) leadProvidedPhoneNumbers: PhoneNumber[];
  @Column(jsonList) serviceProvidedPhoneNumbers: PhoneNumber[];
  /** The remote IDs, at most one per integrationType. */
  @Column(jsonList) remoteIds: RemoteId[];
  /** The JSON of the lead as the API returns it. A trigger renders it on every change. */
  @Column({ type: 'text', select: false, insert: false, update: false }) document: string;
}

/** The columns that every table of a lead's links begins with. */
abstract class LeadLinkRow {
  @PrimaryColumn('integer') organizationId: number;
  @PrimaryColumn('uuid') leadId: string;
}

@Entity('lead_tags')
@Index('lead_tags_tag_option_idx', ['organizationId', 'tagOptionId'])
@RefersTo('LeadEntity', 'leadId', 'lead_tags_lead_fkey')
@RefersTo('TagOptionEntity', 'tagOptionId', 'lead_tags_tag_option_fkey')
export class LeadTagEntity extends LeadLinkRow {
  @PrimaryColumn('uuid') tagOptionId: string;
  @Column('integer') position: number;
}

@Entity('lead_activations')
@Index('lead_activations_activation_idx', ['organizationId', 'activationId'])
@RefersTo('LeadEntity', 'leadId', 'lead_activations_lead_fkey')
@RefersTo('ActivationEntity', 'activationId', 'lead_activations_activation_fkey')
export class LeadActivationEntity extends LeadLinkRow {
  @PrimaryColumn('uuid') activationId: string;
  @Column('integer') position: number;
  @Column('boolean') registered: boolean;
  @Column('boolean') checkedIn: boolean;
}
