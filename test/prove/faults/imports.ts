import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { eventInput, leadInput } from '../../support/builders';
import { ApiClient } from '../../support/client';
import { Deletions, Pager } from '../../support/servers/pager';
import { complaints, Follower } from '../feed/follower';
import { type Answer, ask } from '../support/ask';
import { formatCount, percentile, seconds } from '../support/figures';
import { runOperator } from '../support/operator';
import type { Random } from '../support/random';
import type { Cluster, Tenant } from './cluster';
import type { Fault, Stage } from './stage';

const CREATES_PER_SECOND = 20;
const BATCH_SIZE = 50;
/** Of a batch, how many leads are in the file, too. */
const SHARED_LEADS = 5;
/** Between two pages that a client reads. */
const PAUSE_MS = 20;
const MAX_P99_MS = 1000;

/** A booth that captures leads and looks them up: it waits for no response before it sends the next request. */
class Booth {
  readonly responses: Record<string, Answer[]> = {};
  readonly deletions = new Deletions();
  /** Addresses with two leads, or with another lead than before. */
  readonly broken: string[] = [];
  /** Leads that were found by their addresses. */
  private readonly found = new Map<string, string>();
  private readonly leads: string[] = [];
  private readonly pending: Promise<unknown>[] = [];
  private isOpen = true;

  constructor(
    private readonly port: number,
    private readonly key: string,
    private readonly event: number,
    private readonly random: Random,
    /** The address of a lead in the file. */
    private readonly fileEmail: (n: number) => string,
    /** How many leads of a batch have such an address. */
    private readonly sharedLeads: number,
  ) {}

  async open(): Promise<void> {
    for (let n = 0; this.isOpen; n++) {
      const lead = leadInput({ email: `booth${n}@example.com` });
      this.send('POST', '/leads', lead, (results) => this.leads.push((results as { id: string }).id));
      const [patched, associated, deleted] = [this.leads.at(-1), this.leads.at(-2), this.leads[n / 10]];
      if (n % CREATES_PER_SECOND === 0) this.send('POST', '/leads/batch', { matchBy: 'email', leads: this.batch(n) });
      if (n % 5 === 1 && patched) this.send('PATCH', `/leads/${patched}`, { jobTitle: `Buyer ${n}` });
      const entry = { leadId: associated, registered: true, checkedIn: true };
      if (n % 5 === 2 && associated) this.send('PUT', `/events/${this.event}/leads`, { eventLeads: [entry] });
      if (n % 20 === 10 && deleted) this.delete(deleted);
      this.find(this.fileEmail(this.random.below(n + 1)));
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
      entry < this.sharedLeads ? this.fileEmail(n + entry) : `batch${n}.${entry}@example.com`,
    );
    return emails.map((email) => leadInput({ email }));
  }

  private delete(id: string): void {
    this.deletions.ids.add(id);
    this.send('DELETE', `/leads/${id}`, undefined, () => this.deletions.answered++);
  }

  /** Whatever is imported, an address has no more than one lead, and keeps it. */
  private find(email: string): void {
    const before = this.found.get(email);
    this.send('GET', `/leads?email=${email}`, undefined, (results) => {
      const { total, leads } = results as { total: number; leads: { id: string }[] };
      const [id] = leads.map((lead) => lead.id);
      if (total > 1 || total !== leads.length || (before && before !== id)) {
        this.broken.push(`${email}: ${total} leads, ${id} after ${before}`);
      }
      if (id) this.found.set(email, id);
    });
  }

  private send(
    method: string,
    path: string,
    body?: object,
    onSuccess: (results: unknown) => void = () => undefined,
  ): void {
    const sending = ask(this.port, { method, path: `/api/v0${path}`, key: this.key, body }).then((answer) => {
      const last = path.replace(/\?.*/, '').split('/').pop();
      const kind = `${method} ${last?.replace(/^[\da-f-]{36}$/, 'lead')}`;
      (this.responses[kind] ??= []).push(answer);
      if (answer.status === 200) onSuccess(answer.body?.results);
    });
    this.pending.push(sending);
  }
}

