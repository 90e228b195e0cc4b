import { isDeepStrictEqual } from 'node:util';
import { type Attempt, attempt, exchange, type Grammar } from './exchange';

const CONNECTIONS = 24;
/** Faults of which the request is kept. */
const KEPT = 20;
/** Requests between two looks at the rows. */
const BATCH = 500;

interface Fault {
  index: number;
  label: string;
  fault: string;
  sent: string;
}

/** Sends attempts, and counts what came of them. */
export class Campaign {
  requests = 0;
  answers = 0;
  readonly faults: Fault[] = [];
  faultCount = 0;
  /** batches after which a row had changed */
  changes = 0;
  private next = 0;
  private rows: Record<string, unknown> | undefined;

  /**
   * @param port of a server on this machine
   * @param everyRow of every table of its database
   */
  constructor(
    private readonly port: number,
    private readonly grammar: Grammar,
    private readonly everyRow: () => Promise<Record<string, unknown>>,
  ) {}

  /** Sends until at least so many requests were made. */
  async until(requests: number): Promise<void> {
    while (this.requests < requests) {
      const before = (this.rows ??= await this.everyRow());
      const from = this.next;
      const end = Math.min(requests, this.requests + BATCH);
      await Promise.all(Array.from({ length: CONNECTIONS }, () => this.send(end)));
      await this.settle();
      const after = (this.rows = await this.everyRow());
      const changed = Object.keys(after).filter((table) => !isDeepStrictEqual(before[table], after[table]));
      if (changed.length === 0) continue;
      this.changes++;
      this.keep(attempt(this.grammar, from), `one of ${from} to ${this.next - 1} changed ${changed.join(', ')}`);
    }
  }

  private async send(end: number): Promise<void> {
    while (this.requests < end) {
      const sent = attempt(this.grammar, this.next++);
      this.requests += Math.max(1, sent.answers.length);
      const { statuses, fault } = await exchange(this.port, sent);
      this.answers += statuses.length;
      if (fault !== undefined) this.keep(sent, fault);
    }
  }

  /** What clients that went away asked for may still be running; these requests come after it. */
  private async settle(): Promise<void> {
    const headers = { 'x-api-key': this.grammar.world.keys.valid };
    for (let count = 0; count < 20; count++) await fetch(`http://127.0.0.1:${this.port}/api/v0/leads`, { headers });
  }

  private keep({ index, label, bytes }: Attempt, fault: string): void {
    this.faultCount++;
    const sent = JSON.stringify(bytes.toString('latin1').slice(0, 4000));
    if (this.faults.length < KEPT) this.faults.push({ index, label, fault, sent });
  }
}
