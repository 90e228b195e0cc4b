import { attempt, Attempt, Grammar } from './attempt';
import { Lane, Outcome } from './lane';
import { changedTables, State } from './state';

export interface Target {
  host: string;
  port: number;
  grammar: Grammar;
  state: State;
}

/** connections that are used at a time */
const LANES = 24;
/** faults of which the whole request is kept */
const SHOWN = 20;

export interface Fault {
  index: number;
  labels: string[];
  fault: string;
  sent: string;
}

/** Sends attempts, and keeps what came of them. */
export class Campaign {
  /** requests, of which a pipeline has many */
  requests = 0;
  answers = 0;
  /** how often each status came, by what was wrong with the request */
  readonly table = new Map<string, Map<string, number>>();
  readonly unanswered = new Map<string, number>();
  readonly faults: Fault[] = [];
  faultCount = 0;
  changes = 0;
  private next = 0;
  private digest: string | undefined;

  constructor(
    private readonly target: Target,
    private readonly onFault: (fault: Fault) => void = () => undefined,
  ) {}

  /** Sends until at least so many requests were made, and then looks whether a row has changed. */
  async until(requests: number): Promise<void> {
    const { state } = this.target;
    const before = (this.digest ??= await state.digest());
    const from = this.next;
    await Promise.all(Array.from({ length: LANES }, () => this.drive(requests)));
    await this.settle();
    const after = await state.digest();
    if (after !== before) await this.blame(from, this.next, before, after);
  }

  private async drive(requests: number): Promise<void> {
    const lane = new Lane(this.target.host, this.target.port);
    while (this.requests < requests) {
      const sent = attempt(this.target.grammar, this.next++);
      this.requests += Math.max(1, sent.answers.length);
      this.count(await lane.send(sent));
    }
    lane.close();
  }

  /** What clients that went away have asked for may still be under way; these requests come after it. */
  private async settle(): Promise<void> {
    const { host, port, grammar } = this.target;
    const headers = { 'x-api-key': grammar.world.keys.valid };
    for (let count = 0; count < 20; count++) await fetch(`http://${host}:${port}/api/v0/leads`, { headers });
  }

  private count({ attempt: sent, statuses, unanswered, fault }: Outcome): void {
    this.answers += statuses.length;
    const heads = unanswered === undefined ? statuses.map(String) : [...statuses.map(String), 'none'];
    for (const label of new Set(sent.labels)) {
      const row = this.table.get(label) ?? new Map<string, number>();
      for (const status of heads) row.set(status, (row.get(status) ?? 0) + 1);
      this.table.set(label, row);
    }
    if (unanswered !== undefined) this.unanswered.set(unanswered, (this.unanswered.get(unanswered) ?? 0) + 1);
    if (fault !== undefined) this.keep(sent, fault);
  }

  private keep(sent: Attempt, fault: string): void {
    this.faultCount++;
    const isAlike = (each: Fault): boolean => each.fault === fault && each.labels.at(-1) === sent.labels.at(-1);
    if (this.faults.length >= SHOWN || this.faults.filter(isAlike).length > 1) return;
    const bytes = Buffer.concat(sent.pieces).toString('latin1');
    const short = bytes.length > 4000 ? `${bytes.slice(0, 2000)} … ${bytes.slice(-2000)}` : bytes;
    const kept = { index: sent.index, labels: sent.labels, fault, sent: JSON.stringify(short) };
    this.faults.push(kept);
    this.onFault(kept);
  }

  /** Names the requests that changed something, by sending halves again on rows that are as they were. */
  private async blame(from: number, to: number, before: string, after: string): Promise<void> {
    const { state, grammar } = this.target;
    const found = this.changes;
    await this.halve(from, to, before);
    await state.restore();
    if (this.changes > found) return;
    this.changes++;
    const first = attempt(grammar, from);
    this.keep(first, `changed ${changedTables(before, after)}: one of ${from} to ${to}, but none alone`);
  }

  private async halve(from: number, to: number, before: string): Promise<void> {
    const { state, host, port, grammar } = this.target;
    await state.restore();
    const lane = new Lane(host, port);
    for (let index = from; index < to; index++) await lane.send(attempt(grammar, index));
    lane.close();
    await this.settle();
    const now = await state.digest();
    if (now === before) return;
    if (to - from === 1) {
      this.changes++;
      this.keep(attempt(grammar, from), `changed ${changedTables(before, now)}`);
      return;
    }
    const middle = Math.floor((from + to) / 2);
    await this.halve(from, middle, before);
    await this.halve(middle, to, before);
  }
}
