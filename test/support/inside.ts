import { isDeployment } from './lanyard';

/** For what needs the database of a server, or settings of its own: a deployment has others. */
export const itInside = isDeployment ? it.skip : it;
export const describeInside = isDeployment ? describe.skip : describe;

/** Ends the names of such tests and suites. */
export const INSIDE = isDeployment ? ' (skipped: needs a server of its own)' : '';
