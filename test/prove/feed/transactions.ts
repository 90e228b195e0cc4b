import { Client } from 'pg';
import type { Postgres } from '../faults/postgres';
import { succeeds } from '../support/daemon';
import type { Random } from '../support/random';

/** A transaction of SQL that has changed a lead of its own, so that no request waits for it. */
interface Open {
  client: Client;
  endsAt: number;
}

/** A lead that no writer knows. */
const ADD = `insert into leads (organization_id, first_name, last_name, created_by)
  values ($1, 'Long', 'Transaction', 'long@example.com') returning id`;
const UPDATE = `update leads set job_title = $2 where id = $1`;

/** Long transactions: open ones, prepared ones, and one that is idle in another database of the server. */
export class Transactions {
  /** that ended */
  ended = 0;
  private open: Open[] = [];
  private elsewhere?: Client;
  private readonly prepared: string[] = [];

  constructor(
    private readonly postgres: Postgres,
    private readonly random: Random,
    private readonly seconds: number,
  ) {}

  /** Begins one of each organization, which end after the seconds, when `endDue` is called. @returns their last number */
  async begin(organizationIds: number[]): Promise<number> {
    const leads: string[] = [];
    // Commits come first: they write to the disk what was changed before them.
    for (const organizationId of organizationIds) leads.push(await this.add(organizationId));
    const endsAt = performance.now() + this.seconds * 1000;
    let last = 0;
    for (const lead of leads) {
      const client = await this.changed(lead);
      this.open.push({ client, endsAt });
      last = await numberOf(client);
    }
    return last;
  }

  /** Prepares one, which outlives a crash, and commits those of before. */
  async prepare(organizationId: number): Promise<void> {
    for (const name of this.prepared.splice(0)) await this.postgres.query(`commit prepared '${name}'`);
    const client = await this.changed(await this.add(organizationId));
    const name = this.random.text(12);
    await client.query(`prepare transaction '${name}'`);
    this.prepared.push(name);
    await client.end();
    this.ended++;
  }

  /** One is idle in another database, and has a number. */
  async idleElsewhere(): Promise<void> {
    if (this.elsewhere && (await succeeds(this.elsewhere.query('select 1')))) return;
    this.elsewhere = await this.connect('postgres');
    await this.elsewhere.query('begin');
    await numberOf(this.elsewhere);
  }

  /** Commits or rolls back those that have lasted long enough, or that a crash has ended. */
  async endDue(): Promise<void> {
    const due = this.open.filter(({ endsAt }) => endsAt < performance.now());
    this.open = this.open.filter((each) => !due.includes(each));
    for (const { client } of due) {
      if (await succeeds(client.query(this.random.chance(0.8) ? 'commit' : 'rollback'))) this.ended++;
      await succeeds(client.end());
    }
  }

  async stop(): Promise<void> {
    const clients = [this.elsewhere, ...this.open.map(({ client }) => client)];
    this.elsewhere = undefined;
    this.open = [];
    for (const client of clients) if (client) await succeeds(client.end());
    for (const name of this.prepared.splice(0)) await succeeds(this.postgres.query(`rollback prepared '${name}'`));
  }

  private async add(organizationId: number): Promise<string> {
    const client = await this.connect();
    const { rows } = await client.query<{ id: string }>(ADD, [organizationId]);
    await client.end();
    return rows[0]?.id ?? '';
  }

  private async changed(lead: string): Promise<Client> {
    const client = await this.connect();
    await client.query('begin');
    await client.query(UPDATE, [lead, this.random.text(5)]);
    return client;
  }

  private async connect(database?: string): Promise<Client> {
    const client = new Client({ connectionString: this.postgres.url(undefined, database) });
    client.on('error', () => undefined); // PostgreSQL is killed
    await client.connect();
    return client;
  }
}

async function numberOf(client: Client): Promise<number> {
  const { rows } = await client.query<{ xid: string }>('select pg_current_xact_id()::text as xid');
  return Number(rows[0]?.xid);
}
