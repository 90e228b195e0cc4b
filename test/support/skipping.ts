import { spawnSync } from 'node:child_process';
import { isBehindProxy, isDeployment } from './deployment/deployment';

/** What is skipped has its reason at the end of its name. */

/** For what needs the database of a server, or settings of its own: a deployment has others. */
export const itInside = isDeployment ? it.skip : it;
export const describeInside = isDeployment ? describe.skip : describe;
export const INSIDE = isDeployment ? ' (skipped: needs a server of its own)' : '';

/** For what a proxy does not pass on as it stands: broken requests, and what is said of a connection. */
export const itDirect = isBehindProxy ? it.skip : it;
export const DIRECT = isBehindProxy ? ' (skipped: a proxy answers)' : '';

/** `describe`, unless there is a reason to skip. */
export const describeUnless = (reason: string) => (reason ? describe.skip : describe);

/** The reason to skip what needs programs that are not on the PATH. */
export function missingProgramReason(...programs: string[]): string {
  const missing = programs.find((program) => spawnSync(program, ['--version']).error);
  return missing ? ` (skipped: no ${missing} on the PATH)` : '';
}