/** Two clients that read pages of all leads, and one that reads those of the event. */
function startPagers({ random }: Stage, booth: Booth, port: number, tenant: Tenant, eventId: number): Pager[] {
  const list = (path: string, ids: string) => ({ port, key: tenant.key, path, ids });
  const leads = list('/leads', `select id from leads where organization_id = ${tenant.organizationId}`);
  const entries = list(`/events/${eventId}/leads`, `select lead_id as id from event_leads where event_id = ${eventId}`);
  const pagers = [leads, leads, entries].map((each) => new Pager(each, booth.deletions, random, PAUSE_MS));
  for (const pager of pagers) pager.start();
  return pagers;
}

/** The latencies of each kind of request, as a text. Requests that failed or took too long are added to what is broken. */
function latencies(responses: Record<string, Answer[]>, broken: string[]): string {
  const texts = Object.entries(responses).map(([kind, all]) => {
    const times = all.map(({ tookMs }) => tookMs);
    const p99 = percentile(times, 0.99);
    const failed = all.filter(({ status }) => status !== 200).length;
    if (failed > 0 || p99 > MAX_P99_MS) broken.push(`${kind}: ${failed} of ${all.length} failed, p99 ${seconds(p99)}`);
    return `${kind} ${seconds(p99)} and ${seconds(Math.max(...times))}`;
  });
  return texts.join(', ');
}

/** Imports a file of leads, half of which are stored already in the second round, while a booth is open. */
async function importBeside(stage: Stage, cluster: Cluster, tenant: Tenant, round: number) {
  const { directory, answers, random, times } = stage;
  const port = cluster.apis[0]?.port ?? 0;
  const client = new ApiClient(`http://127.0.0.1:${port}/api/v0`, tenant.key);
  const { id: eventId } = (await client.post('/events', eventInput())).body.results;
  const first = (round * times) / 2;
  const row = (_: unknown, n: number) =>
    `file${first + n}@example.com,Ada,Rowe ${round},Cobalt Systems,+44 20 7946 ${n},${eventId}`;
  const file = join(directory, `round-${round}.csv`);
  writeFileSync(
    file,
    ['email,firstName,lastName,company.name,phone,events', ...Array.from({ length: times }, row)].join('\n'),
  );
  const follower = new Follower(client, random, { name: 'a replica', limit: () => 100, pauseMs: 200 });
  // Without --match an import creates a lead for each row, whatever the booth has captured before.
  const lastEmail = (n: number) => `file${first + times - 1 - n}@example.com`;
  const booth = new Booth(port, tenant.key, eventId, random, lastEmail, round === 0 ? 0 : SHARED_LEADS);
  const pagers = startPagers(stage, booth, port, tenant, eventId);
  follower.start();
  const stop = () => Promise.all([booth.close(), ...pagers.map((pager) => pager.stop())]);
  stage.defer(stop);
  void booth.open();
  const args = ['import', file, '--organization', String(tenant.organizationId), '--csv', 'leads'];
  const started = performance.now();
  await runOperator(cluster.postgres.url(), round === 0 ? args : [...args, '--match', 'email']);
  const took = performance.now() - started;
  const [responses] = await stop();
  for (const answer of Object.values(responses).flat()) answers.add(answer);
  await follower.catchUp();
  const broken = [...booth.broken, ...(await complaints(client, [follower]))];
  for (const pager of pagers) broken.push(...(await pager.complaints((sql) => cluster.postgres.query(sql))));
  // At least half of the leads are new, but for a few that batches have created meanwhile.
  const across = pagers.reduce((sum, pager) => sum + pager.across(0.4 * times), 0);
  if (across === 0) broken.push('nobody read pages from before the commit to after it');
  const pages = pagers.reduce((sum, { walks }) => sum + walks.flat().length, 0);
  return {
    broken,
    measured:
      `${round === 0 ? 'without' : 'with'} --match email in ${seconds(took)}: ${latencies(responses, broken)}, ` +
      `${formatCount(pages)} pages of lists, ${across} walks across the commit`,
  };
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
