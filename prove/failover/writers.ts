import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';

/** Milliseconds between two requests of a writer: there is load, and the machine has something left for the servers. */
const PACE = 15;
/** Milliseconds after which a client of ours gives up waiting. */
const PATIENCE = 10_000;

/** A request as its client saw it. */
export interface Seen {
  /** when the answer came, and how long it took, in milliseconds */
  at: number;
  took: number;
  /** 0 when there was none */
  status: number;
}

/** What a writer knows to be true of its own lead. */
interface Patched {
  id: string;
  acknowledged: number;
  attempted: number;
}

/**
 * Clients that write and remember. A lead is sent under an Idempotency-Key until it is acknowledged; its PATCHes, which
 * count up, are sent once each.
 */
export class Writers {
  readonly seen: Seen[] = [];
  /** last names of acknowledged leads: each must be there exactly once */
  readonly markers: string[] = [];
  readonly patched: Patched[] = [];
  private isStopping = false;
  private running: Promise<void>[] = [];

  /** @param urls of the API processes, which every client tries in turn */
  constructor(
    private readonly urls: readonly string[],
    private readonly keys: readonly string[],
  ) {}

  start(writersOfEach: number): void {
    this.isStopping = false;
    this.running = this.keys.flatMap((key) => Array.from({ length: writersOfEach }, () => this.write(key)));
  }

  /** Returns when everything that was begun is acknowledged. */
  async stop(): Promise<void> {
    this.isStopping = true;
    await Promise.all(this.running);
  }

  private async write(key: string): Promise<void> {
    while (!this.isStopping) {
      const marker = randomUUID();
      const lead: Patched = { id: await this.create(key, marker), acknowledged: 0, attempted: 0 };
      this.markers.push(marker);
      this.patched.push(lead);
      for (let i = 0; i < 4 && !this.isStopping; i++) {
        lead.attempted++;
        const { status } = await this.send(key, 'PATCH', `/leads/${lead.id}`, { jobTitle: String(lead.attempted) });
        if (status === 200) lead.acknowledged = lead.attempted;
        await pause(PACE);
      }
    }
  }

  private async create(key: string, marker: string): Promise<string> {
    const body = { createdByEmail: 'booth@example.com', firstName: 'Ada', lastName: marker, companyName: 'Cobalt' };
    for (;;) {
      const { status, id } = await this.send(key, 'POST', '/leads', body, { 'idempotency-key': marker });
      await pause(PACE);
      if (status === 200 && id) return id;
    }
  }

  private turn = 0;

  private async send(
    key: string,
    method: string,
    path: string,
    body: object,
    more = {},
  ): Promise<{ status: number; id?: string }> {
    const begun = performance.now();
    const headers = { 'x-api-key': key, 'content-type': 'application/json', ...more };
    const url = `${this.urls[this.turn++ % this.urls.length]}${path}`;
    const signal = AbortSignal.timeout(PATIENCE);
    let answer: { status: number; id?: string } = { status: 0 };
    try {
      const response = await fetch(url, { method, headers, signal, body: JSON.stringify(body) });
      const { results } = (await response.json()) as { results?: { id: string } };
      answer = { status: response.status, id: results?.id };
    } catch {
      // No answer is an answer too: 0.
    }
    const at = performance.now();
    this.seen.push({ at, took: at - begun, status: answer.status });
    return answer;
  }
}
