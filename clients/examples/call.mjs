// What the examples need of a client, in plain Node.js. A TypeScript project takes clients/typescript.
// LANYARD_KEY is the API key; LANYARD_URL names another server than http://localhost:3000/api/v0.
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

/** The argument of the command line; without it, or with settings that cannot be right, the program ends here. */
export function argument(example, name) {
  const isUrl = /^https?:\/\/[^\s/?#@]+(\/[^\s?#]+)*\/api\/v0$/i.test(base) && URL.canParse(base);
  if (!process.argv[2] || !key) fail(`Usage: LANYARD_KEY=lan_… node clients/examples/${example}.mjs ${name}`, 2);
  if (!/^[!-~]+$/.test(key)) fail('LANYARD_KEY is no key: paste all of it, lan_ and the letters and digits behind', 2);
  if (!isUrl)
    fail('LANYARD_URL must begin with http:// or https:// and end with /api/v0: http://localhost:3000/api/v0', 2);
  return process.argv[2];
}

/** The JSON value of a text, which may begin with a byte order mark; undefined when it is none. */
export function parsed(text) {
  try {
    return JSON.parse(text.replace(/^\uFEFF/, ''));
  } catch {
    return undefined;
  }
}

/**
 * The body of the answer to a request. An empty bucket is waited for; what got no answer, or 5xx, is sent again until it
 * has one, a POST under the same Idempotency-Key, so that it is carried out once.
 * @param once the Idempotency-Key, when one must be known beyond this process
 * @throws Error with the `status` of the answer when it is one that sending again would not change
 */
export async function call(method, path, body, once = randomUUID()) {
  const prefer = 'handling=strict'; // a misspelt field or filter is refused, not ignored
  const headers = { 'x-api-key': key, 'content-type': 'application/json', 'idempotency-key': once, prefer };
  // The key is for this address, and a redirected POST would be a GET.
  const request = { method, headers, body: body && JSON.stringify(body), redirect: 'manual' };
  for (let tries = 0; ; tries++) {
    let status, told, fault;
    try {
      const response = await fetch(base + path, { ...request, signal: AbortSignal.timeout(30_000) });
      [status, told] = [response.status, Number(response.headers.get('retry-after'))];
      const answer = parsed(await response.text());
      if (status === 200 && answer?.status === 200 && answer.results instanceof Object) return answer;
      fault = status >= 400 && answer?.error ? answer.error : `Not an answer of Lanyard: is ${base} its address?`;
      const part = response.headers.get('lanyard-fault');
      if (part && fault === 'Bad Request') fault += `: ${part}`;
    } catch (error) {
      [status, fault] = [0, `No answer from ${base} (${error.cause?.code ?? error.message})`];
    }
    const mayPass = status === 0 || status >= 500 || [408, 409, 429].includes(status);
    if (!mayPass) throw Object.assign(new Error(`${method} ${path}: ${status} ${fault}`), { status });
    // At least what Retry-After says, and more each time, so that those who wait do not all come back at once.
    const seconds = (told || 0) + Math.random() * Math.min(30, 0.5 * 2 ** tries);
    if (status !== 429) console.error(`${fault}; sent again in ${seconds.toFixed(1)} s`);
    await pause(seconds * 1000);
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
