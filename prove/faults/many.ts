import { setTimeout as pause } from 'node:timers/promises';
import { ApiKeysService } from '../../src/access/api-keys.service';
import { Burst } from './burst';
import type { Api, Cluster } from './cluster';
import { type Answer, ask } from './http';
import type { Random } from './random';
import { seconds } from './report';
import type { Fault, Played, Stage } from './stage';

const PROCESSES = 4;
const REQUESTS_A_PROCESS = 250;
/** The specification's defaults. */
const DEFAULTS = { maxTokens: 20, refillRate: 1 };
/** Rounds that took so long that a token came back are played again, at most so many times the count. */
const PATIENCE = 3;

export const oneKey: Fault = {
  name: 'one-key',
  promise: 'one default key on four processes',
  times: 200,
  async play(stage: Stage) {
    const cluster = await stage.cluster({ apis: PROCESSES });
    const keys = await cluster.tenants(stage.times * PATIENCE, DEFAULTS);
    const bursts = cluster.apis.map(({ port }) => new Burst(port, REQUESTS_A_PROCESS));
    stage.defer(() => bursts.forEach((burst) => burst.end()));
    const answers = new Map<string, number>();
    const admitted: number[] = [];
    let slow = 0;
    for (const { key } of keys) {
      if (admitted.length === stage.times) break;
      await Promise.all(bursts.map((burst) => burst.connect()));
      const begun = performance.now();
      const statuses = (await Promise.all(bursts.map((burst) => burst.fire('/api/v0/tagGroups', key)))).flat();
      const took = performance.now() - begun;
      for (const status of statuses) answers.set(status, (answers.get(status) ?? 0) + 1);
      const successes = statuses.filter((status) => status === '200').length;
      // In a second a token comes back, which somebody may rightly have taken.
      if (took * DEFAULTS.refillRate < 1000) admitted.push(successes);
      else slow += 1;
    }
    const exact = admitted.filter((count) => count === DEFAULTS.maxTokens).length;
    const unlike = [...new Set(admitted.filter((count) => count !== DEFAULTS.maxTokens))].join(', ');
    const others = [...answers.keys()].filter((what) => what !== '200' && what !== '429');
    const broken = [
      ...(exact < stage.times
        ? [`exactly 20 in ${exact} of ${stage.times} rounds (else ${unlike}), ${slow} rounds took too long`]
        : []),
      ...(others.length > 0 ? [`other answers: ${others.join(', ')}`] : []),
    ];
    return { answers, measured: `exactly 20 admitted in ${exact} of ${stage.times} rounds`, broken };
  },
};

const EVENTS = 5;
const LEADS = 200;
const URLS = 50;
const AT_ONCE = 64;

export const upserts: Fault = {
  name: 'upserts',
  promise: 'concurrent upserts in random orders',
  times: 10_000,
  async play(stage: Stage) {
    const cluster = await stage.cluster();
    const { key, organizationId } = await cluster.tenant();
    stage.canaries.watch(key);
    const { events, leads } = await records(cluster, key, stage);
    const answers = new Map<string, number>();
    let created = 0;
    let left = stage.times;
    const upsert = async (): Promise<void> => {
      while (left-- > 0) {
        const answer = await upsertOne(stage.random, cluster.apis, { key, events, leads, stage });
        const what = String(answer.status ?? answer.error);
        answers.set(what, (answers.get(what) ?? 0) + 1);
        if ((answer.body?.results as { created?: boolean } | undefined)?.created) created += 1;
      }
    };
    await Promise.all(Array.from({ length: AT_ONCE }, upsert));
    const broken = await upserted(cluster, organizationId, created);
    const errors = stage.times - (answers.get('200') ?? 0);
    if (errors > 0) broken.push(`${errors} errors`);
    return { answers, measured: `${stage.times} upserts, ${AT_ONCE} at a time, ${errors} errors`, broken };
  },
};

interface Records {
  key: string;
  events: number[];
  leads: string[];
  stage: Stage;
}

