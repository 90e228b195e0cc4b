// npm run description: whether openapi.json is fit to make clients from. Linters find no fault, no client of the last
// release is broken, and the workflows of docs/workflows and those generated from the document run against a server that
// is started for this.
import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { LANYARD, makeOrganization, readOptions, run, startServer, startServices } from './services.mjs';
import { recordsWithExamples } from './example-ids.mjs';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const DESCRIPTION = 'openapi.json';
const WORKFLOWS = 'docs/workflows/lanyard.arazzo.yaml';
const RELEASES = 'docs/releases';
/** of 100 */
const LEAST_SCORE = 90;

/** Where nobody listens. The example's host cannot be looked up, and a server checks the host of a webhook. */
const RECEIVER_URL = 'http://127.0.0.1:9/';

const require = createRequire(import.meta.url);
const REDOCLY = fileURLToPath(new URL('../node_modules/@redocly/cli/bin/cli.js', import.meta.url));
const SPECTRAL = require.resolve('@stoplight/spectral-cli/dist/index.js');

/** Nothing is told to anybody, and nobody is asked for news. */
const QUIET = { REDOCLY_TELEMETRY: 'off', REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true', SCARF_ANALYTICS: 'false' };

/** Runs a program of Node.js; resolves, whatever its exit status is. */
function tool(file, args, environment = {}) {
  const options = { cwd: ROOT, env: { ...process.env, ...QUIET, ...environment }, maxBuffer: 64 << 20 };
  return new Promise((resolve) => {
    execFile(process.execPath, [file, ...args], options, (error, stdout, stderr) =>
      resolve({ failed: error !== null, stdout, output: `${stdout}${stderr}` }),
    );
  });
}

/** The description of the release before this one. */
const lastRelease = () => {
  const files = readdirSync(`${ROOT}/${RELEASES}`).sort((a, b) => a.localeCompare(b, 'en', { numeric: true }));
  return `${RELEASES}/${files.at(-1)}`;
};

/**
 * Writes the description without the operations on records of which there is no example: there is no id to call them with.
 * @returns their names
 */
async function writeWithExamples(file) {
  const known = recordsWithExamples();
  const document = JSON.parse(readFileSync(join(ROOT, DESCRIPTION), 'utf8'));
  const isUnknown = (path) => [...path.matchAll(/\{(\w+)Id\}/g)].some(([, record]) => !known.has(record));
  const unknown = Object.entries(document.paths).filter(([path]) => isUnknown(path));
  for (const [path] of unknown) delete document.paths[path];
  const { example } = document.paths['/webhooks'].post.requestBody.content['application/json'];
  example.url = RECEIVER_URL;
  writeFileSync(file, JSON.stringify(document));
  return unknown.flatMap(([, methods]) => Object.values(methods).map(({ operationId }) => operationId));
}

/**
 * Writes the description without the scopes of each operation. The key is required as before, by the whole document; diff
 * would take the requirement of an operation for a new one.
 */
function writeWithoutScopes(file) {
  const document = JSON.parse(readFileSync(join(ROOT, DESCRIPTION), 'utf8'));
  for (const operation of Object.values(document.paths).flatMap((methods) => Object.values(methods))) {
    if (operation.security?.every((requirement) => 'apiKey' in requirement)) delete operation.security;
  }
  writeFileSync(file, JSON.stringify(document));
}

/** What is checked: each gives its result in a word, and what a failure has to say. */
const CHECKS = {
  'spectral, with the OWASP rules': async () => {
    const { failed, output } = await tool(SPECTRAL, ['lint', DESCRIPTION, '--fail-severity=hint']);
    return { failed, told: failed ? output : 'no error, no warning' };
  },
  'redocly lint': async () => {
    const files = [DESCRIPTION, WORKFLOWS];
    const results = await Promise.all(files.map((file) => tool(REDOCLY, ['lint', file, '--format=json'])));
    const faulty = results.filter(({ stdout }) => {
      const { errors, warnings } = jsonIn(stdout).totals ?? {};
      return errors !== 0 || warnings !== 0;
    });
    const failed = faulty.length > 0;
    return { failed, told: failed ? faulty.map(({ output }) => output).join('\n') : 'no error, no warning' };
  },
  'redocly score': async () => {
    const { stdout, output } = await tool(REDOCLY, ['score', DESCRIPTION, '--format=json']);
    const { agentReadiness } = jsonIn(stdout);
    const failed = !(agentReadiness >= LEAST_SCORE);
    return { failed, told: failed ? `at least ${LEAST_SCORE} is asked for\n${output}` : `${agentReadiness} of 100` };
  },
  'redocly diff': async () => {
    const release = lastRelease();
    const folder = mkdtempSync(join(tmpdir(), 'lanyard-diff-'));
    const described = join(folder, 'openapi.json');
    writeWithoutScopes(described);
    const { failed, output } = await tool(REDOCLY, ['diff', release, described]);
    rmSync(folder, { recursive: true });
    return { failed, told: failed ? output : `nothing breaks clients of ${release}` };
  },
  'redocly respect': async (services) => {
    const { DEMO_RECORDS } = await import('../dist/src/operator/demo/demo.js');
    const records = Object.entries(DEMO_RECORDS).flatMap(([section, all]) =>
      all.map((record) => ({ section, record })),
    );
    const [{ url }, { key }] = await Promise.all([
      startServer(services, LANYARD, { settings: { LANYARD_API_WEBHOOK_PRIVATE: 'on' } }),
      makeOrganization(services, 'Workflows', records),
    ]);
    // Not on the command line, where others could read the key.
    const inputs = JSON.stringify({ apiKey: key, run: randomBytes(4).toString('hex') });
    const respect = (workflows, source) =>
      tool(REDOCLY, ['respect', workflows, '-S', `${source}=${url}`], { REDOCLY_CLI_RESPECT_INPUT: inputs });
    const folder = mkdtempSync(join(tmpdir(), 'lanyard-workflows-'));
    const generated = join(folder, 'generated.arazzo.yaml');
    const described = join(folder, 'openapi.json');
    const leftOut = await writeWithExamples(described);
    await tool(REDOCLY, ['generate-arazzo', described, '--output-file', generated]);
    // The examples tell of the demo, and at last delete of it.
    const results = [await respect(WORKFLOWS, 'lanyard'), await respect(generated, 'openapi')];
    rmSync(folder, { recursive: true });
    const [used, tried] = results.map(({ output }) => /Checks: .*/.exec(output)?.[0]);
    const failure = results.find(({ failed }) => failed);
    return {
      failed: failure !== undefined,
      told:
        failure?.output ??
        `what clients do: ${used}; what the examples say: ${tried}` +
          (leftOut.length > 0 ? `; without an example of its id, and so not called: ${leftOut.join(', ')}` : ''),
    };
  },
};

function jsonIn(text) {
  try {
    return JSON.parse(text);
  } catch {
    return {};
  }
}

await run(async (defer) => {
  const services = await startServices(readOptions({}), defer);
  const results = await Promise.all(
    Object.entries(CHECKS).map(async ([name, check]) => {
      const { failed, told } = await check(services);
      console.log(failed ? `✗ ${name}:\n${told}` : `✓ ${name}: ${told}`);
      return failed;
    }),
  );
  return results.includes(true) ? 1 : 0;
});
