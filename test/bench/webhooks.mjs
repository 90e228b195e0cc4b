// npm run bench webhooks: what idle webhooks cost, on a quiet database and while other organizations write, and how soon a change
// is sent then.
import { once } from 'node:events';
import { createServer } from 'node:http';
import { performance } from 'node:perf_hooks';
import { setTimeout as pause } from 'node:timers/promises';
import { NestFactory } from '@nestjs/core';
import { answerOf, cpuMeter, fixed, median, print, request } from './load.mjs';
import { LANYARD, makeOrganization, readOptions, run, startServer, startServices } from '../../scripts/services.mjs';

const options = readOptions({
  webhooks: { type: 'string', default: '1000' },
  seconds: { type: 'string', default: '20' },
  changes: { type: 'string', default: '20' },
});

/** Percent of a core that the webhooks may cost, and milliseconds within which a change must be sent. */
const MAX_CPU = 5;
const MAX_MS = 2000;
const WRITE_INTERVAL_MS = 100;
const PATIENCE_MS = 120_000;
const LEAD = { createdByEmail: 'booth@example.com', firstName: 'Ada', lastName: 'Late', companyName: 'Quarry Labs' };

const INSERT_LEAD = `insert into leads (organization_id, position, first_name)
  values ($1, (select list_take($1, 'leads', 1)), 'Ada')`;

async function write(url, { key }) {
  const { status, text } = await answerOf(url, request(url, key, '/leads', 'POST', LEAD));
  if (status !== 200) throw new Error(`POST /leads: ${status} ${text}`);
}

/** Percent of a core that the server and PostgreSQL take while `work` runs again and again. */
async function measure(meter, pid, work) {
  const before = await meter(pid);
  const started = performance.now();
  while (performance.now() - started < options.seconds * 1000) {
    await work();
    await pause(WRITE_INTERVAL_MS);
  }
  const after = await meter(pid);
  const percent = (name) => ((after[name] - before[name]) / (performance.now() - started)) * 100;
  return { node: percent('node'), postgres: percent('postgres') };
}

async function createWebhooks({ environment, defer, pool }, url) {
  const load = (path) => import(`../../dist/src/${path}.js`);
  const { Config } = await load('config');
  const { OrganizationsService } = await load('access/organizations.service');
  const { OperatorModule } = await load('operator/operator.module');
  const { WebhooksService } = await load('webhooks/webhooks.service');
  const config = new Config({ databaseUrl: environment.DATABASE_URL, webhookPrivate: 'on' });
  const services = await NestFactory.createApplicationContext(OperatorModule.with(config), { logger: false });
  defer(() => services.close());
  const webhooks = services.get(WebhooksService);
  const organizations = [];
  for (let n = 0; n < options.webhooks; n++) {
    const { id } = await services.get(OrganizationsService).create(`Organization ${n}`);
    await webhooks.create(id, url, undefined, 'now');
    organizations.push(id);
  }
  const started = performance.now();
  for (let isIdle = false; !isIdle; await pause(500)) {
    const { rows } = await pool.query('select count(*)::int as count from feed_readers where moved_at is null');
    isIdle = rows[0].count === 0;
    if (performance.now() - started > PATIENCE_MS) throw new Error('the webhooks do not become idle');
  }
  return organizations;
}

/** Milliseconds from the commit of changes until they are received, one after the other. */
async function latencies({ pool }, organizations, received) {
  const times = [];
  for (let n = 0; n < options.changes; n++) {
    const organization = organizations[Math.floor(((n + 0.5) / options.changes) * organizations.length)];
    await pool.query(INSERT_LEAD, [organization]);
    const committed = performance.now();
    while (!received.has(organization)) {
      if (performance.now() - committed > PATIENCE_MS) throw new Error('a change was not sent');
      await pause(5);
    }
    times.push(received.get(organization) - committed);
    await pause(137); // so that not every change is made right after a poll
  }
  return times;
}

await run(async (defer) => {
  const services = await startServices(options, defer);
  const server = await startServer(services, LANYARD, { settings: { LANYARD_LOG_LEVEL: 'warn' } });
  const { url } = server;
  const other = await makeOrganization(services, 'Without webhooks');
  const received = new Map();
  const receiver = createServer((incoming, response) => {
    const pieces = [];
    incoming.on('data', (piece) => pieces.push(piece));
    incoming.on('end', () => {
      const { organizationId } = JSON.parse(Buffer.concat(pieces).toString());
      received.set(organizationId, performance.now());
      response.writeHead(204).end();
    });
  }).listen(0, '127.0.0.1');
  await once(receiver, 'listening');
  defer(async () => receiver.close());

  const meter = await cpuMeter(services);
  const nothing = async () => undefined;
  const writes = () => write(url, other);
  for (let n = 0; n < 50; n++) await writes();
  const before = { quiet: await measure(meter, server.pid, nothing), busy: await measure(meter, server.pid, writes) };
  const organizations = await createWebhooks(services, `http://127.0.0.1:${receiver.address().port}/`);
  await pause(3000);
  const after = { quiet: await measure(meter, server.pid, nothing), busy: await measure(meter, server.pid, writes) };
  const times = await latencies(services, organizations, received);

  const rows = ['quiet', 'busy'].map((load) => {
    const cells = [before[load], after[load]].flatMap(({ node, postgres }) => [fixed(node, 2), fixed(postgres, 2)]);
    const name = load === 'quiet' ? 'nobody writes' : 'another organization writes';
    return [name, ...cells, fixed(costOf(before[load], after[load]), 2)];
  });
  print(`${options.webhooks} idle webhooks, in percent of a core`, [
    ['', 'Node.js', 'PostgreSQL', 'Node.js, webhooks', 'PostgreSQL, webhooks', 'cost of webhooks'],
    ...rows,
  ]);
  const most = Math.max(...times);
  console.log(
    `a change is sent after ${fixed(median(times), 0)} ms (median), ${fixed(most, 0)} ms (most of ${times.length})`,
  );
  const cost = Math.max(...['quiet', 'busy'].map((load) => costOf(before[load], after[load])));
  return cost < MAX_CPU && most < MAX_MS ? 0 : 1;
});

/** What Linux does not count is NaN, and left out. */
function costOf(before, after) {
  return ['node', 'postgres'].reduce((sum, name) => sum + (after[name] - before[name] || 0), 0);
}
