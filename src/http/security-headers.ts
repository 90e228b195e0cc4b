import type { IncomingMessage, ServerResponse } from 'node:http';
import helmet from 'helmet';

/**
 * Headers of every response: helmet's for an API whose answers are read by programs and never shown as a page, asked of it
 * once. Answers hold personal data, so no proxy may cache them.
 */
export const SECURITY_HEADERS: [name: string, value: string][] = [['Cache-Control', 'no-store']];

helmet({
  contentSecurityPolicy: { useDefaults: false, directives: { defaultSrc: ["'none'"], frameAncestors: ["'none'"] } },
  frameguard: { action: 'deny' },
  // These speak of pages with scripts, downloads and plug-ins.
  crossOriginOpenerPolicy: false,
  originAgentCluster: false,
  dnsPrefetchControl: false,
  ieNoOpen: false,
  permittedCrossDomainPolicies: false,
  xssFilter: false,
})(
  {} as IncomingMessage,
  {
    setHeader: (name: string, value: string) => SECURITY_HEADERS.push([name, value]),
    removeHeader: () => undefined,
  } as unknown as ServerResponse,
  (error?: unknown) => {
    if (error) throw error;
  },
);
