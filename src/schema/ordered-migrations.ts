import { type DataSource, type Migration, MigrationExecutor, type QueryRunner } from 'typeorm';
import type { SchemaDefinition } from './schema-definition';

/**
 * Runs Lanyard's migrations before those of an extension, whatever their timestamps are: the extension was written for a
 * schema of Lanyard, and a release may bring migrations that are newer than the extension's.
 */
export class OrderedMigrations extends MigrationExecutor {
  constructor(
    dataSource: DataSource,
    private readonly schema: SchemaDefinition,
    queryRunner?: QueryRunner,
  ) {
    super(dataSource, queryRunner);
    this.transaction = 'each';
  }

  protected override getMigrations(): Migration[] {
    const migrations = super.getMigrations();
    const isOfExtension = ({ instance }: Migration): boolean =>
      this.schema.migrations.some((migration) => instance instanceof migration);
    return [...migrations.filter((one) => !isOfExtension(one)), ...migrations.filter(isOfExtension)];
  }
}
