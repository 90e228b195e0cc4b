import type { DeliveryResult } from '../../src/feed/changes/delivery-result';
import type { FeedReaderEntity } from '../../src/feed/changes/feed-reader.entity';
import type { ReaderPage } from '../../src/feed/changes/feed-readers';
import type { FeedSender } from '../../src/feed/changes/feed-sender';
import { TIMEOUT_ERROR } from '../../src/feed/webhooks/webhook-client';
import { WebhookReceivers } from '../../src/feed/webhooks/webhook-receivers';

const HANGING = 45;
const TIMEOUT_MS = 15_000;
const POLL_MS = 1_000;
const MINUTE_MS = 60_000;

beforeEach(() => jest.useFakeTimers());
afterEach(() => jest.useRealTimers());

/** A server with receivers, on the clock of the test. It delivers again, at the next poll, what has been ended for want of room. */
class Deliveries {
  private readonly hanging = new Set<string>();
  private readonly receivers = new WebhookReceivers(
    {
      send: (reader: FeedReaderEntity, _: object, __: Date, signal: AbortSignal) => this.send(reader, signal),
    } as never,
    { deliverWebhooksBy: () => undefined } as unknown as FeedSender,
  );
  /** Connections to receivers, now and at most. */
  connections = 0;
  mostConnections = 0;

  hang(reader: FeedReaderEntity): void {
    this.hanging.add(reader.id);
    void this.deliver(reader);
  }

  /** @returns how many milliseconds an attempt that is due now waits until its receiver has responded */
  async deliver(reader: FeedReaderEntity): Promise<number> {
    const due = Date.now();
    for (;;) {
      const page = { reader, phase: 'changes', changes: [], hasMore: false } as unknown as ReaderPage;
      const result = await this.receivers.inTurn(reader, () =>
        this.receivers.deliver(page, new AbortController().signal),
      );
      if (result) return Date.now() - due;
      await new Promise((resolve) => setTimeout(resolve, POLL_MS));
    }
  }

  private send({ id }: FeedReaderEntity, signal: AbortSignal): Promise<DeliveryResult> {
    this.mostConnections = Math.max(this.mostConnections, ++this.connections);
    return new Promise<DeliveryResult>((resolve) => {
      if (!this.hanging.has(id)) setTimeout(() => resolve({ status: 204 }), 50);
      setTimeout(() => resolve({ error: TIMEOUT_ERROR }), TIMEOUT_MS);
      signal.addEventListener('abort', () => resolve({ error: 'aborted' }));
    }).finally(() => this.connections--);
  }
}

/** A webhook of an organization of its own. */
const webhookOf = (organizationId: number, failures: number, lastError: string | null) =>
  ({ id: String(organizationId), organizationId, failures, lastError, cursor: '' }) as FeedReaderEntity;

describe(`${HANGING} receivers that hang`, () => {
  it.each([
    ['for the first time', 0, null],
    ['after they have failed quickly', 1, null],
    ['again', 3, TIMEOUT_ERROR],
  ])('%s, delay others whose retry is due after 5 s by less than a minute', async (_, failures, lastError) => {
    const deliveries = new Deliveries();
    for (let n = 1; n <= HANGING; n++) deliveries.hang(webhookOf(n, failures, lastError));
    await jest.advanceTimersByTimeAsync(5_000);
    const others = [46, 47, 48, 49, 50].map((n) => deliveries.deliver(webhookOf(n, 1, null)));
    const quiet = deliveries.deliver(webhookOf(51, 0, null));
    await jest.advanceTimersByTimeAsync(20 * MINUTE_MS);
    const waits = await Promise.all([...others, quiet]);
    expect(Math.max(...waits)).toBeLessThan(MINUTE_MS);
    expect(deliveries.mostConnections).toBeLessThanOrEqual(8);
    expect(deliveries.connections).toBe(0);
  });
});
