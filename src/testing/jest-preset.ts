import { join } from 'node:path';

/** The compiler of jest-transform.ts: Jest loads it by its path. */
const transform = join(__dirname, 'jest-transform.js');

/**
 * What Jest needs for suites in TypeScript that start a Lanyard: `preset: 'lanyard/testing'`. Nest is ES modules, which Jest
 * loads by itself only on Node.js 24.9 and later.
 */
export = {
  testEnvironment: 'node',
  testMatch: ['**/?(*.)@(spec|test|e2e-spec).?([cm])[jt]s'],
  testPathIgnorePatterns: ['/node_modules/', '<rootDir>/dist/'],
  modulePathIgnorePatterns: ['<rootDir>/dist/'],
  // The first start of a project makes a database.
  testTimeout: 60_000,
  transform: { '\\.[cm]?ts$': transform, '/node_modules/@nestjs/.+\\.js$': transform },
  transformIgnorePatterns: ['/node_modules/(?!@nestjs/)'],
};
