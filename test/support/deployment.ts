/**
 * The base URL of the deployment that the suites run against; undefined when there is none.
 * @throws when it is no address of the API, or nothing says how its keys are issued: what each test would say of that is
 *   of no help, and the operator would write into the embedded database, of which the deployment knows nothing
 */
export function deploymentUrl(env: NodeJS.ProcessEnv = process.env): string | undefined {
  const { E2E_BASE_URL, E2E_OPERATOR, DATABASE_URL, E2E_KEY, E2E_IMPORT } = env;
  if (!E2E_BASE_URL) return undefined;
  const [, origin] = /^(https?:\/\/[^/?#]+)(?:\/api\/v0)?\/*$/i.exec(E2E_BASE_URL) ?? [];
  if (!origin) {
    throw new Error(
      `E2E_BASE_URL is ${E2E_BASE_URL}: it must be where the API is, as in https://leads.example.com/api/v0`,
    );
  }
  if (E2E_KEY && E2E_IMPORT !== 'off') {
    throw new Error(
      'E2E_KEY needs E2E_IMPORT=off: with a key alone nothing can be imported, and such tests are left out',
    );
  }
  if (!E2E_OPERATOR && !DATABASE_URL && !E2E_KEY) {
    throw new Error(
      "E2E_BASE_URL needs E2E_OPERATOR, how the deployment's operator is called, or DATABASE_URL, its database; or a key, " +
        'as E2E_KEY with E2E_IMPORT=off',
    );
  }
  return `${origin}/api/v0`;
}

/** Whether the suites run against a deployment, where only what clients and operators see can be tested. */
export const isDeployment = Boolean(process.env.E2E_BASE_URL);
