import { once } from 'node:events';
import type { Command } from 'commander';
import { DEMO_RECORDS } from '../demo/demo';
import { createStopSignal } from '../../http/server/stop-signal';
import type { TestLanyard } from '../../testing/test-lanyard';
import { addCommand, parseInteger } from '../arguments';
import type { Session } from '../session';
import { SUMMARIES } from '../summaries';
import { printStatus } from '../terminal/terminal';

/** The command `sandbox`. */
export function sandboxCommand(program: Command, session: Session): void {
  addCommand(program, 'sandbox', {
    summary: SUMMARIES.sandbox,
    notes:
      'The server listens on this machine only. Its PostgreSQL is in a temporary directory, which is removed when the ' +
      'command ends (Ctrl-C); DATABASE_URL and the other settings have no effect. Requests can ask for simulated faults ' +
      'with the header Lanyard-Simulate.',
    example: 'sandbox --json',
  })
    .option('--port <PORT>', 'TCP port to listen on; default: one that is free', parseInteger('--port', 65_535), 0)
    .action(({ port }: { port: number }) => runSandbox(session, port));
}

async function runSandbox(session: Session, port: number): Promise<void> {
  const stop = createStopSignal();
  // Loaded only here: no other command needs the server.
  const { startLanyard } = module.require('../../testing/test-lanyard') as typeof import('../../testing/test-lanyard');
  const lanyard = await startLanyard({ extension: session.extension, port });
  try {
    if (!stop.aborted) await announceDemo(lanyard, session);
    if (!stop.aborted) await once(stop, 'abort');
  } finally {
    await lanyard.stop();
  }
}

async function announceDemo({ url, createOrganization }: TestLanyard, session: Session): Promise<void> {
  const organization = await createOrganization('Demo');
  await organization.import(DEMO_RECORDS);
  const { id: organizationId, key } = organization;
  const shown = `export LANYARD_URL=${url}\nexport LANYARD_KEY=${key}`;
  await session.print({ url, key, organizationId }, { shown });
  if (session.json) return;
  printStatus('Try: curl -H "x-api-key: $LANYARD_KEY" "$LANYARD_URL/leads?limit=1"');
  printStatus('Press Ctrl-C to stop the server and remove its data.');
}
