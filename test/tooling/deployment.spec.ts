import { deploymentUrl } from '../support/deployment/deployment';
import { findUnfitSettings } from '../support/deployment/deployment-settings';
import { startInProcess } from '../support/lanyard';

describe('the deployment that suites run against', () => {
  const DATABASE_URL = 'postgres://localhost/leads';

  it('is none unless it is named', () => {
    expect(deploymentUrl({ DATABASE_URL })).toBeUndefined();
    expect(deploymentUrl({ DATABASE_URL, E2E_BASE_URL: '' })).toBeUndefined();
  });

  it.each(['', '/', '/api/v0', '/api/v0/', '/api/v0//'])('may be named with %j at the end', (end) => {
    expect(deploymentUrl({ DATABASE_URL, E2E_BASE_URL: `https://leads.example.com:8443${end}` })).toBe(
      'https://leads.example.com:8443/api/v0',
    );
  });

  it.each(['leads.example.com', 'ftp://leads.example.com', 'https://leads.example.com/api', 'http:///api/v0'])(
    'is no %s',
    (address) =>
      expect(() => deploymentUrl({ DATABASE_URL, E2E_BASE_URL: address })).toThrow(`LANYARD_URL is ${address}`),
  );

  it('needs an operator, or the database for one', () => {
    const E2E_BASE_URL = 'http://localhost:3000';
    expect(() => deploymentUrl({ E2E_BASE_URL })).toThrow(/E2E_OPERATOR.*DATABASE_URL/);
    expect(deploymentUrl({ E2E_BASE_URL, E2E_OPERATOR: 'operator' })).toBe('http://localhost:3000/api/v0');
  });
});

describe('settings of a deployment', () => {
  it('are fit for the suites by default', async () => {
    const lanyard = await startInProcess();
    const { key } = await lanyard.tenant();
    expect(await findUnfitSettings(lanyard.baseUrl, key, 100)).toEqual([]);
  });

  it('with which suites would fail are found, each in one line', async () => {
    const lanyard = await startInProcess({
      authenticationFailures: 5,
      headersTimeoutMs: 100,
      requestTimeoutMs: 200,
    });
    const { key } = await lanyard.tenant();
    const lines = await findUnfitSettings(lanyard.baseUrl, key);
    expect(lines).toEqual([
      expect.stringMatching(/^LANYARD_AUTHENTICATION_FAILURES is 5, /),
      expect.stringMatching(/^LANYARD_HEADERS_TIMEOUT_MS is below 2000/),
      expect.stringMatching(/^LANYARD_REQUEST_TIMEOUT_MS is below 2000/),
    ]);
    expect(lines.join('').includes('\n')).toBe(false);
  });
});
