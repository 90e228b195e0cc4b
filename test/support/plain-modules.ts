import type { Type } from '@nestjs/common';
import { createLog } from '../../src/observability/log';
import { type InProcess, startInProcess, type Tenant } from './lanyard';

/** A response as it was sent: the client of the suites would compare it with openapi.json, which has no plain module. */
export interface PlainResponse {
  status: number;
  headers: Headers;
  text: string;
  /** the JSON of the text, or undefined */
  body: Record<string, unknown> | undefined;
}

export interface PlainRequest {
  headers?: Record<string, string>;
  /** a string and a form are sent as they are, anything else as JSON */
  body?: unknown;
}

export interface PlainServer extends InProcess {
  tenant(): Promise<Tenant>;
  send(method: string, path: string, request?: PlainRequest): Promise<PlainResponse>;
  /** What the server has logged since the last call, line by line. */
  takeLog(): Record<string, unknown>[];
  organizationId: number;
}

/** A Lanyard with modules of a team's own, written as Nest's documentation writes them. */
export async function startWithModules(modules: Type[], level: 'info' | 'debug' = 'info'): Promise<PlainServer> {
  const lines: string[] = [];
  const log = createLog(level, { write: (line: string) => void lines.push(line) });
  const lanyard = await startInProcess({}, log, { modules });
  const { key, organizationId } = await lanyard.tenant();
  const send = async (method: string, path: string, { headers, body }: PlainRequest = {}): Promise<PlainResponse> => {
    const isRaw = typeof body === 'string' || body instanceof FormData;
    const type = body instanceof FormData ? undefined : { 'content-type': 'application/json' };
    const response = await fetch(`${lanyard.baseUrl}${path}`, {
      method,
      headers: { 'x-api-key': key, ...type, ...headers },
      body: isRaw ? body : JSON.stringify(body),
      redirect: 'manual',
    });
    const text = await response.text();
    return { status: response.status, headers: response.headers, text, body: jsonOf(text) };
  };
  const takeLog = () => lines.splice(0).map((line) => JSON.parse(line) as Record<string, unknown>);
  return { ...lanyard, organizationId, send, takeLog };
}

function jsonOf(text: string): Record<string, unknown> | undefined {
  try {
    return JSON.parse(text) as Record<string, unknown>;
  } catch {
    return undefined;
  }
}
