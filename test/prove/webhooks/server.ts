import { readFileSync } from 'node:fs';
import { createApp } from '../../../src/app';
import { readConfig } from '../../../src/config';
import { WebhookClock } from '../../../src/webhooks/webhook-clock';

/** The server, with a clock of the waits that is ahead by the milliseconds in a file, also after it was killed. */
async function main(): Promise<void> {
  const config = readConfig();
  const app = await createApp(config);
  const clock = process.env.CLOCK_FILE as string;
  app.get(WebhookClock).now = () => new Date(Date.now() + Number(readFileSync(clock, 'utf8')));
  await app.listen(config.port, config.host);
}

void main();
