import { setTimeout as pause } from 'node:timers/promises';
import { generateKey } from '../../../src/access/key-format';
import { openConnection, receiveAll } from '../connection';
import { isBehindProxy } from './deployment';

/** The suites fail to authenticate fewer times a minute, all from one address. */
const AUTHENTICATION_FAILURES = 300;
/** Requests of a probe that run at the same time. */
const CONCURRENCY = 20;

/** The shortest timeouts with which the suites work: some leave a request incomplete for a second. */
const MIN_TIMEOUT_MS = 2_000;

/**
 * Finds settings of a deployment with which suites would fail, from outside: its operator may have other settings.
 * @returns one line for each
 */
export async function findUnfitSettings(
  baseUrl: string,
  key: string,
  minTimeoutMs = MIN_TIMEOUT_MS,
): Promise<string[]> {
  const probes = [probeAuthenticationFailures(baseUrl)];
  if (!isBehindProxy)
    probes.push(probeProxy(baseUrl), ...TIMEOUTS.map((each) => probeTimeout(baseUrl, key, each, minTimeoutMs)));
  return (await Promise.all(probes)).filter((line) => line !== undefined);
}

async function probeAuthenticationFailures(baseUrl: string): Promise<string | undefined> {
  let sent = 0;
  let rejectedAfter: number | undefined;
  const probe = async (): Promise<void> => {
    const key = generateKey();
    while (rejectedAfter === undefined && sent < AUTHENTICATION_FAILURES) {
      const nth = sent++;
      const response = await fetch(`${baseUrl}/leads`, { headers: { 'x-api-key': key } });
      await response.arrayBuffer();
      if (response.status === 429) rejectedAfter ??= Number(response.headers.get('x-ratelimit-limit') ?? nth);
    }
  };
  await Promise.all(Array.from({ length: CONCURRENCY }, probe));
  if (rejectedAfter === undefined) return undefined;
  return (
    `LANYARD_AUTHENTICATION_FAILURES is ${rejectedAfter}, but the suites fail to authenticate up to ${AUTHENTICATION_FAILURES} ` +
    'times a minute. Leave it at its default of 3000.'
  );
}

/** A request that a proxy answers by its own rules, where Lanyard says what is wrong with it. */
const MALFORMED = 'GET /api/v0/leads HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n';

async function probeProxy(baseUrl: string): Promise<string | undefined> {
  const socket = openConnection(baseUrl);
  socket.write(MALFORMED);
  const response = await receiveAll(socket);
  return response.includes('{"status":400,"error":"Bad Request"}')
    ? undefined
    : 'A proxy answers malformed requests in place of Lanyard. Set E2E_BEHIND_PROXY=1 to skip the tests of them.';
}

/** Requests of which the rest never comes, so that only a timeout ends them. */
const TIMEOUTS = [
  { setting: 'LANYARD_HEADERS_TIMEOUT_MS', rest: '' },
  { setting: 'LANYARD_REQUEST_TIMEOUT_MS', rest: 'Content-Type: application/json\r\nContent-Length: 9\r\n\r\n{' },
];

async function probeTimeout(
  baseUrl: string,
  key: string,
  { setting, rest }: (typeof TIMEOUTS)[number],
  minTimeoutMs: number,
): Promise<string | undefined> {
  const socket = openConnection(baseUrl);
  socket.write(`POST /api/v0/leads HTTP/1.1\r\nHost: a\r\nx-api-key: ${key}\r\n${rest}`);
  const isEnded = await Promise.race([receiveAll(socket).then(() => true), pause(minTimeoutMs, false)]);
  socket.destroy();
  return isEnded ? `${setting} is below ${minTimeoutMs}. Leave it at its default.` : undefined;
}
