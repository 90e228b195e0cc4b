import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { type Ask, ask } from '../support/ask';

/** Between two requests of a writer, so that the machine has something left for the servers. */
const PACE_MS = 15;
const PATCHES_A_LEAD = 4;

/** A request as its client saw it. */
interface Seen {
  /** when the answer came */
  at: number;
  tookMs: number;
  /** 0 when there was none */
  status: number;
}

/** What a writer knows of its own lead. */
interface Written {
  id: string;
  /** its last name: exactly one lead must have it */
  marker: string;
  /** numbers of PATCHes, which count up */
  acknowledged: number;
  attempted: number;
}

/** Clients that write and remember. A lead is sent under an Idempotency-Key until it is acknowledged. */
export class Writers {
  readonly seen: Seen[] = [];
  readonly written: Written[] = [];
  private isStopping = false;
  private running: Promise<void>[] = [];
  private turn = 0;

  /** @param ports of the API processes, which every client tries in turn */
  constructor(
    private readonly ports: readonly number[],
    private readonly keys: readonly string[],
  ) {}

  start(writersAKey: number): void {
    this.isStopping = false;
    this.running = this.keys.flatMap((key) => Array.from({ length: writersAKey }, () => this.work(key)));
  }

  /** Returns when every lead is acknowledged. */
  async stop(): Promise<void> {
    this.isStopping = true;
    await Promise.all(this.running);
  }

  private async work(key: string): Promise<void> {
    while (!this.isStopping) {
      const lead = await this.create(key);
      this.written.push(lead);
      while (lead.attempted < PATCHES_A_LEAD && !this.isStopping) {
        lead.attempted++;
        const body = { jobTitle: String(lead.attempted) };
        const { status } = await this.send({ method: 'PATCH', path: `/api/v0/leads/${lead.id}`, key, body });
        if (status === 200) lead.acknowledged = lead.attempted;
      }
    }
  }

  private async create(key: string): Promise<Written> {
    const marker = randomUUID();
    const body = { createdByEmail: 'booth@example.com', firstName: 'Ada', lastName: marker, companyName: 'Cobalt' };
    const headers = { 'idempotency-key': marker };
    for (;;) {
      const answer = await this.send({ method: 'POST', path: '/api/v0/leads', key, headers, body });
      const { id } = (answer.body?.results ?? {}) as { id?: string };
      if (answer.status === 200 && id) return { id, marker, acknowledged: 0, attempted: 0 };
    }
  }

  private async send(asked: Ask) {
    const port = this.ports[this.turn++ % this.ports.length] as number;
    const answer = await ask(port, { ...asked, timeoutMs: 10_000 });
    this.seen.push({ at: performance.now(), tookMs: answer.tookMs, status: answer.status ?? 0 });
    await pause(PACE_MS);
    return answer;
  }
}
