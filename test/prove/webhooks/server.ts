import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Injectable, Module } from '@nestjs/common';
import { createApp } from '../../../src/app';
import { readConfig } from '../../../src/config';
import { type Change, type ChangesPosition, OnChanges } from '../../../src/feed/changes/on-changes';
import { FeedClock } from '../../../src/feed/changes/feed-clock';

const DIRECTORY = process.env.PROOF_DIRECTORY as string;
const TIMEOUT_MS = 10_000;

/** Sends each page to the receiver that the proof has for the organization, and throws where that misbehaves. */
@Injectable()
class Subscriber {
  @OnChanges({ name: 'copy', start: 'snapshot' })
  async send(organizationId: number, changes: Change[], { signal: stop, ...position }: ChangesPosition): Promise<void> {
    const url = readFileSync(join(DIRECTORY, `receiver-${organizationId}`), 'utf8');
    const body = JSON.stringify({ type: 'changes', organizationId, changes, ...position });
    const signal = AbortSignal.any([stop, AbortSignal.timeout(TIMEOUT_MS)]);
    const response = await fetch(url, { method: 'POST', body, redirect: 'manual', signal });
    await response.body?.cancel();
    if (!response.ok) throw new Error(`The receiver responded with ${response.status}`);
  }
}

@Module({ providers: [Subscriber] })
class SubscriberModule {}

/** The server, with a subscriber, and a clock of the waits that is ahead by the milliseconds in a file, also after a kill. */
async function main(): Promise<void> {
  const config = readConfig();
  const app = await createApp(config, undefined, { modules: [SubscriberModule] });
  const clock = join(DIRECTORY, 'clock');
  app.get(FeedClock).now = () => new Date(Date.now() + Number(readFileSync(clock, 'utf8')));
  await app.listen(config.port, config.host);
}

void main();
