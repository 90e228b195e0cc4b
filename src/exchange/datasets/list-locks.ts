import { hasSqlState } from '../../data/database/errors';
import { CATALOG, lockOrganization } from '../../data/database/locks';
import { LOCKED } from '../../errors/sql-state-codes';
import { runStatement } from './import-plan';
import type { StagedImport } from './stage';
import type { Table } from './tables';

/**
 * The statements that lock what an import adds to, in the order of docs/locking.md: the lists of an organization and of
 * the catalog, the parents that have lists of their own, and those lists. `$1` is the organization's id.
 * Requests lock a list before the rows in it. An import that locked rows first would deadlock with them, and would not see
 * the rows that they add while it waits.
 */
function lockStatements(tables: Table[]): string[] {
  const tracked = tables.filter((table) => table.tracked).sort((one, other) => (one.name < other.name ? -1 : 1));
  const nested = tracked.filter((table) => table.tracked?.parent);
  const lists = tracked.filter((table) => !nested.includes(table));
  return [
    ...lists.map(lockList),
    ...nested.map((table) => `${selectParents(table)} for no key update`),
    ...nested.map(lockNestedLists),
  ];
}

/** How an import waits for its locks, when it holds rows that the others may wait for. */
const LOCK_ATTEMPT_MS = 500;

/**
 * Locks an organization and what an import adds to. Whoever has such a lock may wait for a row that the import has written:
 * PostgreSQL looks for deadlocks after a second, and would cancel either of the two. So this gives up sooner, lets go what it
 * has, and tries again: the other one, a request, waits for no longer than LOCK_TIMEOUT_MS.
 */
export async function lockLists(staged: StagedImport): Promise<void> {
  for (;;) {
    try {
      await staged.manager.transaction(() => takeLocks(staged));
      return;
    } catch (error) {
      if (!hasSqlState(error, LOCKED)) throw error;
    }
  }
}

async function takeLocks(staged: StagedImport): Promise<void> {
  const { manager, organizationId, tables } = staged;
  const [{ former }] = await manager.query<[{ former: string }]>(
    `select current_setting('lock_timeout') as former, set_config('lock_timeout', $1, true)`,
    [String(LOCK_ATTEMPT_MS)],
  );
  if (tables.some(({ isShared }) => !isShared)) await lockOrganization(manager, organizationId);
  if (tables.some(({ isShared }) => isShared)) await lockOrganization(manager, CATALOG);
  for (const statement of lockStatements(tables)) await runStatement(staged, statement);
  await manager.query(`select set_config('lock_timeout', $1, true)`, [former]);
}

/** The stored parents to whose lists the staged rows belong. */
function selectParents({ stage, columns, tracked }: Table): string {
  const { table = '', column = '' } = tracked?.parent ?? {};
  const key = columns.find(({ name }) => name === column)?.target?.key ?? 'id';
  return `select p.id from ${table} p where p.organization_id = $1 and p.${key} in (select ${column} from ${stage})
    order by p.id`;
}

const lockList = ({ name, isShared }: Table): string => `select list_take(${isShared ? '0' : '$1'}, '${name}', 0)`;

const lockNestedLists = (table: Table): string =>
  `select list_take($1, '${table.name}/' || parent.id, 0) from (${selectParents(table)}) parent`;
