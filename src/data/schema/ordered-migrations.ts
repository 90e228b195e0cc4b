import { type DataSource, type Migration, MigrationExecutor, type QueryRunner } from 'typeorm';
import { LIST_TABLES } from './lists';
import type { SchemaDefinition } from './schema-definition';

/**
 * Runs Lanyard's migrations before those of an extension, whatever their timestamps. The extension was written for a schema
 * of Lanyard, and a later release may bring migrations that are newer than the extension's.
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
    // The order of two migrations of the same origin stays.
    return super
      .getMigrations()
      .sort((one, other) => Number(this.isOfExtension(one)) - Number(this.isOfExtension(other)));
  }

  /** The name of Lanyard's own last migration. */
  get lastOwn(): string {
    return this.getMigrations().findLast((migration) => !this.isOfExtension(migration))!.name;
  }

  /** The names of applied migrations that this program does not know: those of an extension, or of a newer release. */
  async findUnknown(): Promise<string[]> {
    const known = new Set(this.getMigrations().map(({ name }) => name));
    return (await this.getExecutedMigrations()).map(({ name }) => name).filter((name) => !known.has(name));
  }

  /**
   * Reverts the applied migrations of the extension, newest first.
   * @returns their names
   */
  async revertExtension(): Promise<string[]> {
    const applied = new Set((await this.getExecutedMigrations()).map(({ name }) => name));
    const migrations = this.getMigrations().filter((one) => this.isOfExtension(one) && applied.has(one.name));
    for (const { name, instance } of migrations.reverse()) {
      await this.dataSource.transaction(async ({ queryRunner }) => {
        if (!queryRunner) throw new Error('A transaction has a query runner');
        await instance?.down(queryRunner);
        await queryRunner.query('delete from migrations where name = $1', [name]);
      });
    }
    // Dropping a table fires no trigger that would update the counts of its rows.
    for (const table of LIST_TABLES) {
      await this.dataSource.query(`delete from ${table} where to_regclass(split_part(list, '/', 1)) is null`);
    }
    return migrations.map(({ name }) => name);
  }

  private isOfExtension({ instance }: Migration): boolean {
    return this.schema.migrations.some((migration) => instance instanceof migration);
  }
}
