// The suites that see only what clients see. With LANYARD_URL they run against that deployment. The other configuration ignores
// LANYARD_URL, because a shell may have it for the sake of clients.
const { LANYARD_URL, LANYARD_KEY, E2E_OPERATOR, DATABASE_URL } = process.env;
if (LANYARD_URL) process.env.E2E_BASE_URL = LANYARD_URL;
if (LANYARD_URL && LANYARD_KEY && !E2E_OPERATOR && !DATABASE_URL) process.env.E2E_KEY = LANYARD_KEY;

// It reads the variables above.
const { default: config } = await import('./jest.config.js');

/** @type {import('jest').Config} */
export default {
  ...config,
  testMatch: ['<rootDir>/test/**/*.e2e-spec.ts'],
  passWithNoTests: false,
};
