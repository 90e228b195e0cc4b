import * as services from '../../scripts/services.mjs';
import { createExhibitor, leadInput } from '../support/builders';
import { type Endpoint, ENDPOINTS } from '../support/endpoints';
import { Random } from './support/random';

/**
 * Sends random requests made from openapi.json with a key of scope `capture`, which know the IDs of leads that it may not read.
 * No response may show a canary of them, and none of them may change. The same seed makes the same requests. Then the key reads
 * and patches leads of its own, one in each round, while another key writes a canary into them: the canary must stay, unseen.
 */

const { requests, rounds, seed, ...places } = services.readOptions({
  requests: { type: 'string', default: '10000' },
  rounds: { type: 'string', default: '500' },
  seed: { type: 'string', default: String((Date.now() % 1_000_000_000) + 1) },
}) as { requests: number; rounds: number; seed: number };

const CANARY = 'canary-5f1c9b';
const CANARY_EMAIL = `${CANARY}@example.com`;
const LEADS = 50;
const AT_ONCE = 20;
const METHODS: Partial<Record<Endpoint['method'], readonly string[]>> = { get: ['GET', 'HEAD'] };
const HEADERS: readonly Record<string, string>[] = [
  {},
  {},
  { prefer: 'tx=rollback' },
  { prefer: 'handling=strict' },
  { 'idempotency-key': 'one' },
  { 'x-http-method-override': 'GET' },
];

const say = (text: string): void => void process.stdout.write(`${text}\n`);

/** The parameters of lists, valid ones for most. */
const queryOf = (random: Random, leadId: string): string =>
  new URLSearchParams(
    random.some<[string, string]>(
      [
        ['limit', String(random.below(60))],
        ['offset', String(random.below(4))],
        ['email', CANARY_EMAIL],
        ['q', CANARY],
        ['leadId', leadId],
        ['resources', 'leads'],
      ],
      random.below(3),
    ),
  ).toString();

/** An organization with leads and notes that nobody else may see, and a key of scope `capture`. */
async function stocked(own: Awaited<ReturnType<typeof services.startServices>>) {
  const { dataset, lead, ids } = createExhibitor();
  const leads = Array.from({ length: LEADS }, (_, n) => ({
    ...lead,
    id: `01980000-0000-7000-8000-${String(n).padStart(12, '0')}`,
    email: n === 0 ? CANARY_EMAIL : `${n}.${CANARY_EMAIL}`,
    description: CANARY,
    remoteIds: [],
  }));
  const notes = leads.map(({ id }, n) => ({
    ...dataset.leadActivityEvents[0],
    id: `${ids.note.slice(0, -2)}${10 + n}`,
    associatedLead: id,
    eventNotes: CANARY,
  }));
  const records = Object.entries({ ...dataset, leads, leadActivityEvents: notes });
  const lines = records.flatMap(([section, all]) => all.map((record) => ({ section, record })));
  const { id, events } = await services.makeOrganization(own, 'Main', lines);
  const limits = ['--max-tokens', '9000000', '--refill-rate', '1000000'];
  const issue = async (scope: string): Promise<string> => {
    const args = ['keys', 'issue', '--organization', String(id), '--scope', scope, ...limits];
    return ((await services.operator(own, args)) as { key: string }).key;
  };
  return {
    key: await issue('capture'),
    otherKey: await issue('all'),
    leadIds: leads.map((each) => each.id),
    ids: { ...ids, event: String(Object.values(events)[0]) },
  };
}

/** How often a request of each kind to a lead of one's own succeeded, and how often it was rejected. */
const races: Record<string, number> = {};

/**
 * Three requests patch a lead of the key `capture`, and one reads it, while the key `other` writes a canary into it.
 * @returns what the key has seen or overwritten
 */
async function race(url: string, keys: Record<'capture' | 'other', string>): Promise<string[]> {
  const send = async (name: keyof typeof keys, method: string, path: string, body?: object) => {
    const headers = { 'x-api-key': keys[name], 'content-type': 'application/json' };
    const response = await fetch(`${url}${path}`, { method, headers, body: body && JSON.stringify(body) });
    return { status: response.status, text: await response.text() };
  };
  const created = await send('capture', 'POST', '/leads', leadInput());
  const path = `/leads/${(JSON.parse(created.text) as { results: { id: string } }).results.id}`;
  const patches = [1, 2, 3].map((n) => send('capture', 'PATCH', path, { jobTitle: `Buyer ${n}` }));
  const [, ...responses] = await Promise.all([
    send('other', 'PATCH', path, { jobTitle: CANARY }),
    send('capture', 'GET', path),
    ...patches,
  ]);
  const faults: string[] = [];
  for (const [n, { status, text }] of responses.entries()) {
    const kind = `${n === 0 ? 'GET' : 'PATCH'} ${status}`;
    races[kind] = (races[kind] ?? 0) + 1;
    if (text.includes(CANARY)) faults.push(`${kind} shows a canary`);
    if (![200, 403].includes(status)) faults.push(`${kind}: ${text}`);
  }
  if (!(await send('other', 'GET', path)).text.includes(CANARY)) faults.push(`A canary was overwritten`);
  return faults;
}

async function main(defer: (undo: () => Promise<unknown>) => void): Promise<number> {
  const own = await services.startServices(places, defer);
  const { url } = await services.startServer(own, services.LANYARD);
  const { key, otherKey, leadIds, ids } = await stocked(own);
  const stored = async (): Promise<string> => {
    const text = `select json_agg(l order by id)::text as all from leads l where description = $1`;
    return (await own.pool.query<{ all: string }>(text, [CANARY])).rows[0]?.all ?? '';
  };
  const before = await stored();

  const random = new Random(seed);
  const statuses: Record<string, number> = {};
  const faults: string[] = [];
  const sendOne = async (): Promise<void> => {
    const { name, method, bodies } = random.pick(ENDPOINTS);
    const leadId = random.pick(leadIds);
    const known: Record<string, string> = { ...ids, lead: leadId };
    const path = name.split(' ')[1]!.replace(/:(\w+)Id/g, (_, kind: string) => known[kind] ?? leadId);
    const content = random.pick(bodies)({ leadId, eventId: ids.event });
    const sent = random.pick(METHODS[method] ?? [method.toUpperCase()]);
    const target = `${path}?${queryOf(random, leadId)}`;
    const headers = {
      'x-api-key': key,
      ...random.pick(HEADERS),
      ...(content && { 'content-type': 'application/json' }),
    };
    const response = await fetch(`${url}${target}`, {
      method: sent,
      headers,
      body: content && JSON.stringify(content),
    });
    const text = `${JSON.stringify([...response.headers])}${await response.text()}`;
    statuses[response.status] = (statuses[response.status] ?? 0) + 1;
    if (text.includes(CANARY)) faults.push(`${sent} ${target}: ${response.status} shows a canary`);
  };
  for (let n = 0; n < requests; n += AT_ONCE) await Promise.all(Array.from({ length: AT_ONCE }, sendOne));
  if ((await stored()) !== before) faults.push('A lead of somebody else has changed');

  for (let n = 0; n < rounds; n++) faults.push(...(await race(url, { capture: key, other: otherKey })));

  faults.forEach(say);
  const isKept = faults.length === 0 && before.includes(CANARY);
  say(
    `${isKept ? 'kept' : 'BROKEN'}: ${requests} requests with a capture key (seed ${seed}): ${faults.length} faults, ${JSON.stringify(statuses)}; ` +
      `${rounds} rounds beside another key: ${JSON.stringify(races)}`,
  );
  return isKept ? 0 : 1;
}

void services.run(main);
