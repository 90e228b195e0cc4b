import type { Request } from 'express';

/** Maximum size of a body in bytes, after decompression. */
export const MAX_BODY_BYTES = 1_048_576;

/** Maximum total size in bytes of all partially received bodies of the process. */
const MAX_PARTIAL_BYTES = 64 << 20;

/** A body of which a part has arrived. */
interface PartialBody {
  readonly organizationId: number | undefined;
  /** Frees the bytes of the body and responds to its request. */
  readonly drop: () => void;
  bytes: number;
}

/**
 * Partially received bodies share a memory limit. Over it, the oldest body of the organization that holds most is dropped,
 * so that one that sends little loses nothing to one that sends much.
 */
export class BodyMemoryLimit {
  private bytes = 0;
  /** The partially received bodies, the oldest first. */
  private readonly bodies = new Set<PartialBody>();

  constructor(private readonly max = MAX_PARTIAL_BYTES) {}

  add({ caller }: Pick<Request, 'caller'>, drop: () => void): PartialBody {
    const body = { organizationId: caller?.organizationId, drop, bytes: 0 };
    this.bodies.add(body);
    return body;
  }

  /** Counts that many bytes more, and may drop bodies, this one too. */
  hold(body: PartialBody, bytes: number): void {
    if (!this.bodies.has(body)) return;
    body.bytes += bytes;
    this.bytes += bytes;
    while (this.bytes > this.max) {
      const oldest = this.oldestOfLargest();
      this.release(oldest);
      oldest.drop();
    }
  }

  /** The body is complete, or broken off. */
  release(body: PartialBody): void {
    if (this.bodies.delete(body)) this.bytes -= body.bytes;
  }

  private oldestOfLargest(): PartialBody {
    const held = new Map<number | undefined, number>();
    for (const { organizationId: id, bytes } of this.bodies) held.set(id, (held.get(id) ?? 0) + bytes);
    const most = Math.max(...held.values());
    return [...this.bodies].find(({ organizationId: id }) => held.get(id) === most) as PartialBody;
  }
}
