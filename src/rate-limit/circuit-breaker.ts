const ERRORS_TO_OPEN = 3;
const PROBE_INTERVAL = 1_000;

/** Keeps requests from a service that fails: open after 3 errors in a row, then one probe a second, closed by success. */
export class CircuitBreaker {
  private errors = 0;
  private nextProbe = 0;

  /** @param clock milliseconds that never go back */
  constructor(private readonly clock: () => number = () => performance.now()) {}

  get isOpen(): boolean {
    return this.errors >= ERRORS_TO_OPEN;
  }

  /** Whether a call may go out now. Each true answer of an open breaker is the probe of its second. */
  allows(): boolean {
    if (!this.isOpen) return true;
    if (this.clock() < this.nextProbe) return false;
    this.nextProbe = this.clock() + PROBE_INTERVAL;
    return true;
  }

  /** @returns whether this closed the breaker */
  succeeded(): boolean {
    const wasOpen = this.isOpen;
    this.errors = 0;
    return wasOpen;
  }

  /** @returns whether this opened the breaker */
  failed(): boolean {
    if (this.isOpen) return false;
    this.errors += 1;
    if (!this.isOpen) return false;
    this.nextProbe = this.clock() + PROBE_INTERVAL;
    return true;
  }
}
