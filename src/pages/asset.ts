import { createHash } from 'node:crypto';
import { promisify } from 'node:util';
import { gunzip, gzip } from 'node:zlib';
import type { Request, Response } from 'express';

/** A static file in memory, compressed: less memory, and what nearly every client asks for. */
export class Asset {
  private constructor(
    private readonly type: string,
    private readonly etag: string,
    private readonly compressed: Buffer,
  ) {}

  static async of(type: string, content: Buffer | string): Promise<Asset> {
    const version = createHash('sha256').update(content).digest('base64url').slice(0, 16);
    // Weak: both encodings share it.
    return new Asset(type, `W/"${version}"`, await promisify(gzip)(content));
  }

  /** Sends 200, or 304 to a client that has it, which asks each time. A client without gzip gets it uncompressed. */
  async send(request: Request, response: Response, headers: Record<string, string> = {}): Promise<void> {
    const takesGzip = Boolean(request.acceptsEncodings('gzip'));
    const body = takesGzip ? this.compressed : await promisify(gunzip)(this.compressed);
    response.set({ 'Content-Type': this.type, 'Cache-Control': 'no-cache', ETag: this.etag, ...headers });
    response.vary('Accept-Encoding');
    if (takesGzip) response.set('Content-Encoding', 'gzip');
    response.send(body);
  }
}
