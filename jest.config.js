/** @type {import('jest').Config} */
module.exports = {
  testEnvironment: 'node',
  testMatch: ['<rootDir>/test/**/*spec.ts'],
  transform: { '^.+\\.ts$': '@swc/jest' },
  globalSetup: '<rootDir>/test/support/global-setup.ts',
  setupFilesAfterEnv: ['<rootDir>/test/support/after-each-suite.ts'],
  globalTeardown: '<rootDir>/test/support/global-teardown.ts',
  // All cores: suites wait for PostgreSQL half of the time, and the few that measure time leave room for that.
  maxWorkers: '100%',
  testTimeout: 30_000,
  collectCoverageFrom: ['src/**/*.ts'],
};
