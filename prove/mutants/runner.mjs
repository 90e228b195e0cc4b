/**
 * Stryker's way to the tests. Jest would load all modules anew for each mutant, libraries included: four seconds of work
 * for a test of ten milliseconds, over a thousand times. Here jest's own parts run the suites in one process, in which
 * libraries stay loaded; the project's modules and the suites are loaded anew for each mutant, because most of what is
 * wrong with a constant or a decorator happens while it is loaded.
 */
import { readFileSync } from 'node:fs';
import Module, { createRequire } from 'node:module';
import { join, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import { ModernFakeTimers } from '@jest/fake-timers';
import { jestExpect } from '@jest/expect';
import { transformSync } from '@swc/core';
import * as circus from 'jest-circus';
import { ModuleMocker } from 'jest-mock';

/**
 * The suites that look for mutants. What is quick comes first, as does what catches most. Suites of the operator, of
 * migrations and of large lists are left out: they take long, and reach no guard that others do not.
 */
const SUITES = [
  ...[
    'key-format.spec',
    'text.spec',
    'access.spec',
    'transaction.spec',
    'error-filter.spec',
    'together.spec',
    'fields.spec',
    'rate-limit-parts.spec',
    'openapi.spec',
  ],
  ...[
    'routes.spec',
    'limits.e2e-spec',
    'envelope.e2e-spec',
    'dates.e2e-spec',
    'events.e2e-spec',
    'event-leads.e2e-spec',
  ],
  ...[
    'idempotent-answers.spec',
    'key-usage.spec',
    'industry-events.spec',
    'search-order.e2e-spec',
    'observability.spec',
  ],
  ...['leads.e2e-spec', 'industry-events.e2e-spec', 'access.e2e-spec', 'turns.spec', 'idempotency.e2e-spec'],
  ...['pagination.e2e-spec', 'read-only-resources.e2e-spec', 'tenancy.e2e-spec', 'rate-limit.spec', 'reader.spec'],
  ...[
    'malformed.e2e-spec',
    'concurrency.e2e-spec',
    'timeouts.spec',
    'patience.spec',
    'search.e2e-spec',
    'search-totals.spec',
    'malformed-fuzz.spec',
  ],
];
/** Milliseconds of a test or a hook; the slowest takes five seconds. */
const TEST_TIMEOUT = 10_000;

const compiled = new Map();
const configFile = fileURLToPath(new URL('../../.swcrc', import.meta.url));
function loadTypeScript(module, filename) {
  const code = compiled.get(filename) ?? transformSync(readFileSync(filename, 'utf8'), { filename, configFile }).code;
  compiled.set(filename, code);
  module._compile(code, filename);
}

const timers = new ModernFakeTimers({ config: { fakeTimers: {} }, global: globalThis });
const mocker = new ModuleMocker(globalThis);
const jest = {
  advanceTimersByTime: (milliseconds) => timers.advanceTimersByTime(milliseconds),
  advanceTimersByTimeAsync: (milliseconds) => timers.advanceTimersByTimeAsync(milliseconds),
  getTimerCount: () => timers.getTimerCount(),
  restoreAllMocks: () => mocker.restoreAllMocks(),
  spyOn: (object, name, access) => mocker.spyOn(object, name, access),
  useFakeTimers: (config) => timers.useFakeTimers(config),
  useRealTimers: () => timers.useRealTimers(),
};

/** What instrumented code reads and writes. */
const stryker = (globalThis.__stryker__ ??= {});

/** Errors that nobody awaits: jest has them fail the test that runs. */
const lost = new Map();

const nameOf = ({ name, parent }) => (parent ? `${nameOf(parent)} ${name}`.trimStart() : '');
/** Names are unique in a suite only. */
const idOf = (suite, test) => `${suite}: ${nameOf(test)}`;
const testsOf = (block) => block.children.flatMap((child) => (child.type === 'test' ? [child] : testsOf(child)));

/** What runs at the moment, and whether the first failure ends it. */
let run;
function follow({ name, test, describeBlock }) {
  if (name === 'test_start') stryker.currentTestId = idOf(run.suite, test);
  if (name === 'test_done' || name === 'test_skip') stryker.currentTestId = undefined;
  if (name === 'test_fn_failure' || name === 'hook_failure') run.failed = true;
  if (!run?.bails || !run.failed) return;
  // The tests below a hook that failed have the error already, and must be seen to fail.
  if (name === 'test_start' && test.errors.length === 0) test.mode = 'skip';
  if (name === 'run_describe_start' && testsOf(describeBlock).every(({ errors }) => errors.length === 0)) {
    describeBlock.mode = 'skip';
  }
}

function forgetModules() {
  for (const file of Object.keys(require.cache)) {
    if (!file.includes(`${sep}node_modules${sep}`)) delete require.cache[file];
  }
}
const require = createRequire(import.meta.url);

/**
 * @param wanted ids of the tests to run, all without
 * @param passed ids of tests to leave out; without it there is no mutant, and a failure ends nothing
 * @returns results in the form that Stryker wants
 */
async function runSuite(suite, wanted, passed) {
  circus.resetState();
  const state = circus.getState();
  state.testTimeout = TEST_TIMEOUT;
  run = { suite, bails: passed !== undefined, failed: false };
  require(join(process.cwd(), 'test/support/after-each-suite.ts'));
  delete require.cache[join(process.cwd(), 'test/support/after-each-suite.ts')];
  require(join(process.cwd(), `test/${suite}.ts`));
  const tests = testsOf(state.rootDescribeBlock);
  for (const test of tests) {
    const id = idOf(suite, test);
    if (passed?.has(id) || (wanted && !wanted.has(id))) test.mode = 'skip';
  }
  if (!tests.some(({ mode }) => mode !== 'skip')) return [];
  await circus.run();
  timers.useRealTimers();
  mocker.restoreAllMocks();
  const errors = [...state.unhandledErrors.map((error) => [error].flat()[0]), ...lost.values()];
  lost.clear();
  const results = tests.filter(({ status }) => status === 'done').map((test) => resultOf(suite, test));
  const [first] = results;
  if (errors.length > 0 && first) Object.assign(first, { status: 1, failureMessage: messageOf(errors[0]) });
  return results;
}

const messageOf = (error) => String(error?.stack ?? error);

const resultOf = (suite, test) => ({
  id: idOf(suite, test),
  name: idOf(suite, test),
  timeSpentMs: test.duration ?? 0,
  status: test.errors.length > 0 ? 1 : 0,
  failureMessage: messageOf([test.errors[0]].flat()[0]),
});

class Runner {
  /** whether something may still run that a test gave up waiting for */
  #isDirty = false;

  capabilities() {
    return { reloadEnvironment: true };
  }

  /** Only now: Stryker's own process loads this file too. */
  async init() {
    process.env.NODE_ENV = 'test';
    const exit = process.exit.bind(process);
    process.once('disconnect', () => exit()); // Stryker is gone
    // Nest ends a process that cannot start; here it is a test that fails.
    process.exit = () => {
      throw new Error('The process would have ended');
    };
    process.on('unhandledRejection', (error, promise) => lost.set(promise, error));
    process.on('rejectionHandled', (promise) => lost.delete(promise));
    process.on('uncaughtException', (error) => lost.set({}, error));
    Module._extensions['.ts'] = loadTypeScript;
    const { afterAll, afterEach, beforeAll, beforeEach, describe, it, test } = circus;
    const hooks = { afterAll, afterEach, beforeAll, beforeEach };
    Object.assign(globalThis, { ...hooks, describe, it, test, expect: jestExpect, jest });
    circus.addEventHandler(follow);
  }

  async dryRun() {
    stryker.mutantCoverage = { static: {}, perTest: {} };
    forgetModules();
    const tests = [];
    for (const suite of SUITES) tests.push(...(await runSuite(suite)));
    const { mutantCoverage } = stryker;
    // Everything is loaded anew in any case: what tests reach needs these tests, though it also runs before them.
    for (const covered of Object.values(mutantCoverage.perTest)) {
      for (const id of Object.keys(covered)) delete mutantCoverage.static[id];
    }
    return { status: 'complete', tests, mutantCoverage };
  }

  /** Without a filter (what is reached by no test, but runs before one) all suites run. */
  async mutantRun({ activeMutant, testFilter, hitLimit }) {
    // Rejected, so that Stryker starts another process and asks that one.
    if (this.#isDirty) throw new Error('A test ran out of time in this process');
    const wanted = testFilter && new Set(testFilter);
    Object.assign(stryker, { activeMutant: activeMutant.id, hitLimit, hitCount: hitLimit && 0 });
    forgetModules();
    try {
      return await this.#seek(wanted);
    } catch (error) {
      return { status: 'error', errorMessage: messageOf(error) };
    } finally {
      stryker.activeMutant = undefined;
    }
  }

  async #seek(wanted) {
    for (const suite of SUITES) {
      if (wanted && ![...wanted].some((id) => id.startsWith(`${suite}: `))) continue;
      const failed = await this.#failureOf(suite, wanted);
      if (stryker.hitCount > stryker.hitLimit) return { status: 'timeout', reason: 'Went in circles' };
      if (failed) {
        return { status: 'killed', killedBy: [failed.id], failureMessage: failed.failureMessage, nrOfTests: 1 };
      }
    }
    return { status: 'survived', nrOfTests: wanted?.size ?? 0 };
  }

  /** A failure that counts comes twice: a test that the machine kept waiting has caught nothing. */
  async #failureOf(suite, wanted) {
    const passed = new Set();
    for (;;) {
      const failed = this.#noted(await runSuite(suite, wanted, passed));
      if (!failed || stryker.hitCount > stryker.hitLimit) return failed;
      forgetModules();
      if (this.#noted(await runSuite(suite, new Set([failed.id]), passed))) return failed;
      passed.add(failed.id);
      forgetModules();
    }
  }

  /** @returns the first failure */
  #noted(results) {
    this.#isDirty ||= results.some(({ failureMessage }) => failureMessage.includes('Exceeded timeout'));
    return results.find(({ status }) => status === 1);
  }
}

const createRunner = () => new Runner();
createRunner.inject = [];

/** Swagger takes a function for a lazy type when its name is `type`, which it loses between Stryker's changes. */
const lazyTypes = {
  shouldIgnore: (path) =>
    path.isArrowFunctionExpression() && path.parentPath?.isObjectProperty() && path.parentPath.node.key.name === 'type'
      ? 'found by its name'
      : undefined,
};

export const strykerPlugins = [
  { kind: 'TestRunner', name: 'suites', factory: createRunner },
  { kind: 'Ignore', name: 'lazy-types', value: lazyTypes },
];
