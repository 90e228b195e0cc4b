// Load, what it cost, and tables of it.
import { readdirSync, readFileSync } from 'node:fs';
import { performance } from 'node:perf_hooks';
import { clearInterval, setInterval } from 'node:timers';
import { setTimeout as pause } from 'node:timers/promises';
import autocannon from 'autocannon';
import { makeOrganization, refuse } from '../../scripts/services.mjs';

/** Options that all benchmarks have. */
export const LOAD_OPTIONS = {
  rounds: { type: 'string', default: '3' },
  seconds: { type: 'string', default: '4' },
  connections: { type: 'string', default: '10' },
};

/**
 * Loads a server with requests ({method, path, headers, body}); each connection goes round them from a place of its own.
 * @returns requests a second, latencies in milliseconds, and how many answers had which status
 */
export async function load({ url, requests, connections, seconds }) {
  const times = [];
  const statuses = {};
  let next = 0;
  const setupClient = (client) => {
    const at = Math.floor((requests.length * next++) / connections);
    client.setRequests([...requests.slice(at), ...requests.slice(0, at)]);
  };
  const started = performance.now();
  const test = autocannon({ url, connections, duration: seconds, sampleInt: 50, timeout: 30, setupClient });
  test.on('response', (_client, status, _bytes, milliseconds) => {
    statuses[status] = (statuses[status] ?? 0) + 1;
    times.push(milliseconds);
  });
  const { errors } = await test;
  const elapsed = performance.now() - started;
  if (errors) statuses.none = errors;
  times.sort((a, b) => a - b);
  const at = (part) => times[Math.min(times.length - 1, Math.floor(times.length * part))] ?? NaN;
  return { count: times.length, rate: (times.length * 1000) / elapsed, p50: at(0.5), p99: at(0.99), statuses };
}

/** Loads each case in each round, after a first load that does not count: a case is {requests, runs}, and gets its runs. */
export async function measure({ pool }, url, cases, { rounds, seconds, connections }) {
  for (const { requests } of cases) await load({ url, requests, connections, seconds: 0.5 });
  for (let round = 0; round < rounds; round++) {
    console.error(`Round ${round + 1} of ${rounds} …`);
    for (const { requests, runs } of cases) {
      await settle(pool);
      runs.push(await load({ url, requests, connections, seconds }));
    }
  }
}

/** What `--sizes` says. */
export function sizesOf({ sizes: text }, least, count) {
  const sizes = text.split(',').map(Number);
  if (sizes.every((size) => size >= least) && sizes.length === (count ?? sizes.length)) return sizes;
  return refuse(`--sizes: ${count ?? 'numbers'}, each at least ${least}`);
}

/** Organizations that SQL fills: $1 is the organization, $2 the number of its leads. */
export async function filledOrganizations(services, sizes, statements) {
  const organizations = [];
  for (const size of sizes) {
    console.error(`Filling an organization of ${size} leads …`);
    const organization = await makeOrganization(services, `Organization of ${size}`);
    for (const statement of statements) await services.pool.query(statement, [organization.id, size]);
    organizations.push({ size, ...organization });
  }
  return organizations;
}

/** Waits until PostgreSQL has done what the last load left behind: a statement outlives the client that asked for it. */
export async function settle(pool) {
  const active = `select from pg_stat_activity where datname = current_database() and backend_type = 'client backend'
    and state <> 'idle' and pid <> pg_backend_pid()`;
  do await pause(50);
  while ((await pool.query(active)).rowCount > 0);
}

/** One request, as `load` makes it. */
export async function answerOf(url, { method, path, headers, body }) {
  const response = await fetch(new URL(path, url), { method, headers, body });
  return { status: response.status, text: await response.text() };
}

/** As `load` takes it: the path below the server's base URL, the body as JSON. */
export const request = (url, key, path, method = 'GET', body) => ({
  method,
  path: `${new URL(url).pathname}${path}`,
  headers: { 'x-api-key': key, ...(body && { 'content-type': 'application/json' }) },
  body: body && JSON.stringify(body),
});

