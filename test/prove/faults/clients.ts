import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { Proxy } from '../../support/servers/proxy';
import { type Answer, type Ask, ask } from '../support/ask';
import { createEvent, createLead } from './bodies';
import { formatCount } from '../support/figures';
import type { Cluster, Tenant } from './cluster';
import type { Fault, Stage } from './stage';

const EVENTS = 5;
const LEADS = 200;
const URLS = 50;
const UPSERTS_AT_ONCE = 64;

export const upserts: Fault = {
  name: 'upserts',
  promise: 'concurrent upserts in random orders',
  times: 10_000,
  async play(stage) {
    const cluster = await stage.cluster();
    const { key, organizationId } = await cluster.tenant();
    stage.canaries.watch(key);
    const make = async (asked: Ask): Promise<number | string> =>
      ((await ask(cluster.apis[0]?.port ?? 0, { ...asked, key })).body?.results as { id: number | string }).id;
    const events = await Promise.all(Array.from({ length: EVENTS }, () => make(createEvent(stage.canaries))));
    const leads = await Promise.all(Array.from({ length: LEADS }, () => make(createLead(stage.canaries))));
    let created = 0;
    await repeat(stage.times, UPSERTS_AT_ONCE, async () => {
      const answer = await ask(stage.random.pick(cluster.apis).port, { ...upsert(stage, events, leads), key });
      stage.answers.add(answer);
      if ((answer.body?.results as { created?: boolean } | undefined)?.created) created += 1;
    });
    const errors = stage.answers.countOf((what) => what !== '200');
    const broken = await upserted(cluster, organizationId, created);
    if (errors > 0) broken.push(`${errors} errors`);
    return { measured: `${stage.times} upserts, ${UPSERTS_AT_ONCE} at a time, ${errors} errors`, broken };
  },
};

/** Does something so many times, some of them at once. */
async function repeat(times: number, atOnce: number, act: () => Promise<void>): Promise<void> {
  let left = times;
  const work = async (): Promise<void> => {
    while (left-- > 0) await act();
  };
  await Promise.all(Array.from({ length: atOnce }, work));
}

/** One of few eventUrls, or some of an event's leads in a random order. */
function upsert({ random, canaries }: Stage, events: unknown[], leads: unknown[]): Ask {
  if (random.chance(0.3)) {
    const eventUrl = `https://example.org/${canaries.word}/${random.between(1, URLS)}`;
    return { method: 'POST', path: '/api/v0/industryEvents', body: { name: canaries.text(), eventUrl } };
  }
  const some = random.some(leads, random.between(1, 30));
  const eventLeads = some.map((leadId) => ({ leadId, registered: random.chance(0.5), checkedIn: random.chance(0.5) }));
  return { method: 'PUT', path: `/api/v0/events/${random.pick(events)}/leads`, body: { eventLeads } };
}

async function upserted(cluster: Cluster, organizationId: number, created: number): Promise<string[]> {
  const broken: string[] = [];
  const [found] = await cluster.postgres.query<{ rows: number; urls: number; pairs: number }>(
    `select count(*)::integer as rows, count(distinct event_url)::integer as urls,
            (select count(*)::integer from event_leads where organization_id = ${organizationId}) as pairs
       from industry_events`,
  );
  const { rows = 0, urls = 0, pairs = 0 } = found ?? {};
  if (rows !== urls || rows !== created) broken.push(`${rows} rows, ${urls} URLs, ${created} times "created"`);
  if (pairs > EVENTS * LEADS) broken.push(`${pairs} associations`);
  if (!(await cluster.check())) broken.push('operator check finds derived data that is wrong');
  return broken;
}

const RETRIES_AT_ONCE = 8;
/** Of the second request: the first one may still be running, which is answered with 409. */
const MAX_TRIES = 20;

export const lostReplies: Fault = {
  name: 'lost-replies',
  promise: 'replies lost on the way',
  times: 1000,
  async play(stage) {
    const cluster = await stage.cluster({ apis: 2 });
    const tenant = await cluster.tenant();
    stage.canaries.watch(tenant.key);
    const [first, second] = cluster.apis.map(({ port }) => port) as [number, number];
    const lossy = await Proxy.to(first, { cutsReplies: true });
    stage.defer(() => lossy.close());
    const wrong: string[] = [];
    await repeat(stage.times, RETRIES_AT_ONCE, async () => {
      // The second request reaches the same process, or another one.
      const fault = await createOnce(stage, tenant, [lossy.port, stage.random.pick([first, second])]);
      if (fault !== undefined) wrong.push(fault);
    });
    const [row] = await cluster.postgres.query<{ rows: number; emails: number }>(
      `select count(*)::integer as rows, count(distinct email)::integer as emails from leads
        where organization_id = ${tenant.organizationId}`,
    );
    const broken = wrong.slice(0, 5);
    if (row?.rows !== stage.times || row.emails !== stage.times) {
      broken.push(`${row?.rows} leads, ${row?.emails} of them different, in place of ${stage.times}`);
    }
    return {
      measured: `${formatCount(lossy.cut)} replies lost, ${wrong.length} retries without the first response`,
      broken,
    };
  },
};

/** A lead whose reply is lost, and which is sent again with its Idempotency-Key. @returns what is wrong */
async function createOnce(
  { canaries, answers }: Stage,
  { key }: Tenant,
  [lossy, port]: [lossy: number, port: number],
): Promise<string | undefined> {
  const marker = canaries.marker();
  const headers = { 'idempotency-key': `${marker}-${randomUUID()}` };
  const asked = { ...createLead(canaries, marker), key, headers, agent: false as const };
  const send = async (to: number): Promise<Answer> => {
    const answer = await ask(to, asked);
    answers.add(answer);
    return answer;
  };
  const lost = await send(lossy);
  if (lost.status) return `an answer ${lost.status} in spite of the proxy`;
  let answer = await send(port);
  for (let tries = 1; tries < MAX_TRIES && answer.status === 409; tries++) {
    await pause(50);
    answer = await send(port);
  }
  const { email } = (answer.body?.results ?? {}) as { email?: string };
  if (email !== canaries.email(marker)) return `the second answer: ${answer.status ?? answer.error}`;
  return answer.headers['idempotency-replayed'] === 'true' ? undefined : 'the second answer is not marked as a replay';
}
