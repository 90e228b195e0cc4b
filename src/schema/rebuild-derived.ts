import { hash } from 'node:crypto';
import type { DataSource } from 'typeorm';
import type { Waiting } from '../database/connect';
import { derivedOf, type DerivedTable } from './derived';
import { VALUES } from './functions';

/** Rows of a batch, which is a transaction: requests that write one of them wait 0.3 s at most. */
const BATCH = 1000;
/** Milliseconds between two lines about the progress. */
const SAY_EVERY_MS = 5000;

/** How far a column has been derived by which text of its functions. */
interface State {
  version: string;
  /** the last row that was done; null when all are */
  lastId: string | null;
}

/**
 * Derives stored columns anew whose functions have another text than those that derived them: so what a new version shows
 * of a lead is there before the server is ready. Each batch is committed with its place, from which another start goes on.
 */
export async function deriveAnew(dataSource: DataSource, waiting: Waiting): Promise<void> {
  for (const derived of derivedOf(dataSource)) {
    const version = hash('sha256', VALUES + derived.functions);
    const [state] = await dataSource.query<State[]>(
      'select version, last_id as "lastId" from derived_columns where name = $1',
      [derived.name],
    );
    if (state?.version === version && state.lastId === null) continue;
    await deriveRows(
      dataSource,
      derived,
      { version, lastId: state?.version === version ? state.lastId : FIRST },
      waiting,
    );
  }
}

/** Before every uuid of a row. */
const FIRST = '00000000-0000-0000-0000-000000000000';

async function deriveRows(dataSource: DataSource, derived: DerivedTable, state: State, { say, signal }: Waiting) {
  let [count, lastSaid] = [0, performance.now()];
  for (let ids: string[] = [FIRST]; ids.length > 0; count += ids.length) {
    signal?.throwIfAborted();
    ids = await deriveBatch(dataSource, derived, state);
    if (performance.now() - lastSaid < SAY_EVERY_MS) continue;
    lastSaid = performance.now();
    say?.(
      `Rebuilding the ${derived.name} of ${derived.table}: ${(count + ids.length).toLocaleString('en-US')} rows so far`,
    );
  }
}

/** @param state moves on with the batch @returns the ids of the batch */
const deriveBatch = (dataSource: DataSource, { name, table, column, expression }: DerivedTable, state: State) =>
  dataSource.transaction(async (manager) => {
    // In the order of the ids, as every write locks the rows of a table.
    const rows = await manager.query<{ id: string }[]>(
      `select id from ${table} where id > $1 order by id limit ${BATCH} for no key update`,
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
