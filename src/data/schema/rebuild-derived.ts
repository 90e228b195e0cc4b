import { hash } from 'node:crypto';
import type { DataSource } from 'typeorm';
import type { StartupOptions } from '../database/connect';
import { SET_ACTOR, UNAUDITED } from '../database/actor';
import { deriveAnew, derivedColumnsOf, type DerivedTable } from './derived';
import { VALUE_FUNCTIONS } from './functions';

/** Rows per batch. A batch is a transaction, so requests that write one of its rows wait up to 0.3 s. */
const BATCH_SIZE = 1000;
/** Milliseconds between two lines about the progress. */
const PROGRESS_INTERVAL_MS = 5000;

/** How far a column has been rebuilt, and by which version of its functions. */
interface RebuildState {
  version: string;
  /** The ID of the last row that was rebuilt; null once all are. */
  lastId: string | null;
}

/**
 * Rebuilds stored columns whose functions have changed, so that they are up to date before the server is ready. Each batch
 * is committed together with its position, from which an interrupted rebuild continues.
 */
export async function rebuildDerivedColumns(dataSource: DataSource, { log, signal }: StartupOptions): Promise<void> {
  for (const derived of derivedColumnsOf(dataSource)) {
    const version = hash('sha256', VALUE_FUNCTIONS + derived.functions);
    const [stored] = await dataSource.query<RebuildState[]>(
      'select version, last_id as "lastId" from derived_columns where name = $1',
      [derived.name],
    );
    const state = stored?.version === version ? stored : { version, lastId: LOWEST_UUID };
    let [rows, lastLoggedAt] = [0, performance.now()];
    while (state.lastId !== null) {
      signal?.throwIfAborted();
      rows += await rebuildBatch(dataSource, derived, state);
      if (performance.now() - lastLoggedAt < PROGRESS_INTERVAL_MS) continue;
      lastLoggedAt = performance.now();
      log?.(`Rebuilding the ${derived.name} of ${derived.table}: ${rows.toLocaleString('en-US')} rows so far`);
    }
  }
}

/** Sorts before the ID of every row. */
const LOWEST_UUID = '00000000-0000-0000-0000-000000000000';

/**
 * @param state advances with the batch
 * @returns the number of rows in the batch
 */
const rebuildBatch = (dataSource: DataSource, derived: DerivedTable, state: RebuildState) =>
  dataSource.transaction(async (manager) => {
    const { name, table } = derived;
    // Nobody has changed a record.
    await manager.query(SET_ACTOR, [UNAUDITED]);
    // Rows are locked in the order of their IDs, as by every other write to the table.
    const rows = await manager.query<{ id: string }[]>(
      `select id from ${table} where id > $1 order by id limit ${BATCH_SIZE} for no key update`,
      [state.lastId],
    );
    const ids = rows.map(({ id }) => id);
    // A trigger computes the column, whatever value is set.
    await manager.query(deriveAnew(derived, 'id = any($1)'), [ids]);
    state.lastId = ids.at(-1) ?? null;
    await manager.query(
      `insert into derived_columns (name, version, last_id) values ($1, $2, $3)
        on conflict (name) do update set version = excluded.version, last_id = excluded.last_id`,
      [name, state.version, state.lastId],
    );
    return ids.length;
  });
