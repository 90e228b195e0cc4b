import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { eventInput, leadInput } from '../../support/builders';
import { ApiClient } from '../../support/client';
import { complaints, Follower } from '../feed/follower';
import { type Answer, ask } from '../support/ask';
import { percentile, seconds } from '../support/figures';
import { runOperator } from '../support/operator';
import type { Cluster, Tenant } from './cluster';
import type { Fault, Stage } from './stage';

const CREATES_PER_SECOND = 20;
const BATCH_SIZE = 50;
const MAX_P99_MS = 1000;

/** A booth that captures leads: it waits for no response before it sends the next request. */
class Booth {
  readonly responses: Record<string, Answer[]> = {};
  private readonly leads: string[] = [];
  private readonly pending: Promise<unknown>[] = [];
  private isOpen = true;

  constructor(
    private readonly port: number,
    private readonly key: string,
    private readonly event: number,
    /** The address of a lead that the file has, too. */
    private readonly importedEmail: (n: number) => string,
  ) {}

  async open(): Promise<void> {
    for (let n = 0; this.isOpen; n++) {
      this.send('POST', '/leads', leadInput({ email: `booth${n}@example.com` }));
      const [patched, associated, deleted] = [this.leads.at(-1), this.leads.at(-2), this.leads[n / 10]];
      if (n % CREATES_PER_SECOND === 0) this.send('POST', '/leads/batch', { matchBy: 'email', leads: this.batch(n) });
      if (n % 5 === 1 && patched) this.send('PATCH', `/leads/${patched}`, { jobTitle: `Buyer ${n}` });
      const entry = { leadId: associated, registered: true, checkedIn: true };
      if (n % 5 === 2 && associated) this.send('PUT', `/events/${this.event}/leads`, { eventLeads: [entry] });
      if (n % 20 === 10 && deleted) this.send('DELETE', `/leads/${deleted}`);
      await pause(1000 / CREATES_PER_SECOND);
    }
  }

  async close(): Promise<Record<string, Answer[]>> {
    this.isOpen = false;
    await Promise.all(this.pending);
    return this.responses;
  }

  private batch(n: number): object[] {
    const emails = Array.from({ length: BATCH_SIZE }, (_, entry) =>
      entry < 5 ? this.importedEmail(n + entry) : `batch${n}.${entry}@example.com`,
    );
    return emails.map((email) => leadInput({ email }));
  }

  private send(method: string, path: string, body?: object): void {
    const sending = ask(this.port, { method, path: `/api/v0${path}`, key: this.key, body }).then((answer) => {
      const kind = `${method} ${path
        .split('/')
        .pop()
        ?.replace(/^[\da-f-]{36}$/, 'lead')}`;
      (this.responses[kind] ??= []).push(answer);
      if (kind === 'POST leads' && answer.body) this.leads.push((answer.body.results as { id: string }).id);
    });
    this.pending.push(sending);
  }
}

/** Imports a file of leads, half of which are stored already in the second round, while a booth is open. */
async function importBeside(stage: Stage, cluster: Cluster, tenant: Tenant, round: number) {
  const { directory, answers, random, times } = stage;
  const port = cluster.apis[0]?.port ?? 0;
  const client = new ApiClient(`http://127.0.0.1:${port}/api/v0`, tenant.key);
  const { id: eventId } = (await client.post('/events', eventInput())).body.results;
  const first = (round * times) / 2;
  const row = (_: unknown, n: number) =>
    `file${first + n}@example.com,Ada,Rowe ${round},Cobalt Systems,+44 20 7946 ${n},a;b,${eventId}`;
  const file = join(directory, `round-${round}.csv`);
  writeFileSync(
    file,
    ['email,firstName,lastName,company,phone,keywords,events', ...Array.from({ length: times }, row)].join('\n'),
  );
  const follower = new Follower(client, random, { name: 'a replica', limit: () => 100, pauseMs: 200 });
  // Without --match an import creates a lead for each row, whatever the booth has captured before.
  const sharedEmail = (n: number) => (round === 0 ? `none${n}` : `file${first + times - 1 - n}`) + '@example.com';
  const booth = new Booth(port, tenant.key, eventId, sharedEmail);
  follower.start();
  stage.defer(() => booth.close());
  void booth.open();
  const args = ['import', file, '--organization', String(tenant.organizationId), '--csv', 'leads'];
  const started = performance.now();
  const matching = round === 0 ? [] : ['--match', 'email'];
  await runOperator(cluster.postgres.url(), [...args, '--ignore-unknown', ...matching]);
  const took = performance.now() - started;
  const responses = await booth.close();
  await follower.catchUp();
  const broken = await complaints(client, [follower]);
  const figures = Object.entries(responses).map(([kind, all]) => {
    for (const answer of all) answers.add(answer);
    const times = all.map(({ tookMs }) => tookMs);
    const p99 = percentile(times, 0.99);
    const failed = all.filter(({ status }) => status !== 200).length;
    if (failed > 0 || p99 > MAX_P99_MS) broken.push(`${kind}: ${failed} of ${all.length} failed, p99 ${seconds(p99)}`);
    return { kind, text: `${kind} ${seconds(p99)} and ${seconds(Math.max(...times))}` };
  });
  const parts = figures.map(({ text }) => text).join(', ');
  return { broken, measured: `${round === 0 ? 'without' : 'with'} --match email in ${seconds(took)}: ${parts}` };
}

export const importBesideBooth: Fault = {
  name: 'import',
  promise: 'a booth beside an import of leads',
  times: 100_000,
  async play(stage) {
    const cluster = await stage.cluster({ apis: 1 });
    const tenant = await cluster.tenant();
    const rounds = [await importBeside(stage, cluster, tenant, 0), await importBeside(stage, cluster, tenant, 1)];
    const broken = rounds.flatMap((round) => round.broken);
    const doubles = await cluster.postgres.query(
      `select lower(email) from leads where email like 'file%' group by 1 having count(*) > 1`,
    );
    if (doubles.length > 0) broken.push('addresses with two leads');
    if (!(await cluster.check())) broken.push('operator check finds derived data that is wrong');
    return {
      measured: `p99 and slowest, ${rounds.map(({ measured }) => measured).join('; ')}; ${doubles.length} doubles`,
      broken,
    };
  },
};
