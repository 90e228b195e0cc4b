import { AsyncLocalStorage, AsyncResource } from 'node:async_hooks';
import type { EventEmitter } from 'node:events';
import { Client, Pool } from 'pg';
import type { Caller } from '../../src/http/pipeline/caller';

/**
 * The oracle for statements without an organization: row-level security that fails, and does not filter. Servers log in
 * as a role of which every row of an organization that a statement meets is held against the organization on whose
 * behalf it was sent; oracle-database.ts has that half. This half says, before each statement, whose behalf that is:
 * the caller's of the request from which it comes. Nothing in src knows of it.
 */

/** Whether this run of the tests has the oracle. */
export const hasOracle = process.env.LANYARD_TEST_ORACLE === 'rls';

/** The state of PostgreSQL's error by which the oracle fails a statement. */
export const UNSCOPED = 'LY001';

/** Who may have a statement sent: a request, whose caller the access guard sets, or what stands for one in a test. */
interface Speaker {
  caller?: Pick<Caller, 'organizationId'>;
}

const speaking = new AsyncLocalStorage<Speaker>();

/** Statements of the role, and those among them that met a row of another organization. */
const seen = { statements: 0, unscoped: [] as string[] };

/** The text of a statement as it is sent; the oracle's own test takes conditions out of it. */
export const statements = { rewrite: (text: string): string => text };

/** The same database, entered as the role that the oracle watches. */
export function watchedUrl(url: string): string {
  const [role = '', password = ''] = (process.env.LANYARD_TEST_ORACLE_LOGIN ?? '').split(':');
  const watched = new URL(url);
  [watched.username, watched.password] = [role, password];
  return watched.href;
}

/** Has the statements of each request known as that request's. Call it before the server listens. */
export function watchRequests(server: EventEmitter): void {
  server.prependListener('request', (request: Speaker) => speaking.enterWith(request));
}

/** Runs work as a request of the organization would. */
export const runForOrganization = <T>(organizationId: number, work: () => T): T =>
  speaking.run({ caller: { organizationId } }, work);

/** What the oracle found since it was last asked. */
export const takeUnscoped = (): string[] => seen.unscoped.splice(0);

/** A server answers an unscoped statement with a 500, which a test may expect or never see: so each test asks here. */
export function failUnscoped(): void {
  const unscoped = takeUnscoped();
  if (unscoped.length > 0) throw new Error(`statements without an organization:\n${unscoped.join('\n')}`);
}

/**
 * Whose rows a statement may meet: an organization's; nobody's while a request's caller is not known; everybody's when
 * it comes from a test itself. A prepared statement is never a test's: outside of a request, the oracle would have lost
 * its way.
 */
function scope(prepared: boolean): string {
  const speaker = speaking.getStore();
  if (speaker) return String(speaker.caller?.organizationId ?? 'nobody');
  return prepared ? 'nobody' : '*';
}

interface Query {
  name?: string;
  text: string;
  /** of a query that tells nobody else of its result */
  callback?: unknown;
}

/** A statement rewritten, without its name: under that one PostgreSQL has prepared it as it was. */
function rewriteStatement(statement: string | Query): string | Query {
  const text = typeof statement === 'string' ? statement : statement.text;
  const changed = statements.rewrite(text);
  if (changed === text) return statement;
  return typeof statement === 'string' ? changed : { ...statement, name: undefined, text: changed };
}

/** A connection of the role: for whom its session speaks, as far as is known, and what was sent last. */
type Watched = Client & { user?: string; connection: EventEmitter; speaksFor?: string; sent?: string };

function watch(client: Watched): void {
  client.connection.on('errorMessage', ({ code, message }: { code?: string; message?: string }) => {
    // What was set in a transaction that ends in an error is as it was before.
    client.speaksFor = undefined;
    if (code === UNSCOPED) seen.unscoped.push(`${message}: ${client.sent?.replace(/\s+/g, ' ')}`);
  });
}

/** The driver's own methods: suites share the driver, and each has an oracle of its own. */
const DRIVER = Symbol.for('lanyard.oracle.driver');
const driver = ((Client.prototype as { [DRIVER]?: { query: Client['query']; connect: Pool['connect'] } })[DRIVER] ??= {
  query: Client.prototype.query,
  connect: Pool.prototype.connect,
});

/** Before a statement, the connection is told for whom it speaks now: a pool gives it to another caller each time. */
function watchStatements(role: string): void {
  const { query, connect } = driver;
  const watched = new WeakSet<Watched>();
  Client.prototype.query = function (this: Watched, statement: string | Query, ...rest: unknown[]): unknown {
    const send = (what: string | Query): unknown => Reflect.apply(query, this, [what, ...rest]) as unknown;
    if (this.user !== role) return send(statement);
    if (!watched.has(this)) watch(watched.add(this) && this);
    seen.statements++;
    this.sent = typeof statement === 'string' ? statement : statement.text;
    const speaker = scope(typeof statement !== 'string' && Boolean(statement.name));
    const isScopeSet = this.speaksFor === speaker;
    this.speaksFor = /^rollback/i.test(this.sent) ? undefined : speaker;
    const what = rewriteStatement(statement);
    if (isScopeSet) return send(what);
    // In a transaction that failed the setting is refused, and so is whatever follows but the rollback.
    const tell = (then: () => unknown) => Reflect.apply(query, this, [`set lanyard.oracle = '${speaker}'`, then]);
    const hasCallback = typeof rest.at(-1) === 'function' || (typeof statement !== 'string' && statement.callback);
    if (hasCallback) return void tell(() => send(what));
    return new Promise((resolve, reject) => void tell(() => (send(what) as Promise<unknown>).then(resolve, reject)));
  } as typeof query;

  // Who waits for a connection is called from the request that gives one back.
  Pool.prototype.connect = function (this: Pool, callback?: () => void): unknown {
    return Reflect.apply(connect, this, callback ? [AsyncResource.bind(callback)] : []) as unknown;
  } as typeof connect;
}

const [role] = (process.env.LANYARD_TEST_ORACLE_LOGIN ?? '').split(':');
if (hasOracle && role) watchStatements(role);
