import { SqlMigration } from '../sql-migration';

/** No condition is on these columns, and statistics of their texts were most of what `analyze` computed after an import. */
const COLUMNS = `created_by first_name last_name description linkedin facebook twitter job_title address profile_picture
  is_enriched number_of_scans last_scanned_by personal_emails professional_emails company_name company_industry
  company_linkedin company_street_address company_city company_state company_zip company_country
  lead_provided_phone_numbers service_provided_phone_numbers`.split(/\s+/);

const setStatistics = (target: number): string =>
  `alter table leads ${COLUMNS.map((column) => `alter column ${column} set statistics ${target}`).join(', ')}`;

export class LeadStatistics1795564800080 extends SqlMigration {
  protected readonly upSql = setStatistics(0);

  protected readonly downSql = setStatistics(-1);
}
