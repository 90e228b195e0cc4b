/**
 * The error codes of PostgreSQL that the code tells apart, in groups by what they mean here. A code of fewer than five
 * characters stands for all codes that begin with it. No other file spells one.
 */
export type SqlStates = readonly string[];

const PROTOCOL_VIOLATION = '08P01';
const READ_ONLY_TRANSACTION = '25006';
const RESTRICT_VIOLATION = '23001';
const NOT_NULL_VIOLATION = '23502';
const FOREIGN_KEY_VIOLATION = '23503';
const UNIQUE_VIOLATION = '23505';
const CHECK_VIOLATION = '23514';
const SERIALIZATION_FAILURE = '40001';
const DEADLOCK_DETECTED = '40P01';
const TOO_MANY_CONNECTIONS = '53300';
const LOCK_NOT_AVAILABLE = '55P03';
const QUERY_CANCELED = '57014';
const ADMIN_SHUTDOWN = '57P01';
const CRASH_SHUTDOWN = '57P02';
const CANNOT_CONNECT_NOW = '57P03';

const DATA_EXCEPTION = '22';
const CONSTRAINT_VIOLATION = '23';

/** The server accepts no writes: it is a standby, perhaps since a moment ago. */
export const READ_ONLY: SqlStates = [READ_ONLY_TRANSACTION];

/** The statement ran into its `statement_timeout`, or was canceled. */
export const CANCELED: SqlStates = [QUERY_CANCELED];

/** Others hold a lock that was waited for too long, or there were deadlocks. */
export const LOCKED: SqlStates = [LOCK_NOT_AVAILABLE, DEADLOCK_DETECTED];

/** Nothing was done, because of a lock or of a time limit. */
export const BUSY: SqlStates = [...LOCKED, ...CANCELED];

/** There was no connection: the server starts, stops, or has none left. */
export const NO_CONNECTION: SqlStates = [CANNOT_CONNECT_NOW, TOO_MANY_CONNECTIONS];

/** The server is there, but is still in recovery or shutting down, or has no connection left. */
export const NOT_READY: SqlStates = [ADMIN_SHUTDOWN, CRASH_SHUTDOWN, ...NO_CONNECTION];

/**
 * A message that PostgreSQL does not expect, such as a statement with fewer parameters than values. The connection stays open
 * unless the error is fatal. A pooler reports its own fatal errors by this code.
 */
export const UNEXPECTED_MESSAGE: SqlStates = [PROTOCOL_VIOLATION];

/** The connection was lost: what was under way may be done or not. */
export const CONNECTION_LOST: SqlStates = ['08', '57P'];

/**
 * The same work may succeed when it runs again. A foreign key is among them, because the row referred to may have been
 * deleted after it was looked at.
 */
export const TRANSIENT: SqlStates = [
  DEADLOCK_DETECTED,
  SERIALIZATION_FAILURE,
  FOREIGN_KEY_VIOLATION,
  READ_ONLY_TRANSACTION,
];

/**
 * Others changed the data between the checks of an import and its writes: a deadlock, a deleted row that is referred to,
 * or an id or eventUrl that is in use by now.
 */
export const CHANGED_SINCE_CHECKED: SqlStates = [
  DEADLOCK_DETECTED,
  NOT_NULL_VIOLATION,
  FOREIGN_KEY_VIOLATION,
  UNIQUE_VIOLATION,
];

/** A client can send the value but PostgreSQL cannot store it: NUL, an unpaired surrogate, too large a number or tsvector. */
export const UNSTORABLE_VALUE: SqlStates = ['22021', '22P05', '22003', '54000'];

/** PostgreSQL rejected a value or a row, so that others of the same statement are not to blame. */
export const REJECTED_ROW: SqlStates = [...UNSTORABLE_VALUE, CONSTRAINT_VIOLATION];

/** A row refers to one that does not exist, or a row stays because others refer to it. */
export const BROKEN_REFERENCE: SqlStates = [FOREIGN_KEY_VIOLATION, RESTRICT_VIOLATION];

/** A row has null where its column has none. */
export const MISSING_VALUE: SqlStates = [NOT_NULL_VIOLATION];

/** A row breaks a check. */
export const BROKEN_CHECK: SqlStates = [CHECK_VIOLATION];

/** Another row has the key of a unique constraint or index. */
export const REPEATED_KEY: SqlStates = [UNIQUE_VIOLATION];

/** The message quotes the value that was rejected. */
export const QUOTES_VALUE: SqlStates = [DATA_EXCEPTION];

/** A table, a column, a function or a type does not exist. */
const UNDEFINED_OBJECT: SqlStates = ['42P01', '42703', '42883', '42704'];

/** PostgreSQL lacks what the work needs: disk, memory, connections. Nothing was done. */
export const OUT_OF_RESOURCES: SqlStates = ['53'];

/** The message names constraints, tables, columns, files or sizes, and quotes no value. PostgreSQL's `detail` may quote some. */
export const QUOTES_NO_VALUE: SqlStates = [
  ...UNDEFINED_OBJECT,
  ...OUT_OF_RESOURCES,
  ...UNEXPECTED_MESSAGE,
  CONSTRAINT_VIOLATION,
];
