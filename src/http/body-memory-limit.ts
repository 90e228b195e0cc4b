import type { Request } from 'express';

/** of a body, after decompression */
export const MAX_BODY_BYTES = 1_048_576;

/** of all partially received bodies of the process */
const MAX_PARTIAL_BYTES = 64 << 20;

interface PartialBody {
  readonly organizationId: number | undefined;
  readonly drop: () => void;
  bytes: number;
}

/**
 * Partially received bodies share a memory limit. Over it, the oldest body of the organization that holds most is dropped,
 * so that one that sends little loses nothing to one that sends much.
 */
export class BodyMemoryLimit {
  private bytes = 0;
  /** oldest first */
  private readonly bodies = new Set<PartialBody>();
  private readonly bytesOf = new Map<number | undefined, number>();

  constructor(private readonly max = MAX_PARTIAL_BYTES) {}

  /** @param drop lets go of the body's bytes and answers its request */
  add({ caller }: Pick<Request, 'caller'>, drop: () => void) {
    const body: PartialBody = { organizationId: caller?.organizationId, drop, bytes: 0 };
    this.bodies.add(body);
    return {
      /** counts that many bytes more, and may drop bodies, this one too */
      hold: (bytes: number): void => this.hold(body, bytes),
      /** the body is complete, or broken off */
      release: (): void => this.release(body),
    };
  }

  private hold(body: PartialBody, bytes: number): void {
    if (!this.bodies.has(body)) return;
    this.count(body, bytes);
    while (this.bytes > this.max) {
      const [largest] = [...this.bytesOf].reduce((one, other) => (other[1] > one[1] ? other : one));
      const oldest = [...this.bodies].find(({ organizationId }) => organizationId === largest) as PartialBody;
      this.release(oldest);
      oldest.drop();
    }
  }

  private release(body: PartialBody): void {
    if (this.bodies.delete(body)) this.count(body, -body.bytes);
  }

  private count(body: PartialBody, bytes: number): void {
    const total = (this.bytesOf.get(body.organizationId) ?? 0) + bytes;
    if (total === 0) this.bytesOf.delete(body.organizationId);
    else this.bytesOf.set(body.organizationId, total);
    body.bytes += bytes;
    this.bytes += bytes;
  }
}
