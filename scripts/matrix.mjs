// The suites on every Node.js and PostgreSQL that is promised: node scripts/matrix.mjs [--node 20.19.2 --only start]
// Node.js comes as npm packages, into node_modules/.cache. PostgreSQL is the embedded one and, when there is a DATABASE_URL
// (a server where databases may be created), that one too. Suites that need a Redis use REDIS_URL or redis-server.
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync } from 'node:fs';
import { delimiter, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const { values } = parseArgs({
  options: {
    /** versions, or the first part of them */
    node: { type: 'string', default: '20.19.2,22,24,26' },
    /** parts of the names of suites, all without */
    only: { type: 'string', default: '' },
  },
});

/** The path of a Node.js, which is fetched when it is not there. */
function nodeOf(version) {
  const prefix = join(ROOT, 'node_modules/.cache/node', version);
  const name = `node-${process.platform === 'win32' ? 'win' : process.platform}-${process.arch}`;
  const binary = join(prefix, 'node_modules', name, 'bin', process.platform === 'win32' ? 'node.exe' : 'node');
  if (!existsSync(binary)) {
    mkdirSync(prefix, { recursive: true });
    const options = ['--prefix', prefix, '--ignore-scripts', '--no-save', '--no-audit', '--no-fund'];
    const { status } = spawnSync('npm', ['install', ...options, `${name}@${version}`], { stdio: 'inherit' });
    if (status !== 0) throw new Error(`There is no ${name}@${version}`);
  }
  return binary;
}

/** Runs the suites. @returns how they ended, in words */
function suites(node, databaseUrl) {
  // Programs that the suites start are to run on it too.
  const env = { ...process.env, PATH: dirname(node) + delimiter + process.env.PATH };
  if (databaseUrl) env.DATABASE_URL = databaseUrl;
  else delete env.DATABASE_URL;
  const args = [
    join(ROOT, 'node_modules/jest/bin/jest.js'),
    '--config',
    'jest.nightly.config.mjs',
    '--silent',
    ...values.only.split(',').filter(Boolean),
  ];
  const { status, stderr } = spawnSync(node, args, {
    cwd: ROOT,
    env,
    encoding: 'utf8',
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  if (status !== 0) process.stderr.write(stderr);
  return { passed: status === 0, tests: /^Tests: +(.*)$/m.exec(stderr)?.[1] ?? 'no tests ran' };
}

const servers = { embedded: undefined, ...(process.env.DATABASE_URL && { DATABASE_URL: process.env.DATABASE_URL }) };
const rows = [];
for (const version of values.node.split(',')) {
  const node = nodeOf(version);
  const exact = spawnSync(node, ['--version'], { encoding: 'utf8' }).stdout.trim();
  for (const [name, url] of Object.entries(servers)) {
    const { passed, tests } = suites(node, url);
    rows.push({ 'Node.js': exact, PostgreSQL: name, passed, tests });
    console.log(`Node.js ${exact}, PostgreSQL ${name}: ${passed ? 'passed' : 'FAILED'}, ${tests}`);
  }
}
console.table(rows);
process.exitCode = rows.every(({ passed }) => passed) ? 0 : 1;