async function records(
  cluster: Cluster,
  key: string,
  { canaries }: Stage,
): Promise<{ events: number[]; leads: string[] }> {
  const port = cluster.apis[0]?.port ?? 0;
  const make = async <T>(path: string, body: object): Promise<T> =>
    ((await ask(port, { method: 'POST', path, key, body })).body?.results as { id: T }).id;
  const common = { createdByEmail: canaries.email() };
  const event = {
    ...common,
    eventName: canaries.text(),
    eventType: 'EVENT',
    startDate: '2030-01-01',
    endDate: '2030-01-01',
  };
  const lead = { ...common, firstName: canaries.text(), lastName: canaries.text(), companyName: canaries.text() };
  return {
    events: await Promise.all(Array.from({ length: EVENTS }, () => make<number>('/api/v0/events', event))),
    leads: await Promise.all(Array.from({ length: LEADS }, () => make<string>('/api/v0/leads', lead))),
  };
}

function upsertOne(random: Random, apis: Api[], { key, events, leads, stage }: Records): Promise<Answer> {
  const { port } = random.pick(apis);
  if (random.next() < 0.3) {
    const n = random.integer(1, URLS);
    const body = { name: stage.canaries.text(), eventUrl: `https://example.org/${stage.canaries.word}/${n}` };
    return ask(port, { method: 'POST', path: '/api/v0/industryEvents', key, body });
  }
  const some = random.shuffled(leads).slice(0, random.integer(1, 30));
  const eventLeads = some.map((leadId) => ({
    leadId,
    registered: random.next() < 0.5,
    checkedIn: random.next() < 0.5,
  }));
  return ask(port, { method: 'PUT', path: `/api/v0/events/${random.pick(events)}/leads`, key, body: { eventLeads } });
}

async function upserted(cluster: Cluster, organizationId: number, created: number): Promise<string[]> {
  const broken: string[] = [];
  const [urls] = await cluster.postgres.query<{ rows: number; urls: number }>(
    'select count(*)::integer as rows, count(distinct event_url)::integer as urls from industry_events',
  );
  if (urls?.rows !== urls?.urls || urls?.rows !== created) {
    broken.push(`${urls?.rows} rows, ${urls?.urls} URLs, ${created} times told "created"`);
  }
  const [pairs] = await cluster.postgres.query<{ rows: number }>(
    `select count(*)::integer as rows from event_leads where organization_id = ${organizationId}`,
  );
  if ((pairs?.rows ?? 0) > EVENTS * LEADS) broken.push(`${pairs?.rows} associations`);
  if (!(await cluster.check())) broken.push('operator check finds that what is stored is wrong');
  return broken;
}

/** Milliseconds that are promised. */
const REVOKED_WITHIN = 5_000;

export const revocation: Fault = {
  name: 'revocation',
  promise: 'revocation of a key',
  times: 10,
  async play(stage: Stage): Promise<Played> {
    const cluster = await stage.cluster();
    const answers = new Map<string, number>();
    const recovered: number[] = [];
    for (let n = 0; n < stage.times; n++) recovered.push(await revoke(cluster, stage, answers));
    const slowest = Math.max(...recovered);
    const broken = slowest > REVOKED_WITHIN ? [`403 after ${seconds(slowest)}`] : [];
    return { answers, recovered, measured: `${stage.times} keys on ${cluster.apis.length} processes`, broken };
  },
};

/** A key that all processes have just seen is revoked. @returns milliseconds until all of them refuse it */
async function revoke(cluster: Cluster, { canaries, random }: Stage, answers: Map<string, number>): Promise<number> {
  const { keyId, key } = await cluster.tenant();
  canaries.watch(key);
  let revoked = Infinity;
  const refused = cluster.apis.map(async ({ port }) => {
    for (;;) {
      const { status, error } = await ask(port, { method: 'GET', path: '/api/v0/tagGroups', key });
      const what = String(status ?? error);
      answers.set(what, (answers.get(what) ?? 0) + 1);
      if (status === 403 || performance.now() - revoked > 2 * REVOKED_WITHIN) return performance.now() - revoked;
      await pause(20);
    }
  });
  await pause(random.integer(200, 5_000));
  await cluster.asOperator((dataSource) => {
    revoked = performance.now();
    return new ApiKeysService(dataSource.manager).revoke(keyId);
  });
  return Math.max(0, ...(await Promise.all(refused)));
}
