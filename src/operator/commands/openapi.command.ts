import type { Command } from 'commander';
import { Config } from '../../config';
import { openApiDocument } from '../../openapi/document';
import { addCommand } from '../arguments';
import type { Session } from '../session';
import { SUMMARIES } from '../summaries';
import { print } from '../terminal/terminal';

/** The command `openapi`. */
export function openapiCommand(program: Command, session: Session): void {
  addCommand(program, 'openapi', {
    summary: SUMMARIES.openapi,
    example: 'openapi > openapi.json',
  }).action(() => printDocument(session));
}

async function printDocument({ extension, json }: Session): Promise<void> {
  // Loaded only here: no other command needs the server.
  const { createApp } = module.require('../../app') as typeof import('../../app');
  const { createLog } = module.require('../../observability/log') as typeof import('../../observability/log');
  const app = await createApp(new Config({}), createLog('silent', { write: () => undefined }), extension, {
    preview: true,
  });
  await print(`${JSON.stringify(openApiDocument(app), null, json ? undefined : 2)}\n`);
}
