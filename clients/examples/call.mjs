// The client that the examples share, in plain Node.js. In TypeScript, use clients/typescript.
// LANYARD_KEY is the API key. LANYARD_URL is the address of the API, by default http://localhost:3000/api/v0.
import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';

const base = (process.env.LANYARD_URL || 'http://localhost:3000/api/v0').trim().replace(/\/+$/, '');
const key = (process.env.LANYARD_KEY ?? '').trim();

/** Ends the program with a line that says why. */
export function fail(message, status = 1) {
  console.error(message);
  return process.exit(status);
}
process.on('uncaughtException', (error) => fail(error.status === undefined ? error : error.message));

/** The argument of the command line. The program ends here if it is missing, or if a setting cannot be right. */
export function argument(example, name) {
  const isUrl = /^https?:\/\/[^\s/?#@]+(\/[^\s?#]+)*\/api\/v0$/i.test(base) && URL.canParse(base);
  if (!process.argv[2] || !key) fail(`Usage: LANYARD_KEY=lan_… node clients/examples/${example}.mjs ${name}`, 2);
  if (!/^[!-~]+$/.test(key))
    fail('LANYARD_KEY is not a key. Paste all of it: lan_ and the letters and digits that follow.', 2);
  if (!isUrl)
    fail('LANYARD_URL must begin with http:// or https:// and end with /api/v0: http://localhost:3000/api/v0', 2);
  return process.argv[2];
}

/** The JSON value of a text, which may begin with a byte order mark; undefined if it is not JSON. */
export function parsed(text) {
  try {
    return JSON.parse(text.replace(/^\uFEFF/, ''));
  } catch {
    return undefined;
  }
}

/**
 * The body of the response to a request. If the bucket is empty, the request waits. If there is no response, or a 5xx, it is sent
 * again, a POST with the same Idempotency-Key, so that it is carried out once.
 * @param idempotencyKey one that is known beyond this process, where that matters
 * @throws Error with the `status` of a response that another attempt would not change
 */
export async function call(method, path, body, idempotencyKey = randomUUID()) {
  const prefer = 'handling=strict'; // A misspelled field or filter is rejected, not ignored.
  const headers = { 'x-api-key': key, 'content-type': 'application/json', 'idempotency-key': idempotencyKey, prefer };
  // The key is for this address, and a redirected POST would become a GET.
  const request = { method, headers, body: body && JSON.stringify(body), redirect: 'manual' };
  for (let attempts = 0; ; attempts++) {
    const { status, retryAfter = 0, results, message } = await attempt(path, request);
    if (results) return results;
    const isTemporary = status === 0 || status >= 500 || [408, 409, 429].includes(status);
    if (!isTemporary) throw Object.assign(new Error(`${method} ${path}: ${status} ${message}`), { status });
    // At least what Retry-After says, and more with each attempt, so that waiting clients do not all return at once.
    const seconds = retryAfter + Math.random() * Math.min(30, 0.5 * 2 ** attempts);
    if (status !== 429) console.error(`${message}; sent again in ${seconds.toFixed(1)} s`);
    await pause(seconds * 1000);
  }
}

/** Sends a request once. The status is 0 if there was no response. */
async function attempt(path, request) {
  try {
    const response = await fetch(base + path, { ...request, signal: AbortSignal.timeout(30_000) });
    const { status, headers } = response;
    const retryAfter = Number(headers.get('retry-after'));
    const body = parsed(await response.text());
    if (status === 200 && body?.status === 200 && body.results instanceof Object) return { status, results: body };
    if (status < 400 || !body?.error)
      return { status, retryAfter, message: `Not a response of Lanyard: is ${base} its address?` };
    const reason = [headers.get('lanyard-fault'), headers.get('lanyard-fault-reason')].filter(Boolean).join(': ');
    return { status, retryAfter, message: reason ? `${body.error} (${reason})` : body.error };
  } catch (error) {
    return { status: 0, message: `No response from ${base} (${error.cause?.code ?? error.message})` };
  }
}

/** The first lead that a filter finds, `{ email }` or `{ remoteId, integrationType }`; undefined when there is none. */
export const findLead = async (filter) =>
  (await call('GET', `/leads?limit=1&${new URLSearchParams(filter)}`)).results.leads[0];

/** Creates or updates leads, 200 a request. @returns `{ outcome, lead }` of each, in their order */
export async function upsertLeads(leads, matchBy) {
  const outcomes = [];
  for (let at = 0; at < leads.length; at += 200)
    outcomes.push(await call('POST', '/leads/batch', { matchBy, leads: leads.slice(at, at + 200) }));
  return outcomes.flatMap(({ results }) => results.leads);
}
