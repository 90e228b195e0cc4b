import { createHash } from 'node:crypto';
import { promisify } from 'node:util';
import { gunzip, gzip } from 'node:zlib';
import type { Request, Response } from 'express';

/** Bytes that are served as they are. They are kept compressed: less memory, and what nearly every client wants. */
export class Asset {
  private constructor(
    private readonly type: string,
    /** names the content: other content has another version */
    readonly version: string,
    private readonly compressed: Buffer,
  ) {}

  static async of(type: string, content: Buffer | string): Promise<Asset> {
    const version = createHash('sha256').update(content).digest('base64url').slice(0, 16);
    return new Asset(type, version, await promisify(gzip)(content));
  }

  /** Answers 200, or 304 to a client that has these bytes. A client that takes no gzip gets them plain. */
  async send(request: Request, response: Response, headers: Record<string, string>): Promise<void> {
    const takesGzip = Boolean(request.acceptsEncodings('gzip'));
    const body = takesGzip ? this.compressed : await promisify(gunzip)(this.compressed);
    // Weak, as both codings have it.
    response.set({ 'Content-Type': this.type, ETag: `W/"${this.version}"`, ...headers });
    // Beside the origin, which decides of another header.
    response.vary('Accept-Encoding');
    if (takesGzip) response.set('Content-Encoding', 'gzip');
    response.send(body);
  }
}