/** Milliseconds of CPU that Linux counted for a process: [its parent, its own, that of its ended children, its name]. */
function processTimes(pid) {
  try {
    const [, name, rest] = /\((.*)\) (.*)/s.exec(readFileSync(`/proc/${pid}/stat`, 'utf8'));
    const fields = rest.split(' ').map(Number); // from the third of proc(5): 1 ppid, 11 to 14 times in 1/100 s
    return [fields[1], (fields[11] + fields[12]) * 10, (fields[13] + fields[14]) * 10, name];
  } catch {
    return [0, NaN, NaN, '']; // no Linux, or the process is gone
  }
}

/** A function that reads the CPU milliseconds so far; what cannot be known from here is NaN. */
export async function cpuMeter({ pool, redis }) {
  const postmaster = await postmasterOf(pool);
  return async (pid) => ({
    node: processTimes(pid)[1],
    postgres: familyTime(postmaster),
    redis: await redisTime(redis),
  });
}

/** The process id of the server, when it runs on this machine and not in a container. */
async function postmasterOf(pool) {
  const { hostname } = new URL(pool.options.connectionString);
  if (!['', 'localhost', '127.0.0.1', '[::1]'].includes(hostname)) return undefined;
  const { rows } = await pool.query('select pg_backend_pid() as pid');
  const [parent, , , name] = processTimes(rows[0].pid);
  return name.startsWith('postgres') ? parent : undefined;
}

/** The postmaster with all backends, those that ended too. */
function familyTime(postmaster) {
  if (!postmaster) return NaN;
  const [, own, ended] = processTimes(postmaster);
  const all = readdirSync('/proc').filter((name) => /^\d+$/.test(name));
  const children = all.map(processTimes).filter(([parent]) => parent === postmaster);
  return children.reduce((sum, [, time]) => sum + time, own + ended);
}

async function redisTime(redis) {
  if (!redis) return NaN;
  const info = await redis.info('cpu');
  const seconds = (name) => Number(new RegExp(`^${name}:(.*)$`, 'm').exec(info)[1]);
  return (seconds('used_cpu_sys') + seconds('used_cpu_user')) * 1000;
}

/** MiB of memory in which Linux has a process. */
function residentMemory(pid) {
  try {
    return Number(/^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))[1]) / 1024;
  } catch {
    return NaN; // no Linux, or the process is gone
  }
}

/** Looks at the memory of a process until the function that it returns is called, which tells what it saw, in MiB. */
export function memoryMeter(pid) {
  const seen = [];
  const timer = setInterval(() => seen.push(residentMemory(pid)), 100);
  return () => {
    clearInterval(timer);
    return { memory: median(seen), mostMemory: Math.max(...seen) };
  };
}

export function median(numbers) {
  const sorted = numbers.filter(Number.isFinite).sort((a, b) => a - b);
  const middle = Math.floor(sorted.length / 2);
  return sorted.length % 2 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
}

/** How many answers had which status, as text. */
export function statusText(runs) {
  const sums = {};
  for (const { statuses } of runs) {
    for (const [status, count] of Object.entries(statuses)) sums[status] = (sums[status] ?? 0) + count;
  }
  return Object.entries(sums)
    .map(([status, count]) => `${status}: ${count}`)
    .join(', ');
}

/** What a table says of runs that did not succeed. */
export const failureText = (runs) => (allSucceeded(runs) ? '' : ` !! ${statusText(runs)}`);

export const allSucceeded = (runs) =>
  runs.every(({ count, statuses }) => count > 0 && Object.keys(statuses).join() === '200');

export const fixed = (number, digits) => (Number.isFinite(number) ? number.toFixed(digits) : '-');

/** Prints a Markdown table: the first row is the head, the first column is text, the others are numbers. */
export function print(title, rows) {
  const widths = rows[0].map((_, column) => Math.max(3, ...rows.map((row) => row[column].length)));
  const line = (row) =>
    `| ${row.map((cell, i) => (i ? cell.padStart(widths[i]) : cell.padEnd(widths[i]))).join(' | ')} |`;
  const rule = `| ${widths.map((width, i) => (i ? `${'-'.repeat(width - 1)}:` : '-'.repeat(width))).join(' | ')} |`;
  console.log(`\n${title}\n\n${[line(rows[0]), rule, ...rows.slice(1).map(line)].join('\n')}`);
}
