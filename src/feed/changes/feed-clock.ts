import { Injectable } from '@nestjs/common';

/** The clock of polls, retries and waits, which tests replace by their own. */
@Injectable()
export class FeedClock {
  pollIntervalMs = 1_000;
  now = (): Date => new Date();
}
