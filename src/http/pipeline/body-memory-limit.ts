import type { Request } from 'express';
import { LinkedList, type LinkedEntry } from '../../data/database/linked-list';

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
  private readonly bodies = new LinkedList<PartialBody>();

  constructor(private readonly max = MAX_PARTIAL_BYTES) {}

  add({ caller }: Pick<Request, 'caller'>, drop: () => void): LinkedEntry<PartialBody> {
    return this.bodies.add({ organizationId: caller?.organizationId, drop, bytes: 0 });
  }

  /** Counts that many bytes more, and may drop bodies, this one too. */
  hold(body: LinkedEntry<PartialBody>, bytes: number): void {
    if (!body.isListed) return;
    body.value.bytes += bytes;
    this.bytes += bytes;
    while (this.bytes > this.max) {
      const oldest = this.oldestOfLargest();
      this.release(oldest);
      oldest.value.drop();
    }
  }

  /** The body is complete, or broken off. */
  release(body: LinkedEntry<PartialBody>): void {
    if (this.bodies.remove(body)) this.bytes -= body.value.bytes;
  }

  private oldestOfLargest(): LinkedEntry<PartialBody> {
    const held = new Map<number | undefined, number>();
    for (const { organizationId: id, bytes } of this.bodies) held.set(id, (held.get(id) ?? 0) + bytes);
    const most = Math.max(...held.values());
    let oldest = this.bodies.first;
    while (oldest && held.get(oldest.value.organizationId) !== most) oldest = oldest.next;
    return oldest as LinkedEntry<PartialBody>;
  }
}
