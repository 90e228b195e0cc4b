/**
 * The base URL of the deployment that the suites run against; undefined when there is none. jest.e2e.config.mjs sets E2E_BASE_URL
 * and E2E_KEY from LANYARD_URL and LANYARD_KEY.
 * @throws when it is no address of the API, or nothing says how its keys are issued: what each test would say of that is
 *   of no help, and the operator would write into the embedded database, of which the deployment knows nothing
 */
export function deploymentUrl(env: NodeJS.ProcessEnv = process.env): string | undefined {
  const { E2E_BASE_URL, E2E_OPERATOR, DATABASE_URL, E2E_KEY, E2E_IMPORT } = env;
  if (!E2E_BASE_URL) return undefined;
  const [, origin] = /^(https?:\/\/[^/?#]+)(?:\/api\/v0)?\/*$/i.exec(E2E_BASE_URL) ?? [];
  if (!origin) {
    throw new Error(
      `LANYARD_URL is ${E2E_BASE_URL}. It must be the URL of the API, such as https://leads.example.com/api/v0.`,
    );
  }
  if (E2E_KEY && E2E_IMPORT !== 'off') {
    throw new Error(
      'To test the deployment at LANYARD_URL with LANYARD_KEY alone, set E2E_IMPORT=off: tests that need an import are skipped. ' +
        'To test this checkout on an embedded PostgreSQL, unset LANYARD_URL.',
    );
  }
  if (!E2E_OPERATOR && !DATABASE_URL && !E2E_KEY) {
    throw new Error(
      "To test the deployment at LANYARD_URL, set E2E_OPERATOR to the command that runs the deployment's operator, or DATABASE_URL " +
        'to its database, or LANYARD_KEY and E2E_IMPORT=off. To test this checkout on an embedded PostgreSQL, unset LANYARD_URL.',
    );
  }
  return `${origin}/api/v0`;
}

/** Whether the suites run against a deployment, where only what clients and operators see can be tested. */
export const isDeployment = Boolean(process.env.E2E_BASE_URL);

/**
 * Whether a proxy reads requests first and answers some by its own rules. Lanyard itself speaks no TLS, so there is one behind
 * https.
 */
export const isBehindProxy = /^https:/i.test(process.env.E2E_BASE_URL ?? '') || Boolean(process.env.E2E_BEHIND_PROXY);
