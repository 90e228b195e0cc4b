import { hash } from 'node:crypto';
import type { DataSource } from 'typeorm';
import type { StartupOptions } from '../database/connect';
import { derivedColumnsOf, type DerivedTable } from './derived';
import { VALUE_FUNCTIONS } from './functions';

/** Rows of a batch, which is a transaction: requests that write one of them wait 0.3 s at most. */
const BATCH_SIZE = 1000;
/** Milliseconds between two lines about the progress. */
const PROGRESS_INTERVAL_MS = 5000;

/** How far a column has been derived by which text of its functions. */
interface RebuildState {
  version: string;
  /** The ID of the last row that was rebuilt; null once all are. */
  lastId: string | null;
}

/**
 * Derives stored columns anew whose functions have another text than those that derived them: so what a new version shows
 * of a lead is there before the server is ready. Each batch is committed with its place, from which another start goes on.
 */
export async function rebuildDerivedColumns(dataSource: DataSource, options: StartupOptions): Promise<void> {
  for (const derived of derivedColumnsOf(dataSource)) {
    const version = hash('sha256', VALUE_FUNCTIONS + derived.functions);
    const [state] = await dataSource.query<RebuildState[]>(
      'select version, last_id as "lastId" from derived_columns where name = $1',
      [derived.name],
    );
    if (state?.version === version && state.lastId === null) continue;
    await rebuildColumn(
      dataSource,
      derived,
      { version, lastId: state?.version === version ? state.lastId : LOWEST_UUID },
      options,
    );
  }
}

/** Before every uuid of a row. */
const LOWEST_UUID = '00000000-0000-0000-0000-000000000000';

async function rebuildColumn(
  dataSource: DataSource,
  derived: DerivedTable,
  state: RebuildState,
  { log, signal }: StartupOptions,
) {
  let [count, lastLoggedAt] = [0, performance.now()];
  for (let ids: string[] = [LOWEST_UUID]; ids.length > 0; count += ids.length) {
    signal?.throwIfAborted();
    ids = await rebuildBatch(dataSource, derived, state);
    if (performance.now() - lastLoggedAt < PROGRESS_INTERVAL_MS) continue;
    lastLoggedAt = performance.now();
    log?.(
      `Rebuilding the ${derived.name} of ${derived.table}: ${(count + ids.length).toLocaleString('en-US')} rows so far`,
    );
  }
}

/** @param state moves on with the batch @returns the ids of the batch */
const rebuildBatch = (dataSource: DataSource, { name, table, column, expression }: DerivedTable, state: RebuildState) =>
  dataSource.transaction(async (manager) => {
    // In the order of the ids, as every write locks the rows of a table.
    const rows = await manager.query<{ id: string }[]>(
      `select id from ${table} where id > $1 order by id limit ${BATCH_SIZE} for no key update`,
      [state.lastId],
    );
    const ids = rows.map(({ id }) => id);
    // A trigger derives it, whatever is set.
    const change = `update ${table} set ${column} = ${expression} where id = any($1) and ${column} is distinct from ${expression}`;
    await manager.query(change, [ids]);
    state.lastId = ids.at(-1) ?? null;
    await manager.query(
      `insert into derived_columns (name, version, last_id) values ($1, $2, $3)
        on conflict (name) do update set version = excluded.version, last_id = excluded.last_id`,
      [name, state.version, state.lastId],
    );
    return ids;
  });
