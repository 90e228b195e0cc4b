/** Without an operator, tests that need one are left out; they share one organization. */
const environment =
  process.env.E2E_IMPORT === 'off'
    ? '<rootDir>/test/support/jest/left-out.environment.ts'
    : '<rootDir>/test/support/jest/shared-modules.environment.mjs';

/** @type {import('jest').Config} */
module.exports = {
  testEnvironment: environment,
  runtime: '<rootDir>/test/support/jest/shared-modules.runtime.mjs',
  testMatch: ['<rootDir>/test/**/*spec.ts'],
  // Folders and names decide what runs where (docs/testing.md). The suites of mutants, in prove/, are all of the others again.
  testPathIgnorePatterns: [
    '/node_modules/',
    '<rootDir>/test/(extension|nightly|packages|prove|tooling)/',
    String.raw`\.slow-spec\.ts$`,
  ],
  // The builds have a package.json of the same name, of which jest would warn.
  modulePathIgnorePatterns: ['<rootDir>/dist/', '<rootDir>/clients/mcp/dist/'],
  transform: {
    '^.+\\.ts$': '@swc/jest',
    // Nest is ES modules, and Jest loads CommonJS. Nest's fields keep the semantics that Node.js gives them, hence not .swcrc.
    '/node_modules/@nestjs/.+\\.js$': [
      '@swc/jest',
      {
        swcrc: false,
        jsc: { target: 'es2023', parser: { syntax: 'ecmascript' } },
        module: { type: 'commonjs' },
      },
    ],
  },
  transformIgnorePatterns: ['/node_modules/(?!@nestjs/)'],
  globalSetup: '<rootDir>/test/support/jest/global-setup.ts',
  setupFilesAfterEnv: ['<rootDir>/test/support/jest/after-each-suite.ts'],
  globalTeardown: '<rootDir>/test/support/jest/global-teardown.ts',
  // One more than cores: suites wait for PostgreSQL, programs and clocks a third of the time, and the few that measure
  // time leave room for that. (Jest takes 150% for 150 workers.)
  maxWorkers: process.env.E2E_KEY ? 1 : process.getBuiltinModule('node:os').availableParallelism() + 1,
  testSequencer: '<rootDir>/test/support/jest/heaviest-first.mjs',
  // A deployment may be far away, and its operator a container. What is skipped there has its reason in its name.
  ...(process.env.E2E_BASE_URL ? { testTimeout: 120_000, verbose: true } : { testTimeout: 30_000 }),
  collectCoverageFrom: ['src/**/*.ts'],
};
