import type { MigrationInterface, QueryRunner } from 'typeorm';

/** A migration that runs one text of SQL, and another one when it is reverted. */
export abstract class SqlMigration implements MigrationInterface {
  protected abstract readonly upSql: string;
  protected abstract readonly downSql: string;

  up(db: QueryRunner): Promise<void> {
    return db.query(this.upSql);
  }

  down(db: QueryRunner): Promise<void> {
    return db.query(this.downSql);
  }
}
