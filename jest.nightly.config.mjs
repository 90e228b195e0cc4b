// Everything, as a client meets it: without row-level security, which could hide that a condition is missing. Nothing is tried
// again, so that a suite that passes only alone is a failure here.
import config from './jest.config.js';

/** @type {import('jest').Config} */
export default {
  ...config,
  testPathIgnorePatterns: ['/node_modules/', '<rootDir>/test/(extension|prove)/'],
};
