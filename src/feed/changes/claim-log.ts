import { CLAIM, CLAIM_BATCH_SIZE } from './changes.sql';

/** Anything that runs SQL, such as a DataSource or an EntityManager. */
interface Queryable {
  query(text: string, values: unknown[]): Promise<unknown>;
}

/**
 * Takes over a change log that was written in another database, however many rows it has, and so pauses the webhooks that
 * lead to the receivers of that database.
 * @returns whether the log was another database's
 */
export async function claimLog(database: Queryable): Promise<boolean> {
  for (;;) {
    const [row] = (await database.query(CLAIM.text, [CLAIM_BATCH_SIZE, false])) as [{ outcome: string }];
    if (row.outcome !== 'partial') return row.outcome === 'claimed';
  }
}
