/** The organization and the API key on whose behalf a statement runs. */
export interface Caller {
  organizationId: number;
  keyId: string;
  /** What the key calls, as the audit log names it. */
  operation?: string;
}

interface SqlText {
  text: string;
}

/**
 * Who writes, as the triggers of the audit log read it from the setting `lanyard.actor`: the organization, the operation and
 * the key, separated by `|`. Statements and transactions of requests set it until their transaction ends, so that it is never
 * left on a connection of the pool. What a process does otherwise has the setting that its connections begin with; a
 * connection without it is somebody's own SQL.
 */
export const actorOf = ({ organizationId, operation = 'process', keyId }: Caller): string =>
  `${organizationId}|${operation}|${keyId}`;

/** The setting for a statement that inserts one row for each caller, in the order of their positions in the list. */
export const actorsOf = (callers: readonly Caller[]): string => {
  const actors = callers.map(actorOf);
  return actors.every((actor) => actor === actors[0]) ? actors[0]! : actors.join(',');
};

/** Writes that are in no entry, because another entry stands for all of them. */
export const UNAUDITED = 'off';

/** SQL that sets the actor until the end of the transaction. */
export const SET_ACTOR = `select set_config('lanyard.actor', $1, true)`;

const NO_AUDIT_LOG = '-c lanyard.audit=off';

/** The options of a process's connections: what it writes without a request, or that it keeps no audit log. */
export const auditOptions = (operation: string, auditDays = 1): string =>
  auditDays === 0 ? NO_AUDIT_LOG : `-c lanyard.actor=${`|${operation}|`.replaceAll(' ', '\\ ')}`;

/** Whether connections with these options keep an audit log. */
export const keepsAuditLog = (options: unknown): boolean => !String(options).includes(NO_AUDIT_LOG);

const CHANGES_ROWS = /\b(?:insert\s+into|delete\s+from|merge\s+into|(?<!\b(?:for|key|do)\s+)update)\b/i;
const PARAMETER = /\$(\d+)/g;
const LEADING_WITH = /^\s*with\s+(recursive\s+)?/i;
const LEADING_COMMENTS = /^(?:\s|--[^\n]*(?:\n|$)|\/\*[^]*?\*\/)+/;
const STARTS_WITH_WRITE = /^(?:with|insert|update|delete|merge)\s/i;
const START_OF_TRANSACTION = /^start transaction$/i;

/** Whether a statement changes rows, so that `withActor` adds a parameter to it. */
export const isWrite = ({ text }: SqlText): boolean => CHANGES_ROWS.test(text);

/**
 * A statement that changes rows, with the actor as one more parameter. PostgreSQL always runs a part of `with` that changes
 * rows, this one inserts none, and the triggers of the audit log fire after it: so that costs no round trip.
 */
export function withActor<S extends SqlText>(statement: S): S {
  const { text } = statement;
  const last = Math.max(0, ...[...text.matchAll(PARAMETER)].map(([, number]) => Number(number)));
  return { ...statement, text: prependActor(text, `$${last + 1}`) };
}

function prependActor(text: string, actor: string): string {
  const part = `actor as (
      insert into audit_log (organization_id, change, operation, resource)
      select 0, '', '', '' where set_config('lanyard.actor', ${actor}, true) is null
    )`;
  return LEADING_WITH.test(text)
    ? text.replace(LEADING_WITH, (_, recursive = '') => `with ${recursive}${part}, `)
    : `with ${part} ${text}`;
}

/**
 * What a repository sends for a key, with the actor: as part of a statement that changes rows, or with the start of a
 * transaction, where any statement may follow. Other statements stay as they are.
 */
export function withActorOf(actor: Caller, text: string, isInTransaction: boolean): string {
  const literal = `'${actorOf(actor).replaceAll("'", "''")}'`;
  // A query would come before the isolation level that a team's own code may set next. This is none.
  if (START_OF_TRANSACTION.test(text)) return `${text}; set local lanyard.actor = ${literal}`;
  if (isInTransaction || !isWrite({ text })) return text;
  const statement = text.replace(LEADING_COMMENTS, '');
  return STARTS_WITH_WRITE.test(statement) ? prependActor(statement, literal) : text;
}

const ACTOR_LITERAL = /(set_config\('lanyard\.actor', )'(?:[^']|'')*'/;

/** A statement of `withActorOf` as it is for every key. */
export const withoutActor = (text: string): string => text.replace(ACTOR_LITERAL, "$1''");
