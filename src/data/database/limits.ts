/**
 * Timeouts and maximum counts of requests that use the database. A request that exceeds one gets a 503, and nothing is changed.
 * docs/decisions/0013 explains how the limits work together.
 */

/** How long a request waits for a connection of the pool. It usually takes 0.1 to 5 ms. */
export const CONNECT_TIMEOUT_MS = 1_000;
/** PostgreSQL cancels a statement that takes longer: 503. */
export const STATEMENT_TIMEOUT_MS = 1_500;
/** Shorter than the statement timeout, so that waiting for a lock, such as an import's, has an error of its own: 503. */
export const LOCK_TIMEOUT_MS = 1_300;
/** Longer than the statement timeout, so that PostgreSQL normally reports the timeout first. The connection is closed. */
export const QUERY_TIMEOUT_MS = 2_000;
/** If the network loses a client in the middle of a transaction, PostgreSQL keeps the transaction's locks no longer than this. */
export const IDLE_IN_TRANSACTION_TIMEOUT_MS = 5_000;

/** How long a request waits for a connection while the database responds to others: 503. */
export const QUEUE_TIMEOUT_MS = 10_000;
/** Requests of one organization that wait for a connection; one more is 503. */
export const MAX_WAITING_REQUESTS = 2_000;
/** The default number of connections of a pool. */
export const DEFAULT_POOL_SIZE = 10;
/** Connections for which no request queues: one for keys, probes, scrapes and what a process stores by itself, one for webhooks. */
export const RESERVED_CONNECTIONS = 2;
/** The share of the connections that one organization may hold. */
export const MAX_CONNECTION_SHARE = 0.8;

/**
 * Deletes that STATEMENT_TIMEOUT_MS canceled get this time, because they may cascade to a million rows. Load balancers often give up
 * after a minute.
 */
export const LONG_STATEMENT_TIMEOUT_MS = 50_000;
/** Maximum number of long writes at once, at most one per organization. The other connections stay free for short requests. */
export const MAX_LONG_WRITES = 2;
/** PostgreSQL notices within this time that the client of a long write is gone, and cancels it. */
export const CONNECTION_CHECK_INTERVAL_MS = 1_000;

/** Maximum number of items per page. A larger `limit` is reduced to this. */
export const MAX_PAGE_SIZE = 50;

/** Maximum number of inputs of one statement, which then stays well below its timeout. */
export const MAX_BATCH_SIZE = 100;

/** Maximum length of a small result in characters. An organization receives only one larger result at a time. */
export const MAX_SMALL_RESULT = 1 << 20;
/** How long the requests of an organization run one after another after a large result. */
export const LARGE_RESULTS_MS = 5_000;
