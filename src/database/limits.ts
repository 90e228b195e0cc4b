/** The limits of time and number for requests at the database. docs/decisions/0013 says how they act together. */

/** of the pool; a request takes 0.1 to 5 ms of a connection */
export const CONNECT_TIMEOUT_MS = 1_000;
/** PostgreSQL cancels a statement, and nothing is changed: 503 */
export const STATEMENT_TIMEOUT_MS = 1_500;
/** shorter, so that PostgreSQL says who waited for a lock, such as an import's: 503 */
export const LOCK_TIMEOUT_MS = 1_300;
/** longer, so that it is PostgreSQL that says that a statement took too long; then the connection is closed */
export const QUERY_TIMEOUT_MS = 2_000;
/** of a client that the network lost: PostgreSQL would keep its open transaction and its locks */
export const IDLE_IN_TRANSACTION_TIMEOUT_MS = 5_000;

/** for a connection, while the database answers others: 503 */
export const QUEUE_TIMEOUT_MS = 10_000;
/** of one organization for a connection: 503 */
export const MAX_WAITING_REQUESTS = 2_000;
/** of the connections, for one organization */
export const MAX_CONNECTION_SHARE = 0.8;

/** of deletes that STATEMENT_TIMEOUT_MS cancelled: they may cascade to a million rows; load balancers often give up after a minute */
export const LONG_STATEMENT_TIMEOUT_MS = 50_000;
/** in a process, one of each organization: the other connections remain for everything else */
export const MAX_LONG_WRITES = 2;
/** in which PostgreSQL notices that the client of a long write is gone, and cancels it */
export const CONNECTION_CHECK_INTERVAL_MS = 1_000;

/** items a page; a larger `limit` counts as this */
export const MAX_PAGE_SIZE = 50;

/** in one statement, which stays well below its timeout */
export const MAX_BATCH_SIZE = 100;

/** characters of a result; of larger ones an organization receives one at a time */
export const MAX_SMALL_RESULT = 4 << 20;
