// Mutation testing: `npm run prove mutants` runs it with a PostgreSQL for the tests; see test/prove/README.md.
import { createRequire } from 'node:module';
import { availableParallelism } from 'node:os';

const require = createRequire(import.meta.url);

/** @type {import('@stryker-mutator/api/core').PartialStrykerOptions} */
export default {
  mutate: [
    // All resources, access, rate-limit and api.
    'src/{access,contexts,extensions,feed,fields,start,testing}/**/*.ts',
    'src/http/!(server)/**/*.ts',
    'src/exchange/{backup,persons}/**/*.ts',
    '!src/**/*.module.ts',
  ],
  // Texts are messages, names and SQL: the oracle (`LANYARD_TEST_ORACLE=rls`) finds what SQL forgets.
  mutator: { excludedMutations: ['StringLiteral'] },
  // What runs while a module is loaded (decorators, constants) would need all suites once for each mutant.
  ignoreStatic: true,
  plugins: ['@stryker-mutator/jest-runner', './test/prove/mutants/plugins.mjs'],
  ignorers: ['lazy-types'],
  testRunner: 'jest',
  jest: {
    enableFindRelatedTests: false,
    config: {
      ...require('./jest.config.js'),
      // All suites as one, which ends at the first failure.
      testMatch: ['<rootDir>/test/prove/mutants/suites.spec.ts'],
      testEnvironment: './test/prove/mutants/first-failure.mjs',
      testTimeout: 10_000, // for a mutant that does not answer
      // test/prove/mutants.ts does both once; here they would run for each mutant.
      globalSetup: null,
      globalTeardown: null,
    },
  },
  coverageAnalysis: 'perTest',
  timeoutMS: 30_000,
  dryRunTimeoutMinutes: 30,
  concurrency: availableParallelism() + 1, // as in jest.config.js
  maxTestRunnerReuse: 50, // jest keeps some memory of every run
  reporters: ['counts', 'clear-text', 'progress-append-only'],
  clearTextReporter: { reportTests: false, allowColor: false },
  tempDirName: 'coverage/stryker',
  ignorePatterns: ['/coverage', '/dist', '/.data'],
  disableTypeChecks: false, // nothing here checks types
};
