import { ExpressAdapter } from '@nestjs/platform-express';
import type { Response } from 'express';

/** Sends text as it is: what handlers return is JSON already, and nothing of it has to be looked at once more. */
export class TextExpressAdapter extends ExpressAdapter {
  override reply(response: Response, body: unknown, status?: number): unknown {
    if (typeof body !== 'string') return super.reply(response, body, status) as unknown;
    if (status) response.statusCode = status;
    response.setHeader('Content-Type', 'application/json; charset=utf-8');
    return response.end(body);
  }

  override status(response: Response, status: number): unknown {
    response.statusCode = status;
    return response;
  }
}
