// What benchmarks and proofs run on: PostgreSQL with a database of their own, Redis, and servers as child processes. All
// of it is gone afterwards, also after an error or Ctrl-C.
import { spawn, spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { chmodSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { clearTimeout, setTimeout } from 'node:timers';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import Redis from 'ioredis';
import pg from 'pg';

const OPTIONS = {
  'database-url': { type: 'string', default: process.env.DATABASE_URL },
  'redis-url': { type: 'string', default: process.env.REDIS_URL },
};

/**
 * Options of the command line: where the services are, and the program's own; what is a number by default is one.
 * @param {import('node:util').ParseArgsConfig['options']} own
 * @returns {Record<string, string | number | boolean | undefined>}
 */
export function readOptions(own) {
  const options = { ...OPTIONS, ...own };
  try {
    const { values } = parseArgs({ options });
    for (const name of Object.keys(options).filter((each) => Number(options[each].default) > 0)) {
      if (!(Number(values[name]) > 0)) throw new Error(`--${name} must be a number above 0, not ${values[name]}`);
      values[name] = Number(values[name]);
    }
    return values;
  } catch (error) {
    return refuse(error.message);
  }
}

/**
 * Ends a program that was called wrongly.
 * @returns {never}
 */
export function refuse(message) {
  console.error(message);
  process.exit(2);
}

const program = (name) => fileURLToPath(new URL(name, import.meta.url));
const { scripts } = JSON.parse(readFileSync(program('../package.json'), 'utf8'));
/** What Node.js is to run, with the flags that `npm start` gives it. */
export const LANYARD = [...scripts.start.match(/--max-\S+/g), program('../dist/src/main.js')];
export const OPERATOR = program('../dist/src/main.js');
/** So many tokens that no request is refused. */
const LIMITS = ['--max-tokens', '9000000', '--refill-rate', '1000000'];
/** Milliseconds that a child has to stop: writing a CPU profile takes a while. */
const PATIENCE = 20_000;

/** Runs a program, and undoes in reverse order what it deferred. Its result is the exit status. */
export async function run(work) {
  const deferred = [];
  let stopping;
  const stop = () =>
    (stopping ??= (async () => {
      for (const undo of deferred.reverse()) await undo().catch((error) => console.error(error));
    })());
  for (const end of ['SIGINT', 'SIGTERM', 'SIGHUP', 'uncaughtException']) {
    process.on(end, (cause) => {
      if (cause instanceof Error && !stopping) console.error(cause);
      void stop().then(() => process.exit(cause instanceof Error ? 1 : 130));
    });
  }
  try {
    process.exitCode = await work((undo) => {
      deferred.push(undo); // taken up even by a stop that is under way
      if (stopping) throw new Error('stopped');
    });
  } catch (error) {
    process.exitCode = 1;
    if (!stopping) console.error(error);
  }
  await stop();
}

/** PostgreSQL with an empty database, and Redis: those of the options, or else ones that are started for this. */
export async function startServices(options, defer) {
  const server = options['database-url'] ?? (await startPostgres(defer));
  const redisUrl = options['redis-url'] ?? (await startRedis(defer));
  const redis = redisUrl && new Redis(redisUrl, { maxRetriesPerRequest: 1 });
  if (redis) defer(async () => redis.disconnect());
  await redis?.ping();
  const database = `lanyard_run_${randomBytes(4).toString('hex')}`;
  let created;
  defer(async () => {
    const exists = await created?.then(
      () => true,
      () => false,
    );
    if (exists) await query(server, `drop database ${database} with (force)`);
  });
  created = query(server, `create database ${database} template template0 encoding 'UTF8'`);
  await created;
  const url = new URL(server);
  url.pathname = `/${database}`;
  // An import, or a scan of a million rows, takes as long as it needs.
  const pool = new pg.Pool({ connectionString: url.href, max: 2 });
  pool.on('error', () => undefined);
  defer(() => pool.end());
  const { rows } = await pool.query('show server_version');
  const place = (given, started) => (given ? 'as given' : started);
  console.log(
    `PostgreSQL ${rows[0].server_version} (${place(options['database-url'], 'embedded')}), ` +
      `${redis ? `Redis (${place(options['redis-url'], 'started for this')})` : 'no Redis: buckets in the process'}, ` +
      `Node.js ${process.versions.node}`,
  );
  return { pool, redis, defer, environment: { DATABASE_URL: url.href, REDIS_URL: redisUrl ?? '' } };
}

async function query(url, statement) {
  const client = new pg.Client(url);
  await client.connect();
  await client.query(statement).finally(() => client.end());
}

async function startPostgres(defer) {
  const { startEmbeddedPostgres } = await import('../dist/src/data/embedded-postgres/embedded-postgres.js');
  const directory = mkdtempSync(join(tmpdir(), 'lanyard-run-'));
  // Root's PostgreSQL runs as somebody else, who must be able to pass.
  chmodSync(directory, 0o755);
  defer(async () => rmSync(directory, { recursive: true, force: true }));
  const started = startEmbeddedPostgres({ dataDir: join(directory, 'data'), log: () => undefined });
  defer(async () => (await started).stop());
  return (await started).url;
}

async function startRedis(defer) {
  if (spawnSync('redis-server', ['--version']).status !== 0) return undefined;
  const free = createServer().listen(0, '127.0.0.1');
  await once(free, 'listening');
  const { port } = free.address();
  free.close();
  const options = ['--port', String(port), '--bind', '127.0.0.1', '--save', '', '--appendonly', 'no'];
  await startChild('redis-server', options, { defer, sign: /Ready to accept connections/ });
  return `redis://127.0.0.1:${port}`;
}

/**
 * A server of Node.js that says on which URL it listens. `args` and further `flags` are those of Node.js, and `onOutput` is
 * called with what it prints.
 */
export async function startServer({ environment, defer }, args, { settings, flags = [], onOutput } = {}) {
  const env = { ...process.env, NODE_ENV: 'production', HOST: '127.0.0.1', PORT: '0', ...environment, ...settings };
  const { pid, match } = await startChild(process.execPath, [...flags, ...args], {
    env,
    defer,
    sign: /listening on (\S+)/,
    onOutput,
  });
  return { pid, url: match[1].replace('localhost', '127.0.0.1') };
}

/** Resolves when the child prints the sign of being ready. */
async function startChild(command, args, { env, defer, sign, onOutput }) {
  const child = spawn(command, args, { env, stdio: ['ignore', 'pipe', 'inherit'] });
  defer(() => end(child));
  if (onOutput) child.stdout.on('data', (chunk) => onOutput(String(chunk)));
  for await (const line of createInterface(child.stdout)) {
    const match = sign.exec(line);
    if (match) {
      child.stdout.resume();
      return { pid: child.pid, match };
    }
  }
  throw new Error(`${command} ${args.join(' ')} ended before it was ready`);
}

async function end(child) {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = once(child, 'exit');
  child.kill('SIGTERM');
  const late = setTimeout(() => child.kill('SIGKILL'), PATIENCE);
  await ended;
  clearTimeout(late);
}

/** The JSON result of a command of the operator's. */
export async function operator({ environment, defer }, args, lines = []) {
  const child = spawn(process.execPath, [OPERATOR, ...args, '--json'], {
    env: { ...process.env, ...environment },
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  defer(() => end(child));
  child.stdin.on('error', () => undefined); // a command that is refused does not read it
  Readable.from(lines).pipe(child.stdin);
  const [output, [status]] = await Promise.all([text(child.stdout), once(child, 'close')]);
  if (status !== 0) throw new Error(`operator ${args.join(' ')}: exit status ${status}`);
  return JSON.parse(output);
}

/** A new organization with a key, and with the records of a dataset, if there is one. `limits` are options of the key. */
export async function makeOrganization(services, name, records, limits = LIMITS) {
  const { id } = await operator(services, ['organizations', 'create', '--name', name]);
  const { key } = await operator(services, ['keys', 'issue', '--organization', String(id), ...limits]);
  if (!records) return { id, key };
  const { events } = await operator(services, ['import', '-', '--organization', String(id)], linesOf(records));
  return { id, key, events };
}

function* linesOf(records) {
  for (const record of records) yield `${JSON.stringify(record)}\n`;
}
