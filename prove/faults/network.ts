import { randomUUID } from 'node:crypto';
import { connect, type Socket } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { sendAway, type Trouble } from './away';
import type { Cluster, Tenant } from './cluster';
import { type Answer, ask } from './http';
import { untilWritten } from './killed';
import { Proxy } from './proxy';
import { seconds } from './report';
import type { Fault, Stage } from './stage';

const AT_ONCE = 8;
/** A reply that is lost again, and an answer that the first try is still under way, are met by another try. */
const TRIES = 20;

export const lostReplies: Fault = {
  name: 'lost-replies',
  promise: 'replies lost on the way',
  times: 1000,
  async play(stage: Stage) {
    const cluster = await stage.cluster({ apis: 2 });
    const tenant = await cluster.tenant();
    stage.canaries.watch(tenant.key);
    const [first, second] = await Promise.all(
      cluster.apis.map(async ({ port }) => [await Proxy.to(port, 'cut-reply'), await Proxy.to(port)] as const),
    );
    if (!first || !second) throw new Error('two processes are needed');
    stage.defer(() => [...first, ...second].forEach((proxy) => proxy.close()));
    const answers = new Map<string, number>();
    const wrong: string[] = [];
    let left = stage.times;
    const create = async (): Promise<void> => {
      while (left-- > 0) {
        // The second try reaches the same process, or another one.
        const [lossy, good] = [first[0], stage.random.pick([first[1], second[1]])];
        wrong.push(...(await createOnce(stage, tenant, { lossy, good, answers })));
      }
    };
    await Promise.all(Array.from({ length: AT_ONCE }, create));
    const broken = [...wrong.slice(0, 5), ...(await countLeads(cluster, tenant, stage.times))];
    const measured = `${first[0].cut} replies lost, ${wrong.length} not answered by the first answer`;
    return { answers, measured, broken };
  },
};

interface Way {
  lossy: Proxy;
  good: Proxy;
  answers: Map<string, number>;
}

/** A lead whose creation is acknowledged at the second try, by the same key. @returns what was wrong */
async function createOnce({ canaries }: Stage, { key }: Tenant, { lossy, good, answers }: Way): Promise<string[]> {
  const body = {
    ...{ firstName: canaries.text(), lastName: canaries.text(), companyName: canaries.text() },
    ...{ createdByEmail: canaries.email(), email: canaries.email() },
  };
  const headers = { 'idempotency-key': `${canaries.marker()}-${randomUUID()}` };
  const send = async (port: number): Promise<Answer> => {
    const answer = await ask(port, { method: 'POST', path: '/api/v0/leads', key, body, headers, close: true });
    const what = String(answer.status ?? answer.error);
    answers.set(what, (answers.get(what) ?? 0) + 1);
    return answer;
  };
  const lost = await send(lossy.port);
  if (lost.status) return [`an answer ${lost.status} in spite of the proxy`];
  let answer = await send(good.port);
  for (let n = 0; n < TRIES && (answer.status === 409 || answer.error); n++) {
    await pause(50);
    answer = await send(good.port);
  }
  const { email } = (answer.body?.results ?? {}) as { email?: string };
  if (answer.status !== 200 || email !== body.email) return [`the second try: ${answer.status ?? answer.error}`];
  return answer.headers['idempotency-replayed'] === 'true' ? [] : ['the second try is not marked as a replay'];
}

async function countLeads({ postgres }: Cluster, { organizationId }: Tenant, expected: number): Promise<string[]> {
  const [row] = await postgres.query<{ rows: number; emails: number }>(
    `select count(*)::integer as rows, count(distinct email)::integer as emails from leads
      where organization_id = ${organizationId}`,
  );
  if (row?.rows === expected && row.emails === expected) return [];
  return [`${row?.rows} leads, ${row?.emails} of them different, in place of ${expected}`];
}

export const halfOpen: Fault = {
  name: 'half-open',
  times: 2,
  async play(stage: Stage) {
    const proxies: Proxy[] = [];
    const cluster = await stage.cluster({
      through: async ({ postgres, redis }) => {
        proxies.push(await Proxy.to(postgres), await Proxy.to(redis));
        return { postgres: proxies[0]?.port ?? 0, redis: proxies[1]?.port ?? 0 };
      },
    });
    stage.defer(() => proxies.forEach((proxy) => proxy.close()));
    const [postgres, redis] = proxies as [Proxy, Proxy];
    const load = await stage.load(cluster, { workers: 32, think: 10 });
    const seen = { slowestError: 0, growth: 0, recovered: [], broken: [] };
    const blackHole: Trouble = async () => (postgres.set('black-hole'), async () => postgres.set('pass'));
    for (let n = 0; n < stage.times; n++) await sendAway(cluster, load, blackHole, seen);
    // Not those that were sent to PostgreSQL's black hole, and are still being given up.
    const since = performance.now();
    for (let n = 0; n < stage.times; n++) {
      redis.set('black-hole');
      await pause(3_000);
      redis.set('pass');
      await untilWritten(load);
    }
    const broken: string[] = seen.broken;
    const errors = load.times.filter(({ sent, failed }) => failed && sent > since).length;
    if (errors > 0) broken.push(`${errors} errors without Redis`);
    const measured = `black holes to PostgreSQL and Redis; the slowest error after ${seconds(seen.slowestError)}`;
    return { recovered: seen.recovered, measured, broken };
  },
};

/** Connections of clients that hardly move. */
const SLOW = 300;

export const slowClients: Fault = {
  name: 'slow-clients',
  times: 10,
  async play(stage: Stage) {
    const cluster = await stage.cluster({ apis: 2 });
    const load = await stage.load(cluster, { workers: 8, think: 10 });
    const { key } = load.tenants[0] as Tenant;
    const head = `POST /api/v0/leads HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n`;
    const slow: Socket[] = [];
    stage.defer(() => slow.forEach((socket) => socket.destroy()));
    const begun = performance.now();
    for (let n = 0; n < SLOW; n++) {
      const socket = connect(cluster.apis[n % 2]?.port ?? 0, '127.0.0.1');
      socket.on('error', () => undefined);
      // Half of them dribble their headers, half of them their body, and all of them never read.
      socket.write(n % 4 < 2 ? head.slice(0, 20) : `${head}Content-Length: 100000\r\nx-api-key: ${key}\r\n\r\n{`);
      slow.push(socket);
    }
    for (let n = 0; n < stage.times; n++) {
      await pause(1_000);
      for (const socket of slow) socket.write('x');
    }
    const took = load.times.filter(({ sent }) => sent > begun).map((each) => each.took);
    const p99 = took.sort((a, b) => a - b)[Math.floor(took.length * 0.99)] ?? Infinity;
    const broken = load.serverErrors > 0 ? [`${load.serverErrors} answers of 5xx`] : [];
    if (p99 > 1_000) broken.push(`p99 of the others ${p99.toFixed(0)} ms`);
    return { measured: `${SLOW} slow clients, p99 of the others ${p99.toFixed(0)} ms`, broken };
  },
};
