import { join } from 'node:path';

/** Jest loads the compiler of jest-transform.ts by its path. */
const transform = join(__dirname, 'jest-transform.js');

/**
 * Jest's configuration for TypeScript suites that start a Lanyard: `preset: 'lanyard/testing'`. Nest consists of ES modules,
 * which Jest loads by itself only on Node.js 24.9 and later.
 */
export = {
  testEnvironment: 'node',
  testMatch: ['**/?(*.)@(spec|test|e2e-spec).?([cm])[jt]s'],
  testPathIgnorePatterns: ['/node_modules/', '<rootDir>/dist/'],
  modulePathIgnorePatterns: ['<rootDir>/dist/'],
  // The first start of a project creates a database, which takes long.
  testTimeout: 60_000,
  transform: { '\\.[cm]?ts$': transform, '/node_modules/@nestjs/.+\\.js$': transform },
  transformIgnorePatterns: ['/node_modules/(?!@nestjs/)'],
};
