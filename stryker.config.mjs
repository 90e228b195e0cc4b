// Mutation testing: `npm run prove mutants` runs it with a PostgreSQL for the tests; see docs/mutants.md.
import { createRequire } from 'node:module';

const require = createRequire(import.meta.url);
/** Folders whose suites look for mutants: those of the API. The command line and the tools take long and reach no guard. */
const SUITES = ['api', 'database', 'http', 'limits', 'search'];
/** Suites of these folders that would need a build, a browser, or several processes, in which no mutant is active. */
const NO_MUTANTS = ['pages', 'two-processes', 'sentinel', 'backup', 'migrations', 'malformed-fuzz'];

/** @type {import('@stryker-mutator/api/core').PartialStrykerOptions} */
export default {
  mutate: [
    'src/{access,rate-limit,http}/**/*.ts',
    'src/{events,leads,lead-activity-events,activations,tag-groups,industry-events}/**/*.ts',
    '!src/**/*.module.ts',
  ],
  // Texts are messages, names and SQL: what SQL must not forget is what prove:tenancy looks for.
  mutator: { excludedMutations: ['StringLiteral'] },
  // What runs while a module is loaded (decorators, constants) would need all suites once for each mutant.
  ignoreStatic: true,
  plugins: ['@stryker-mutator/jest-runner', './prove/mutants/lazy-types.mjs', './prove/mutants/counts.mjs'],
  ignorers: ['lazy-types'],
  testRunner: 'jest',
  jest: {
    config: {
      ...require('./jest.config.js'),
      testMatch: SUITES.map((folder) => `<rootDir>/test/${folder}/**/*spec.ts`),
      testPathIgnorePatterns: [`/(${NO_MUTANTS.join('|')})[^/]*$`],
      testSequencer: './prove/mutants/small-first.mjs',
      // prove/mutants.ts does both once; here they would run for each mutant.
      globalSetup: null,
      globalTeardown: null,
    },
  },
  coverageAnalysis: 'perTest',
  // prove/mutants.ts has the score that is asked.
  thresholds: { high: 95, low: 90, break: null },
  timeoutMS: 30_000,
  dryRunTimeoutMinutes: 30,
  reporters: ['counts', 'clear-text', 'progress-append-only'],
  clearTextReporter: { logTests: false, allowColor: false },
  tempDirName: '.data/stryker',
  ignorePatterns: ['/bench', '/coverage', '/dist', '/.data', '/docs', '/examples'],
  disableTypeChecks: false,
};
