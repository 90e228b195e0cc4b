import { DataSource } from 'typeorm';
import { trackedListsOf } from '../data/database/tracked-list';

/** Tables with rows of organizations that are not emptied, so that keys and the cursors of `@OnChanges` are kept. */
const KEPT_TABLES = ['api_keys', 'feed_readers'];

const FIND_TABLES = `
  select format('%I', c.relname) as name from pg_class c
  where c.relnamespace = current_schema::regnamespace and c.relkind in ('r', 'p') and not c.relispartition
    and c.relname <> all($1) and (c.relname = any($2) or exists (
      select from pg_attribute a where a.attrelid = c.oid and a.attname = 'organization_id' and not a.attisdropped))`;

/**
 * Empties all organizations and the shared catalog; organizations and their keys are kept. The change log counts as a new
 * one, so cursors of the feed that were issued before are no longer valid.
 */
export function emptyOrganizations(dataSource: DataSource): Promise<void> {
  return dataSource.transaction(async (manager) => {
    const lists = trackedListsOf(dataSource).map(({ table }) => table);
    const tables = await manager.query<{ name: string }[]>(FIND_TABLES, [KEPT_TABLES, lists]);
    const alter = (action: string): Promise<unknown> =>
      manager.query(tables.map(({ name }) => `alter table ${name} ${action} trigger user;`).join('\n'));
    // Triggers reject a truncate, because the feed would miss it.
    await alter('disable');
    await manager.query(`truncate ${tables.map(({ name }) => name).join(', ')} cascade`);
    await alter('enable');
    await manager.query('delete from feed_readers');
    await manager.query('update changes_key set generation = generation + 1');
  });
}
