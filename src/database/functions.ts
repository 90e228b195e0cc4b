import { hash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { DataSource } from 'typeorm';

/** Defaults and indexes of tables use these functions, so that they come before the migrations. */
const BEFORE_TABLES = ['values.sql'];
const AFTER_TABLES = ['lists.sql', 'leads.sql', 'search.sql'];

const read = (files: string[]): string[] =>
  files.map((file) => readFileSync(join(__dirname, 'functions', file), 'utf8'));

/** The name of each trigger of these files begins so; the number gives their order. */
export const OWN_TRIGGER = '^t[0-9]{2}_';

/** Triggers that the files no longer have must not go on firing. */
const DROP_TRIGGERS = `
  do $do$
  declare
    old record;
  begin
    for old in select tgname, tgrelid::regclass as of_table from pg_trigger t join pg_class c on c.oid = t.tgrelid
      where tgname ~ '${OWN_TRIGGER}' and not tgisinternal and relnamespace = current_schema()::regnamespace
    loop
      execute format('drop trigger %I on %s', old.tgname, old.of_table);
    end loop;
  end $do$`;

/** The functions and triggers of the database: their present text stands in functions/, and nowhere else. */
export class Functions {
  private readonly early = read(BEFORE_TABLES);
  private readonly all = [...this.early, ...read(AFTER_TABLES)];
  private readonly hash = hash('sha256', this.all.join('\n'));

  constructor(private readonly dataSource: DataSource) {}

  /** What the migrations need; on a database that has them, nothing changes. */
  async applyEarly(): Promise<void> {
    if (!(await this.areApplied())) for (const text of this.early) await this.dataSource.query(text);
  }

  /** All of them, in one transaction, unless the database has them. */
  async apply(): Promise<void> {
    if (await this.areApplied()) return;
    await this.dataSource.transaction(async (manager) => {
      await manager.query(DROP_TRIGGERS);
      for (const text of this.all) await manager.query(text);
      await manager.query('delete from applied_functions');
      await manager.query('insert into applied_functions values ($1)', [this.hash]);
    });
  }

  private async areApplied(): Promise<boolean> {
    const [{ exists }] = await this.dataSource.query<[{ exists: boolean }]>(
      `select to_regclass('applied_functions') is not null as exists`,
    );
    if (!exists) return false;
    const [row] = await this.dataSource.query<{ hash: string }[]>('select hash from applied_functions');
    return row?.hash === this.hash;
  }
}
