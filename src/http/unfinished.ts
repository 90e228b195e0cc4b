import type { Request, Response } from 'express';

/** bytes, after decompression */
export const LARGEST_BODY = 1_048_576;

/** Bytes of unfinished bodies that may be held in a process. */
const MOST = 64 << 20;

interface Unfinished {
  readonly organization: number | undefined;
  readonly giveUp: () => void;
  bytes: number;
}

/**
 * Bodies that have not come whole yet. They are in memory, which is everybody's: when they are too many bytes together, the
 * oldest one of the organization that holds most is given up, so that nobody loses a body to who holds more.
 */
export class UnfinishedBodies {
  private bytes = 0;
  /** in the order in which they began */
  private readonly bodies = new Set<Unfinished>();
  private readonly bytesOf = new Map<number | undefined, number>();

  constructor(private readonly most = MOST) {}

  /**
   * To be told of every body that is collected; most have come whole by then.
   * @returns what is to be told of each byte more that is held of it
   */
  watch(request: Request, response: Response, giveUp: () => void): (bytes: number) => void {
    const body = { organization: request.caller?.organizationId, giveUp, bytes: 0 };
    const forget = (): void => this.forget(body);
    // One whose client has gone before it is read closes no more.
    if (!request.complete && !request.destroyed) this.bodies.add(body);
    request.once('close', forget);
    // A body is told nothing more once its request has been answered.
    response.once('close', forget);
    return (bytes) => this.add(body, bytes);
  }

  private add(body: Unfinished, bytes: number): void {
    if (!this.bodies.has(body)) return;
    this.count(body, bytes);
    while (this.bytes > this.most) {
      const [most] = [...this.bytesOf].reduce((one, other) => (other[1] > one[1] ? other : one));
      const oldest = [...this.bodies].find(({ organization }) => organization === most) as Unfinished;
      this.forget(oldest);
      oldest.giveUp();
    }
  }

  private forget(body: Unfinished): void {
    if (this.bodies.delete(body)) this.count(body, -body.bytes);
  }

  private count(body: Unfinished, bytes: number): void {
    const all = (this.bytesOf.get(body.organization) ?? 0) + bytes;
    if (all === 0) this.bytesOf.delete(body.organization);
    else this.bytesOf.set(body.organization, all);
    body.bytes += bytes;
    this.bytes += bytes;
  }
}
