import { Injectable } from '@nestjs/common';

/** The clock of retries and waits, which tests move. */
@Injectable()
export class WebhookClock {
  now = (): Date => new Date();
}
