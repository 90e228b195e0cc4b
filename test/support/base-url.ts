/**
 * The base URL of the deployment that the suites run against, without a slash at its end; undefined when there is none.
 * @throws when it is no address of the API: what each test would say of that is of no help
 */
export function deploymentUrl(given = process.env.E2E_BASE_URL): string | undefined {
  if (!given) return undefined;
  const address = given.replace(/\/$/, '');
  if (/^https?:\/\/[^/?#]+\/api\/v0$/i.test(address)) return address;
  throw new Error(`E2E_BASE_URL is ${given}: it must be where the API is, as in https://leads.example.com/api/v0`);
}
